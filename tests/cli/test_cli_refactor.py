"""`stoker refactor` and `stoker move` between stacks, against a running Stoker."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

NET = "{type: OS::Neutron::Net}"
VOLUME = "{type: OS::Cinder::Volume, properties: {size: 1}}"


def write(path: Path, resources: str, more: str = "") -> str:
    path.write_text(f"heat_template_version: 2021-04-16\n{more}resources: {resources}\n")
    return str(path)


def objects(shell: Shell, name: str) -> dict[str, str]:
    rows = shell.ok("stack", "resources", name, "-f", "json").json
    return {row["resource_name"]: row["physical_resource_id"] for row in rows}


def test_stacks_are_split_and_merged_after_a_plan(embedded: Shell, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.yaml", f"{{net: {NET}, data: {VOLUME}}}")
    embedded.ok("deploy", "estate", "-t", whole, "--yes")
    had = objects(embedded, "estate")
    rest = write(tmp_path / "rest.yaml", f"{{data: {VOLUME}}}")
    size = "parameters: {up: {type: boolean}}\n"
    up = "{type: OS::Neutron::Net, properties: {admin_state_up: {get_param: up}}}"
    network = write(tmp_path / "network.yaml", f"{{front: {up}}}", size)

    split = ("estate=" + rest, "lan=" + network, "--move", "estate/net=lan/front", "--create-stacks")
    unset = embedded.fails("refactor", "plan", *split)
    assert "-P lan.up=VALUE" in unset and "network.yaml:2:14" in unset
    planned = embedded.ok("refactor", "plan", *split, "-P", "lan.up=true")
    assert "Plan: 1 to move, 1 stack to create (lan)." in planned.out
    assert all(part in planned.out for part in ("estate/net", "lan/front", had["net"]))
    refactor = planned.out.split()[-1]
    assert "not a terminal" in embedded.fails("refactor", "execute", refactor)
    assert embedded.ok("refactor", "execute", refactor, "--yes").out.endswith("estate, lan: 1 moved.\n")
    assert objects(embedded, "lan") == {"front": had["net"]} and objects(embedded, "estate") == {"data": had["data"]}
    assert "EXECUTE_COMPLETE" in embedded.ok("refactor", "show", refactor).out
    assert embedded.ok("refactor", "list", "-f", "json").json[0]["id"] == refactor

    none, larger = write(tmp_path / "none.yaml", "{}"), VOLUME.replace("1", "2")
    merged = write(tmp_path / "merged.yaml", f"{{net: {NET}, data: {larger}}}")
    merge = (f"lan={none}", "--move", "lan/front=estate/net")
    refused = embedded.stoker("refactor", "plan", f"estate={merged}", *merge)
    assert refused.status == 1 and "It would change estate/data (size)." in refused.err
    with_changes = embedded.ok("refactor", "plan", f"estate={merged}", *merge, "--with-changes")
    assert "Then these updates begin:" in with_changes.out and "size" in with_changes.out
    done = embedded.ok("refactor", "execute", with_changes.out.split()[-1], "--yes").out
    assert "lan, estate: 1 moved." in done or "estate, lan: 1 moved." in done
    assert done.endswith("estate: UPDATE_COMPLETE\n") and objects(embedded, "estate") == had
    less = write(tmp_path / "less.yaml", f"{{data: {larger}}}")
    apart = (f"estate={less}", f"lan={network}", "--move", "estate/net=lan/front", "-P", "lan.up=true")
    embedded.ok("refactor", "execute", embedded.ok("refactor", "plan", *apart).out.split()[-1], "--yes")
    whole = merged
    back = embedded.ok("refactor", "plan", f"estate={whole}", *merge, "-f", "json").json
    assert back["moves"][0]["physical_resource_id"] == had["net"]
    embedded.ok("refactor", "execute", back["id"], "--yes")
    assert objects(embedded, "estate") == had
    for name in ("estate", "lan"):
        embedded.ok("delete", name, "--yes")


def test_a_move_between_stacks_writes_the_entry(embedded: Shell, tmp_path: Path) -> None:
    embedded.ok("deploy", "west", "-t", write(tmp_path / "west.yaml", f"{{net: {NET}, data: {VOLUME}}}"), "--yes")
    had = objects(embedded, "west")
    left, got = write(tmp_path / "west.yaml", f"{{data: {VOLUME}}}"), write(tmp_path / "east.yaml", f"{{lan: {NET}}}")
    environment = tmp_path / "east.env.yaml"
    define = ("-t", got, "-e", str(environment))

    both = ("move", "west/net", "east/lan", "--from-template", left, *define)
    assert "does not apply" in embedded.stoker(*both, "--tag", "x", "--yes").err
    assert "not a terminal" in embedded.fails(*both) and not environment.exists()
    moved = embedded.ok(*both, "--yes")
    assert "west/net" in moved.out and "1 to move, 1 stack to create (east)" in moved.out
    places = {"from": {"stack": "west", "resource": "net"}, "to": {"stack": "east", "resource": "lan"}}
    assert yaml.safe_load(environment.read_text()) == {"moved": [places]}
    assert objects(embedded, "east") == {"lan": had["net"]} and objects(embedded, "west") == {"data": had["data"]}
    assert "west/net is east/lan already" in embedded.ok(*both, "--yes").out
    assert "no changes" in embedded.ok("plan", "east", *define).out.lower()
    for name in ("west", "east"):
        embedded.ok("delete", name, "--yes")


def test_deployment_moves_a_resource_from_another_stack(embedded: Shell, tmp_path: Path) -> None:
    embedded.ok("deploy", "estate", "-t", write(tmp_path / "all.yaml", f"{{net: {NET}, data: {VOLUME}}}"), "--yes")
    had = objects(embedded, "estate")
    lan, environment = write(tmp_path / "lan.yaml", f"{{front: {NET}}}"), tmp_path / "env.yaml"
    done = embedded.ok("move", "estate/net", "lan/front", "-t", lan, "-e", str(environment), "--yes").out
    assert "# moved from estate/net: its object stays" in done and "Plan: 1 to move." in done
    assert done.endswith("✓ front  MOVE_COMPLETE\nlan: CREATE_COMPLETE\n") and "front  CREATE" not in done, done
    assert yaml.safe_load(environment.read_text()) == {
        "moved": [{"from": {"stack": "estate", "resource": "net"}, "to": {"stack": "lan", "resource": "front"}}]
    }
    assert objects(embedded, "lan") == {"front": had["net"]} and objects(embedded, "estate") == {"data": had["data"]}
    for name in ("estate", "lan"):
        embedded.ok("delete", name, "--yes")


def test_both_stacks_of_a_move_can_be_members_of_one_project(embedded: Shell, tmp_path: Path) -> None:
    whole = write(tmp_path / "estate.yaml", f"{{net: {NET}, data: {VOLUME}}}")
    embedded.ok("deploy", "estate", "-t", whole, "--yes")
    had = objects(embedded, "estate")
    write(tmp_path / "estate.yaml", f"{{data: {VOLUME.replace('1', '2')}}}")
    write(tmp_path / "lan.yaml", f"{{front: {NET}, more: {VOLUME}}}")
    entry = {"from": {"stack": "estate", "resource": "net"}, "to": {"stack": "lan", "resource": "front"}}
    (tmp_path / "moves.yaml").write_text(yaml.safe_dump({"moved": [entry]}))
    project = {
        "environments": ["moves.yaml"],
        "stacks": {name: {"template": f"{name}.yaml"} for name in ("estate", "lan")},
    }
    (tmp_path / "project.yaml").write_text(yaml.safe_dump(project))
    file = str(tmp_path / "project.yaml")
    planned = embedded.ok("plan", "-f", file).out
    assert "# moved from estate/net: its object stays" in planned and "estate comes after lan." in planned, planned
    assert "- net" not in planned
    embedded.ok("deploy", "-f", file, "--yes")
    now = objects(embedded, "lan")
    assert now.keys() == {"front", "more"} and now["front"] == had["net"]
    assert objects(embedded, "estate") == {"data": had["data"]}
    assert "0 to create, 0 to update, 2 unchanged" in embedded.ok("plan", "-f", file).out
    embedded.ok("delete", "-f", file, "--yes")
