"""What protects stacks, as users of the command see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = """
heat_template_version: 2021-04-16
parameters: {value: {type: string, default: one}}
resources: {thing: {type: OS::Heat::TestResource, properties: {value: {get_param: value}}}}
"""
POLICY = """
Statement:
- {Effect: Allow, Action: "Update:*", Principal: "*", Resource: "*"}
- {Effect: Deny, Action: "Update:*", Principal: "*", Resource: LogicalResourceId/thing}
"""


def test_locks_protection_and_policies(embedded: Shell, tmp_path: Path) -> None:
    template, policy = tmp_path / "guarded.yaml", tmp_path / "policy.yaml"
    template.write_text(TEMPLATE)
    policy.write_text(POLICY)
    deploy = ("deploy", "guarded", "-t", str(template), "--yes")
    embedded.ok(*deploy)

    embedded.ok("stack", "lock", "guarded", "--reason", "the release of Friday")
    shown = embedded.ok("stack", "show", "guarded", "-f", "json").json["locked"]
    assert shown["reason"] == "the release of Friday"
    assert "the release of Friday" in embedded.ok("stack", "list").out
    reported = f"guarded is locked by demo since {shown['since']}: the release of Friday."
    assert reported in embedded.fails(*deploy, "-P", "value=two")
    assert "locked by demo" in embedded.fails("delete", "guarded", "--yes")
    assert "1 to change" in embedded.ok("plan", "guarded", "-t", str(template), "-P", "value=two").out
    embedded.ok("stack", "unlock", "guarded")
    assert "is not locked" in embedded.fails("stack", "unlock", "guarded")
    assert "lock_reason" not in embedded.ok("stack", "list").out

    embedded.ok("stack", "protect", "guarded")
    assert "stoker stack unprotect" in embedded.fails("delete", "guarded", "--yes")
    embedded.ok("stack", "unprotect", "guarded")

    assert "has no stack policy" in embedded.fails("stack", "policy", "guarded")
    embedded.ok("stack", "policy", "guarded", "--set", str(policy))
    assert embedded.ok("stack", "policy", "guarded", "-f", "json").json["Statement"][1]["Effect"] == "Deny"
    assert "stack policy" in embedded.fails(*deploy, "-P", "value=two")
    policy.write_text("[]")
    assert "must be a map" in embedded.fails("stack", "policy", "guarded", "--set", str(policy))
    embedded.ok("stack", "policy", "guarded", "--remove")
    embedded.ok(*deploy, "-P", "value=two")
    embedded.ok("delete", "guarded", "--yes")


def test_orphans_are_listed_with_an_exit_status(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "left.yaml"
    template.write_text("heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net}}\n")
    embedded.ok("deploy", "left", "-t", str(template), "--yes")
    embedded.ok("delete", "left", "--yes", "--retain", "net")
    found = embedded.stoker("orphans", "-f", "json")
    mine = [each for each in found.json if each["stack_name"] == "left"]
    assert found.status == 2 and [each["status"] for each in mine] == ["orphaned"]
