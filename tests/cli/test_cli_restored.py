"""An embedded Stoker whose database was restored from a backup while its cloud went on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.cli_shell import ANY_PORTS, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-local")]

TEMPLATE = """
heat_template_version: 2021-04-16
parameters:
  mtu: {type: number, default: 1400}
resources:
  net:
    type: OS::Neutron::Net
    properties: {value_specs: {mtu: {get_param: mtu}}}
"""
GROWN = TEMPLATE + "  second: {type: OS::Neutron::Net}\n"


def deploy(shell: Shell, name: str, path: Path, template: str = TEMPLATE) -> None:
    path.write_text(template)
    shell.ok("deploy", name, "-t", str(path), "--yes")


def object_of(shell: Shell, name: str, resource: str = "net") -> str:
    found = shell.ok("stack", "resources", name, "-f", "json").json
    return str(next(row["physical_resource_id"] for row in found if row["resource_name"] == resource))


def test_a_restored_database_is_reported_with_what_is_orphaned_and_lost(shell: Shell, tmp_path: Path) -> None:
    file, backup, template = shell.directory / "stoker.db", tmp_path / "backup.db", tmp_path / "net.yaml"
    shell.ok("up", "--detach", *ANY_PORTS)
    for name in ("kept", "grown", "gone"):
        deploy(shell, name, template)
    gone = object_of(shell, "gone")
    shell.ok("down")
    shutil.copy(file, backup)

    assert "older" not in shell.ok("up", "--detach").err
    deploy(shell, "later", template)
    deploy(shell, "grown", template, GROWN)
    shell.ok("delete", "gone", "--yes")
    later, second = object_of(shell, "later"), object_of(shell, "grown", "second")
    shell.ok("down")
    for part in shell.directory.glob("stoker.db-*"):
        part.unlink()
    shutil.copy(backup, file)

    for command in (("up", "--detach"), ("status",), ("up", "--detach")):
        warning = shell.ok(*command).err
        assert "The database is older than the cloud" in warning
        assert "Stacks since then: 1 missing, 1 changed, 1 deleted." in warning
    assert "The database is older than the cloud" in (shell.directory / "engine.log").read_text()
    compared = shell.stoker("db", "compare", "-f", "json")
    assert compared.status == 1
    assert {(row["stack_name"], row["finding"], row["physical_id"], row["cloud"]) for row in compared.json} == {
        ("gone", "deleted", "", ""), ("gone", "lost", gone, "absent"),
        ("grown", "changed", "", ""), ("grown", "orphaned", second, "exists"),
        ("later", "missing", "", ""), ("later", "orphaned", later, "exists"),
    }  # fmt: skip
    networks = {row["ID"] for row in shell.openstack("network", "list", "-f", "json").json}
    assert {later, second} <= networks
    assert gone not in networks

    shell.ok("db", "accept")
    assert "older" not in shell.ok("status").err
    compared = shell.stoker("db", "compare", "-f", "json")
    assert {(row["stack_name"], row["finding"], row["physical_id"], row["cloud"]) for row in compared.json} == {
        ("", "orphaned", later, "exists"), ("", "orphaned", second, "exists"), ("gone", "lost", gone, "absent"),
    }  # fmt: skip
    for identifier in (later, second):
        assert shell.openstack("network", "delete", identifier).status == 0
    shell.ok("delete", "gone", "--yes")
    assert shell.ok("db", "compare", "-f", "json").json == []

    shell.ok("down")
    compared = shell.stoker("db", "compare", "-f", "json")
    assert compared.status == 1
    assert {row["finding"] for row in compared.json} == {"unknown"}
