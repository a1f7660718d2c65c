"""kill -9 at every write of the journal: another engine finishes the work, nothing is made twice, nothing is lost."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.forked_program import ENGINE_IMPORTS, ForkedProgram
from testing.rotation import turn
from tests.engine.crashing import MOVES

PROGRAM = "tests.engine.crashing"

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


def saved(served: ServedCloud) -> set[str]:
    """Ids of all copies of contents: images of servers, and backups."""
    images = served.call("GET", "/image/v2/images", token=served.token()).json["images"]
    backups = served.call("GET", "/volume/v3/backups?all_tenants=1", token=served.token()).json["backups"]
    return {image["id"] for image in images if image.get("image_type") == "snapshot"} | {item["id"] for item in backups}


@dataclass(frozen=True)
class Killed:
    """How it stands once an engine has been killed and another one has gone on: what `crashing` tells; the cloud."""

    result: dict[str, Any]
    served: ServedCloud
    preset: set[tuple[str, str]]
    """What the cloud had before the program began."""

    @property
    def place(self) -> str:
        """Which kill that was, for messages."""
        return f"killed at write {self.result['number']}: {self.result}"

    @property
    def owned(self) -> set[tuple[str, str]]:
        """The objects that have been made."""
        return owned(self.served) - self.preset


class Crashing:
    """The program `crashing`, which gets a copy of the prepared cloud for each kill."""

    def __init__(self, folder: Path, action: str, moment: str, first: int, stride: int) -> None:
        self._folder = folder
        self._choice = (action, moment, str(first), str(stride))

    def __iter__(self) -> Iterator[Killed]:
        prepared = self._folder / "prepared"
        prepared.mkdir()
        with self._cloud(prepared) as served:
            token, preset = served.token("demo", "demo"), owned(served)
            program, channel = self._program(served.url, token)
            channel.readline()
        with channel:
            is_killed = True
            while is_killed:
                copy = Path(shutil.copytree(prepared, self._folder / "copy"))
                with self._cloud(copy) as served:
                    result = self._answer(channel, served.url)
                    yield Killed(result, served, preset)
                    is_killed = result["killed"]
                    if self._answer(channel, ""):
                        assert (owned(served) - preset, saved(served)) == (set(), set()), f"deleted after {result}"
                shutil.rmtree(copy)
        assert program.wait() == 0

    def _program(self, url: str, token: str) -> tuple[ForkedProgram, IO[str]]:
        """The program, and what it reads and writes."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            program = ForkedProgram(
                PROGRAM,
                [PROGRAM, url, token, *self._choice],
                imports=[PROGRAM, *ENGINE_IMPORTS],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=2,
            )
            return program, ours.makefile("rw")

    def _cloud(self, folder: Path) -> ServedCloud:
        return ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, state_path=folder / "cloud.db"))

    def _answer(self, channel: IO[str], line: str) -> Any:
        print(line, file=channel, flush=True)
        return json.loads(channel.readline())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "moment"), [("create", "before"), ("create", "after"), ("update", "before"), ("delete", "before")]
)
def test_engine_killed_at_any_write_is_recovered(tmp_path: Path, action: str, moment: str) -> None:
    """At every third write, beginning with another one each day; creations also after those between."""
    crashing = Crashing(tmp_path, action, moment, *turn(3, offset=int(moment == "after")))
    kills, finished = 0, 0
    for killed in crashing:
        result, place = killed.result, killed.place
        untouched = "none" if action == "create" else "CREATE_COMPLETE"
        assert result["state"] in {EXPECTED[action], untouched}, place
        assert result["state"] == EXPECTED[action] or not finished, place  # a recorded request is carried out
        assert result["unfinished"] == 0, place
        finished += result["state"] == EXPECTED[action]
        recorded = {(kind, identifier) for kind, identifier in result["recorded"] if kind in KINDS}
        assert killed.owned == recorded, place
        kills += result["killed"]
    assert kills > 3 and finished > 2


@pytest.mark.slow
def test_crash_during_moves_keeps_names_consistent(tmp_path: Path) -> None:
    crashing = Crashing(tmp_path, "move", "before", first=1, stride=1)
    kills, states = 0, set[str]()
    for killed in crashing:
        result, place = killed.result, killed.place
        had, states = result["had"], states | {result["state"]}
        names = MOVES if result["state"] == "UPDATE_COMPLETE" else {}
        assert result["names"] == sorted([names.get(name, name), uuid] for name, uuid in had["names"]), place
        assert result["recorded"] == had["recorded"], place
        assert (result["unfinished"], result["state"] in ("UPDATE_COMPLETE", "CREATE_COMPLETE")) == (0, True), place
        kills += result["killed"]
    assert kills > 2 and states == {"UPDATE_COMPLETE", "CREATE_COMPLETE"}


@pytest.mark.slow
def test_crash_during_nested_moves_leaves_one_owner(
    tmp_path: Path,
) -> None:
    """At every third write, beginning with another one each day."""
    crashing = Crashing(tmp_path, "move_below", "before", *turn(3))
    kills, states = 0, set[str]()
    for killed in crashing:
        result, place = killed.result, killed.place
        had, states = result["had"]["owned"], states | {result["state"]}
        assert sorted(identifier for _, identifier in result["owned"]) == sorted(each[1] for each in had), place
        names = (
            ["first", "net", "net", "second", "web"]
            if result["state"] == "UPDATE_COMPLETE"
            else [each[0] for each in had]
        )
        assert [name for name, _ in result["owned"]] == names, place
        assert {identifier for _, identifier in killed.owned} == {each[1] for each in had}, place
        assert (result["unfinished"], result["state"] in ("UPDATE_COMPLETE", "CREATE_COMPLETE")) == (0, True), place
        kills += result["killed"]
    assert kills > 2 and "UPDATE_COMPLETE" in states


@pytest.mark.slow
@pytest.mark.parametrize("action", ["refactor", "take"])
def test_crash_during_move_between_stacks_leaves_one_owner(tmp_path: Path, action: str) -> None:
    crashing = Crashing(tmp_path, action, "before", first=1, stride=1)
    kills, places = 0, set[str]()
    for killed in crashing:
        result, place = killed.result, killed.place
        had = {name: identifier for _, name, identifier in result["had"]["owners"]}
        owners = {name: stack for stack, name, _ in result["owners"]}
        assert {name: identifier for _, name, identifier in result["owners"]} == had, place
        assert len(result["owners"]) == 2 and owners["volume"] == "doomed", place
        assert result["state"] == ("UPDATE_COMPLETE" if owners["net"] == "other" else "CREATE_COMPLETE"), place
        assert {identifier for _, identifier in killed.owned} == set(had.values()), place
        kills, places = kills + result["killed"], places | {owners["net"]}
    assert kills > 1 and places == {"doomed", "other"}


@pytest.mark.slow
@pytest.mark.parametrize("action", ["import", "import_below"])
def test_crash_during_import_creates_no_second_object(tmp_path: Path, action: str) -> None:
    crashing = Crashing(tmp_path, action, "before", first=1, stride=1)
    kills, states = 0, set[str]()
    for killed in crashing:
        result, place = killed.result, killed.place
        place = f"{action} killed before write {result['number']}: {result}"
        there = killed.owned
        networks = [identifier for kind, identifier in there if kind == "OS::Neutron::Net"]
        assert len(networks) == 1 and result["unfinished"] == 0, place
        assert result["state"] in ("none", "CREATE_COMPLETE"), place
        if result["state"] != "none":
            assert [["net", networks[0]]] == [each for each in result["owned"] if each[0] == "net"], place
            assert {identifier for _, identifier in there} == {each[1] for each in result["owned"]}, place
        kills, states = kills + result["killed"], states | {result["state"]}
    assert kills > 3 and states == {"none", "CREATE_COMPLETE"}


@pytest.mark.slow
def test_retained_objects_survive_engine_crash(tmp_path: Path) -> None:
    """At every third write, beginning with another one each day."""
    crashing = Crashing(tmp_path, "delete_retaining", "before", *turn(3))
    kills, finished = 0, 0
    for killed in crashing:
        result, place = killed.result, killed.place
        place = f"killed before write {result['number']}: {result}"
        left = killed.owned
        if result["state"] == "none":
            finished += 1
            assert [kind for kind, _ in left] == ["OS::Cinder::Volume"] * 2, place
        else:
            assert result["state"] == "CREATE_COMPLETE" and not finished, place
        kills += result["killed"]
    assert kills > 3 and finished > 2


@pytest.mark.slow
@pytest.mark.parametrize("action", list(SNAPSHOTS))
def test_crash_during_snapshot_duplicates_and_loses_no_copy(tmp_path: Path, action: str) -> None:
    """At every other write, the odd ones today and the even ones tomorrow."""
    crashing = Crashing(tmp_path, action, "before", *turn(2))
    kills, before, finished = 0, None, False
    for killed in crashing:
        result, place = killed.result, killed.place
        place = f"{action} killed before write {result['number']}: {result}"
        before = result["begun"] if before is None else before  # the first write comes before the request's
        finished = (result["state"], result["snapshots"]) == SNAPSHOTS[action]
        assert finished or result["begun"] == before, place  # once the request is recorded, it is carried out
        assert result["unfinished"] == 0, place
        assert saved(killed.served) == set(result["copies"]), place
        assert "" not in result["copies"], place
        kills += result["killed"]
    assert kills > 2 and finished


@pytest.mark.slow
def test_retry_skips_survive_engine_crash(tmp_path: Path) -> None:
    crashing = Crashing(tmp_path, "retry_skipping", "before", first=1, stride=1)
    kills, states = 0, set[str]()
    for killed in crashing:
        result, place = killed.result, killed.place
        states = states | {result["state"]}
        kinds = [kind for kind, _ in sorted(killed.owned)]
        made = result["state"] == "UPDATE_COMPLETE"
        assert result["state"] in ("UPDATE_COMPLETE", "UPDATE_FAILED") and result["unfinished"] == 0, place
        assert kinds == (["OS::Cinder::Volume"] if made else []) + ["OS::Neutron::Net"], place
        kills += result["killed"]
    assert kills > 3 and states == {"UPDATE_COMPLETE", "UPDATE_FAILED"}
