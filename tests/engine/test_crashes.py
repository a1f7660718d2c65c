"""kill -9 at every write of the journal: another engine finishes the work, nothing is made twice, nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from testing.rotation import turn
from tests.engine.crashing import MOVES

ROOT = Path(__file__).parents[2]

KINDS = {
    "OS::Neutron::Net": ("/network/v2.0/networks", "networks"),
    "OS::Neutron::Subnet": ("/network/v2.0/subnets", "subnets"),
    "OS::Neutron::Port": ("/network/v2.0/ports", "ports"),
    "OS::Neutron::Router": ("/network/v2.0/routers", "routers"),
    "OS::Neutron::FloatingIP": ("/network/v2.0/floatingips", "floatingips"),
    "OS::Neutron::SecurityGroup": ("/network/v2.0/security-groups", "security_groups"),
    "OS::Nova::Server": ("/compute/v2.1/servers?all_tenants=1", "servers"),
    "OS::Cinder::Volume": ("/volume/v3/volumes?all_tenants=1", "volumes"),
}
SNAPSHOTS = {
    "snapshot": ("SNAPSHOT_COMPLETE", ["CREATE_COMPLETE"]),
    "restore": ("RESTORE_COMPLETE", ["CREATE_COMPLETE"]),
    "forget": ("SNAPSHOT_COMPLETE", []),
    "delete_all": ("none", []),
}
"""How the stack and its snapshots stand once the action has ended."""

EXPECTED = {"create": "CREATE_COMPLETE", "update": "UPDATE_COMPLETE", "delete": "none"}


def owned(served: ServedCloud) -> set[tuple[str, str]]:
    """Every object of the kinds that the template makes, by type and id, but those that services make of themselves."""
    found = set()
    for kind, (path, key) in KINDS.items():
        listed = served.call("GET", path, token=served.token())
        assert listed.status == 200, listed.json
        for record in listed.json[key]:
            brought_along = (
                str(record.get("device_owner", "")).startswith("network:") or record.get("name") == "default"
            )
            if not brought_along:
                found.add((kind, str(record["id"])))
    return found


def start(served: ServedCloud, action: str, moment: str, first: int, stride: int) -> subprocess.Popen[str]:
    """The program `crashing`, on that cloud."""
    token = served.token("demo", "demo")
    return subprocess.Popen(
        [sys.executable, "-m", "tests.engine.crashing", served.url, token, action, moment, str(first), str(stride)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "moment"), [("create", "before"), ("create", "after"), ("update", "before"), ("delete", "before")]
)
def test_an_engine_may_die_at_any_write(served: ServedCloud, action: str, moment: str) -> None:
    """At every third write, beginning with another one each day; creations also after those between."""
    preset = owned(served)
    program = start(served, action, moment, *turn(3, offset=int(moment == "after")))
    assert program.stdin is not None and program.stdout is not None
    kills, finished = 0, 0
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"{action} killed {moment} write {result['number']}: {result}"
            untouched = "none" if action == "create" else "CREATE_COMPLETE"
            assert result["state"] in {EXPECTED[action], untouched}, place
            assert result["state"] == EXPECTED[action] or not finished, place  # a recorded request is carried out
            assert result["unfinished"] == 0, place
            finished += result["state"] == EXPECTED[action]
            recorded = {(kind, identifier) for kind, identifier in result["recorded"] if kind in KINDS}
            assert owned(served) - preset == recorded, place
            kills += result["killed"]
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 3 and finished > 2
    assert owned(served) == preset


@pytest.mark.slow
def test_moved_resources_have_all_their_new_names_or_none_and_keep_their_objects(served: ServedCloud) -> None:
    program = start(served, "move", "before", first=1, stride=1)
    assert program.stdin is not None and program.stdout is not None
    kills, states = 0, set[str]()
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"move killed before write {result['number']}: {result}"
            had, states = result["had"], states | {result["state"]}
            names = MOVES if result["state"] == "UPDATE_COMPLETE" else {}
            assert result["names"] == sorted([names.get(name, name), uuid] for name, uuid in had["names"]), place
            assert result["recorded"] == had["recorded"], place
            assert (result["unfinished"], result["state"] in ("UPDATE_COMPLETE", "CREATE_COMPLETE")) == (0, True), place
            kills += result["killed"]
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 2 and states == {"UPDATE_COMPLETE", "CREATE_COMPLETE"}


@pytest.mark.slow
def test_what_gets_into_nested_stacks_and_out_of_them_has_one_owner_whenever_the_engine_dies(
    served: ServedCloud,
) -> None:
    """At every third write, beginning with another one each day."""
    preset = owned(served)
    program = start(served, "move_below", "before", *turn(3))
    assert program.stdin is not None and program.stdout is not None
    kills, states = 0, set[str]()
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"moves killed before write {result['number']}: {result}"
            had, states = result["had"]["owned"], states | {result["state"]}
            assert sorted(identifier for _, identifier in result["owned"]) == sorted(each[1] for each in had), place
            names = (
                ["first", "net", "net", "second", "web"]
                if result["state"] == "UPDATE_COMPLETE"
                else [each[0] for each in had]
            )
            assert [name for name, _ in result["owned"]] == names, place
            assert {identifier for _, identifier in owned(served) - preset} == {each[1] for each in had}, place
            assert (result["unfinished"], result["state"] in ("UPDATE_COMPLETE", "CREATE_COMPLETE")) == (0, True), place
            kills += result["killed"]
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 2 and "UPDATE_COMPLETE" in states
    assert owned(served) == preset


@pytest.mark.slow
@pytest.mark.parametrize("action", ["refactor", "take"])
def test_an_object_has_exactly_one_owner_whenever_the_engine_dies_that_moves_it(
    served: ServedCloud, action: str
) -> None:
    preset = owned(served)
    program = start(served, action, "before", first=1, stride=1)
    assert program.stdin is not None and program.stdout is not None
    kills, places = 0, set[str]()
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"{action} killed before write {result['number']}: {result}"
            had = {name: identifier for _, name, identifier in result["had"]["owners"]}
            owners = {name: stack for stack, name, _ in result["owners"]}
            assert {name: identifier for _, name, identifier in result["owners"]} == had, place
            assert len(result["owners"]) == 2 and owners["volume"] == "doomed", place
            assert result["state"] == ("UPDATE_COMPLETE" if owners["net"] == "other" else "CREATE_COMPLETE"), place
            assert {identifier for _, identifier in owned(served) - preset} == set(had.values()), place
            kills, places = kills + result["killed"], places | {owners["net"]}
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 1 and places == {"doomed", "other"}
    assert owned(served) == preset


@pytest.mark.slow
@pytest.mark.parametrize("action", ["import", "import_below"])
def test_an_imported_object_stays_the_only_one_whenever_the_engine_dies(served: ServedCloud, action: str) -> None:
    preset = owned(served)
    program = start(served, action, "before", first=1, stride=1)
    assert program.stdin is not None and program.stdout is not None
    kills, states = 0, set[str]()
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"{action} killed before write {result['number']}: {result}"
            there = owned(served) - preset
            networks = [identifier for kind, identifier in there if kind == "OS::Neutron::Net"]
            assert len(networks) == 1 and result["unfinished"] == 0, place
            assert result["state"] in ("none", "CREATE_COMPLETE"), place
            if result["state"] == "none":
                path = f"/network/v2.0/networks/{networks[0]}"
                assert served.call("DELETE", path, token=served.token()).status == 204
            else:
                assert [["net", networks[0]]] == [each for each in result["owned"] if each[0] == "net"], place
                assert {identifier for _, identifier in there} == {each[1] for each in result["owned"]}, place
            kills, states = kills + result["killed"], states | {result["state"]}
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 3 and states == {"none", "CREATE_COMPLETE"}
    assert owned(served) == preset


@pytest.mark.slow
def test_what_a_deletion_retains_survives_the_death_of_the_engine(served: ServedCloud) -> None:
    """At every third write, beginning with another one each day."""
    preset = owned(served)
    program = start(served, "delete_retaining", "before", *turn(3))
    assert program.stdin is not None and program.stdout is not None
    kills, finished = 0, 0
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"killed before write {result['number']}: {result}"
            left = owned(served) - preset
            if result["state"] == "none":
                finished += 1
                assert [kind for kind, _ in left] == ["OS::Cinder::Volume"] * 2, place
            else:
                assert result["state"] == "CREATE_COMPLETE" and not finished, place
            for _, identifier in left if result["state"] == "none" else ():
                assert served.call("DELETE", f"/volume/v3/volumes/{identifier}", token=served.token()).status == 202
            while result["state"] == "none" and owned(served) != preset:
                pass
            kills += result["killed"]
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 3 and finished > 2
    assert owned(served) == preset


def saved(served: ServedCloud) -> set[str]:
    """Ids of all copies of contents: images of servers, and backups."""
    images = served.call("GET", "/image/v2/images", token=served.token()).json["images"]
    backups = served.call("GET", "/volume/v3/backups?all_tenants=1", token=served.token()).json["backups"]
    return {image["id"] for image in images if image.get("image_type") == "snapshot"} | {item["id"] for item in backups}


@pytest.mark.slow
@pytest.mark.parametrize("action", list(SNAPSHOTS))
def test_no_copy_is_made_twice_or_forgotten(served: ServedCloud, action: str) -> None:
    """At every other write, the odd ones today and the even ones tomorrow."""
    preset = owned(served)
    program = start(served, action, "before", *turn(2))
    assert program.stdin is not None and program.stdout is not None
    kills, before, finished = 0, None, False
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place = f"{action} killed before write {result['number']}: {result}"
            before = result["begun"] if before is None else before  # the first write comes before the request's
            finished = (result["state"], result["snapshots"]) == SNAPSHOTS[action]
            assert finished or result["begun"] == before, place  # once the request is recorded, it is carried out
            assert result["unfinished"] == 0, place
            assert saved(served) == set(result["copies"]), place
            assert "" not in result["copies"], place
            kills += result["killed"]
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 2 and finished
    assert (owned(served), saved(served)) == (preset, set())


@pytest.mark.slow
def test_what_a_retry_skips_is_skipped_after_the_death_of_the_engine(served: ServedCloud) -> None:
    preset = owned(served)
    program = start(served, "retry_skipping", "before", first=1, stride=1)
    assert program.stdin is not None and program.stdout is not None
    kills, states = 0, set[str]()
    with program:
        for line in program.stdout:
            result: dict[str, Any] = json.loads(line)
            place, states = f"killed before write {result['number']}: {result}", states | {result["state"]}
            kinds = [kind for kind, _ in sorted(owned(served) - preset)]
            made = result["state"] == "UPDATE_COMPLETE"
            assert result["state"] in ("UPDATE_COMPLETE", "UPDATE_FAILED") and result["unfinished"] == 0, place
            assert kinds == (["OS::Cinder::Volume"] if made else []) + ["OS::Neutron::Net"], place
            kills += result["killed"]
            program.stdin.write("\n")
            program.stdin.flush()
    assert program.returncode == 0
    assert kills > 3 and states == {"UPDATE_COMPLETE", "UPDATE_FAILED"}
    assert owned(served) == preset
