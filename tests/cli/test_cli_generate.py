"""`stoker generate` against a running Stoker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

GROUP = """
heat_template_version: 2021-04-16
resources:
  door:
    type: OS::Neutron::SecurityGroup
    properties:
      rules: [{protocol: tcp, port_range_min: 80, port_range_max: 80}]
"""


def test_a_project_is_written_and_imported(embedded: Shell, tmp_path: Path) -> None:
    net = embedded.openstack("network", "create", "gen-shop", "-f", "value", "-c", "id").out.strip()
    out = tmp_path / "shop"
    select = ("generate", "--project", "--name", "gen-*", "-o", str(out))

    message = embedded.ok(*select).out
    assert f"Written: {out}/template.yaml, with 1 resource.\n" in message
    assert f"Written: {out}/environment.yaml, with 1 import.\n" in message
    assert "  1 OS::Neutron::Net\n" in message
    template = yaml.safe_load((out / "template.yaml").read_text())
    assert template["resources"] == {
        "gen_shop_net": {
            "type": "OS::Neutron::Net",
            "properties": {"name": "gen-shop"},
            "deletion_policy": "Retain",
        }
    }
    environment = (out / "environment.yaml").read_text()
    assert environment.startswith("imports:\n  - {to: gen_shop_net, id: ")
    assert yaml.safe_load(environment) == {"imports": [{"to": "gen_shop_net", "id": net}]}

    before = (out / "template.yaml").read_bytes()
    assert "exist already, and nothing is overwritten" in embedded.fails(*select)
    assert (out / "template.yaml").read_bytes() == before

    define = ("-t", str(out / "template.yaml"), "-e", str(out / "environment.yaml"))
    deployed = embedded.ok("deploy", "shop", *define, "--yes").out
    assert "Plan: 1 to import." in deployed
    assert "1 in sync" in embedded.ok("drift", "shop").out
    again = embedded.ok("generate", "--project", "--name", "gen-*", "-o", str(tmp_path / "new"), "-f", "json").out
    data = json.loads(again)
    assert data["files"] == []
    assert [each["reason"] for each in data["left_out"]] == [
        "it belongs to the resource gen_shop_net of the stack shop"
    ]
    embedded.ok("delete", "shop", "--yes")
    assert embedded.openstack("network", "show", net, "-f", "value", "-c", "name").out.strip() == "gen-shop"
    embedded.openstack("network", "delete", net)


def test_repeated_objects_become_a_group_after_import(embedded: Shell, tmp_path: Path) -> None:
    nets = [
        embedded.openstack("network", "create", f"rep-{number}", "-f", "value", "-c", "id").out.strip()
        for number in (1, 2, 3)
    ]
    out = tmp_path / "nets"
    select = ("generate", "--project", "--name", "rep-*", "-o")
    message = embedded.ok(*select, str(out)).out
    assert f"Written: {out}/groups/template.yaml, which has 3 resources in groups and nested templates.\n" in message
    assert not (tmp_path / "flat").exists()
    embedded.ok(*select, str(tmp_path / "flat"), "--flat")
    assert not (tmp_path / "flat" / "groups").exists()
    grouped = yaml.safe_load((out / "groups" / "template.yaml").read_text())["resources"]["rep_nets"]
    assert grouped["properties"]["for_each"] == ["1", "2", "3"]

    define = [("-t", f"{each}/template.yaml", "-e", f"{each}/environment.yaml") for each in (out, out / "groups")]
    assert "Plan: 3 to import." in embedded.ok("deploy", "rep", *define[0], "--yes").out
    assert "3 to move" in embedded.ok("deploy", "rep", *define[1], "--yes").out
    assert "3 in sync" in embedded.ok("drift", "rep").out
    embedded.ok("delete", "rep", "--yes")
    for net in nets:
        embedded.openstack("network", "delete", net)


def test_stack_is_written_as_terraform_configuration(embedded: Shell, tmp_path: Path) -> None:
    template, out = tmp_path / "tf.yaml", tmp_path / "back"
    template.write_text(GROUP)
    embedded.ok("deploy", "tf", "-t", str(template), "--yes")
    message = embedded.ok("generate", "--terraform", "tf", "-o", str(out)).out
    assert "with 4 resources and as many imports" in message
    text = (out / "main.tf").read_text()
    assert text.count('resource "openstack_networking_secgroup_rule_v2" "door_rule_') == 3
    assert "port_range_min    = 80" in text and 'name = "tf-door-' in text
    embedded.ok("delete", "tf", "--yes")


def test_types_are_listed_and_wrong_ones_refused(embedded: Shell, tmp_path: Path) -> None:
    rows = json.loads(embedded.ok("generate", "--list-types", "-f", "json").out)
    generated = {each["resource_type"]: each["generated"] for each in rows}
    assert generated["OS::Neutron::Net"] is True
    assert generated["OS::Heat::Stack"] is False
    wrong = ("generate", "--project", "--types", "OS::Neutron::Net,OS::Heat::Stack", "-o", str(tmp_path / "x"))
    assert "OS::Heat::Stack cannot be generated" in embedded.fails(*wrong)
    assert "Give what to generate from" in embedded.stoker("generate", "-o", str(tmp_path / "x")).err
    assert not (tmp_path / "x").exists()
