"""`stoker orphans` deletes what it finds, and writes what imports it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net}
  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.9.0.0/24}}
  other: {type: OS::Neutron::Net}
"""


def networks(shell: Shell) -> set[str]:
    return set(shell.openstack("network", "list", "-f", "value", "-c", "ID").out.split())


@pytest.fixture
def left(embedded: Shell, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The IDs of a network with a subnet, and of another one, which a stack has left, by the resources' names."""
    (tmp_path / "left.yaml").write_text(TEMPLATE)
    embedded.ok("deploy", "left", "-t", str(tmp_path / "left.yaml"), "--yes")
    rows = embedded.ok("stack", "resources", "left", "-f", "json").json
    embedded.ok("delete", "left", *(f"--retain={name}" for name in ("net", "sub", "other")), "--yes")
    yield {row["resource_name"]: row["physical_resource_id"] for row in rows}
    embedded.ok("orphans", "--remove", "--yes")
    assert embedded.ok("orphans").out.startswith("No orphans")


def test_orphans_are_deleted_as_their_types_delete_them(embedded: Shell, left: dict[str, str]) -> None:
    before = networks(embedded)
    message = embedded.ok("orphans", "--remove", left["net"], left["sub"], "--yes").out
    assert "Plan: 2 to remove." in message and "DELETE_COMPLETE" in message
    assert before - networks(embedded) == {left["net"]}
    listed = embedded.stoker("orphans").out
    assert left["other"] in listed and left["net"] not in listed
    assert "Not known to be without an owner" in embedded.fails("orphans", "--remove", left["net"], "--yes")


def test_without_confirmation_the_objects_stay_without_an_owner(embedded: Shell, left: dict[str, str]) -> None:
    before = networks(embedded)
    refused = embedded.stoker("orphans", "--remove", left["other"])
    assert refused.status == 1 and "Use --yes to confirm" in refused.err
    assert "is deleted without its objects" in refused.out
    assert networks(embedded) == before and left["other"] in embedded.stoker("orphans").out


def test_a_template_of_nothing_but_the_orphans_is_written(
    embedded: Shell, left: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    embedded.ok("orphans", "--import", str(out), left["sub"])
    assert yaml.safe_load((out / "environment.yaml").read_text())["imports"][0]["id"] == left["sub"]
    assert len(yaml.safe_load((out / "template.yaml").read_text())["resources"]) == 1
    assert "nothing is overwritten" in embedded.fails("orphans", "--import", str(out))
    assert "IDs and --yes are for" in embedded.stoker("orphans", "--yes").err
