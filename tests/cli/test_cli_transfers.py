"""`stoker import`, `move` and `forget` against a running Stoker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = "heat_template_version: 2021-04-16\nresources: {RESOURCES}\n"
NET = "{type: OS::Neutron::Net, properties: {name: cli-shop}}"


def test_entries_are_written_shown_and_deployed(embedded: Shell, tmp_path: Path) -> None:
    template, environment = tmp_path / "shop.yaml", tmp_path / "shop.env.yaml"
    define = ("-t", str(template), "-e", str(environment))
    net = embedded.openstack("network", "create", "cli-shop", "-f", "value", "-c", "id").out.strip()

    template.write_text(TEMPLATE.replace("RESOURCES", f"net: {NET}"))
    assert "not a terminal" in embedded.fails("import", "shop", f"net={net}", *define)
    assert not environment.exists()
    imported = embedded.ok("import", "shop", f"net={net}", *define, "--yes")
    assert "Plan: 1 to import." in imported.out
    assert f"Written into {environment}: imports." in imported.out

    environment.write_text(f"# production\n{environment.read_text()}")
    template.write_text(TEMPLATE.replace("RESOURCES", f"front: {NET}"))
    assert "- {from: net, to: front}" in embedded.ok("plan", "shop", "-t", str(template)).out
    moved = embedded.ok("move", "shop", "net", "front", *define, "--yes")
    assert "Plan: 1 to move." in moved.out

    template.write_text(TEMPLATE.replace("RESOURCES", ""))
    before = environment.read_text()
    assert "also moved to front" in embedded.fails("forget", "shop", "net", *define, "--yes")
    assert environment.read_text() == before  # a plan that is refused writes nothing
    lines = embedded.ok("forget", "shop", "front", *define, "--yes", "-f", "json").out.splitlines()
    assert [json.loads(line)["summary"] for line in lines if json.loads(line)["type"] == "plan"] == ["1 to forget"]
    assert environment.read_text().startswith("# production\nimports:\n")
    assert yaml.safe_load(environment.read_text()) == {
        "imports": [{"to": "net", "id": net}],
        "moved": [{"from": "net", "to": "front"}],
        "removed": [{"from": "front", "destroy": False}],
    }
    embedded.ok("delete", "shop", "--yes")
    embedded.openstack("network", "delete", net)


def test_unwritable_files_are_reported(embedded: Shell, tmp_path: Path) -> None:
    template, environment = tmp_path / "shop.yaml", tmp_path / "shop.env.yaml"
    template.write_text(TEMPLATE.replace("RESOURCES", f"net: {NET}"))
    environment.write_text("[no, map]\n")
    message = embedded.fails("import", "shop", "net=x", "-t", str(template), "-e", str(environment), "--yes")
    assert "it is no map" in message
    assert "  - {to: net, id: x}" in message
    for arguments in (("net=x",), ("net=x", "-t", str(template)), ("net", "-t", "a", "-e", "b")):
        assert embedded.stoker("import", "shop", *arguments).status == 2
    remote = ("-e", "http://127.0.0.1/shop.yaml")
    assert embedded.stoker("move", "shop", "a", "b", "-t", str(template), *remote).status == 2


def test_plan_suggests_import_of_referenced_object(embedded: Shell, tmp_path: Path) -> None:
    template, environment = tmp_path / "ref.yaml", tmp_path / "ref.env.yaml"
    net = embedded.openstack("network", "create", "cli-shop", "-f", "value", "-c", "id").out.strip()
    referring = NET.replace("properties", f"external_id: {net}, properties")
    template.write_text(TEMPLATE.replace("RESOURCES", f"net: {referring}"))
    embedded.ok("deploy", "ref", "-t", str(template), "--yes")
    template.write_text(TEMPLATE.replace("RESOURCES", f"net: {NET}"))
    assert f'imports:\n  - {{to: net, id: "{net}"}}' in embedded.ok("plan", "ref", "-t", str(template)).out
    embedded.ok("import", "ref", f"net={net}", "-t", str(template), "-e", str(environment), "--yes")
    embedded.ok("delete", "ref", "--yes")
    assert net not in embedded.openstack("network", "list").out
