"""A database of every released state is brought up to this release, on every kind of database; what was in flight is
completed, and everything reads."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.store import schema
from stoker.store.database import Database
from stoker_foundation.clock import ManualClock, SystemClock
from testing.backends import BACKENDS
from testing.harness import World
from tests.upgrades import releases

RELEASES = sorted(path.name for path in releases.STATES.iterdir())
_numbers = itertools.count()


class ClockSince(SystemClock):
    """A clock that showed a given time when it was made."""

    def __init__(self, start: float) -> None:
        self._offset = start - super().now()

    def now(self) -> float:
        return super().now() + self._offset


@dataclass
class State:
    """What a release has left: a database, an emulated cloud that is served, and `about` it.

    `in_flight` are the stacks with an operation that is not finished.
    """

    url: str
    served: ServedCloud
    about: dict[str, Any]
    in_flight: set[str]


def loaded(source: Path, target: Path) -> Path:
    connection = sqlite3.connect(target)
    connection.executescript(source.read_text())
    connection.close()
    return target


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=RELEASES)
def state(request: pytest.FixtureRequest, backend: str, tmp_path: Path) -> Iterator[State]:
    source = releases.STATES / request.param
    about = json.loads((source / "about.json").read_text())
    if backend == "sqlite":
        url = f"sqlite:///{loaded(source / 'sqlite.sql', tmp_path / 'stoker.db')}"
    else:
        server, name = request.getfixturevalue(backend), f"upgrade{next(_numbers)}"
        url = server.new_database(name)
        server.load(name, source / f"{backend}.sql")
        now = SystemClock().now()  # engines take the time from the server
        begin_again(url, now - about["now"])
        about["now"] = now
    cloud = new_cloud(
        clock=ManualClock(about["now"]), pace=0.0, state_path=loaded(source / "cloud.sql", tmp_path / "cloud.db")
    )
    with ServedCloud(cloud) as served:
        yield State(url, served, about, in_flight(url))


def begin_again(url: str, seconds: float) -> None:
    """Postpone the deadlines of operations in flight by the age of the state, as if it had just been left."""
    database = Database(url)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE operations SET deadline = deadline + :seconds"), {"seconds": seconds})
    database.close()


def in_flight(url: str) -> set[str]:
    """Root stacks on which something runs, whatever the revision of the tables."""
    query = (
        "SELECT s.name FROM operations o JOIN stacks s ON s.id = o.stack_id "
        "WHERE o.status IN ('PENDING', 'RUNNING') AND s.parent_id IS NULL"
    )
    database = Database(url)
    with database.engine.connect() as connection:
        found = set(connection.execute(text(query)).scalars())
    database.close()
    return found


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


@pytest.fixture
async def world(state: State) -> AsyncIterator[World]:
    """This release on the state, with the tables upgraded and the operations in flight resumed."""
    world = await World(state.url, state.served, clock=ClockSince(state.about["now"])).start()
    yield world
    await world.stop()


async def idle(world: World, served: ServedCloud) -> None:
    """Let the cloud and the engine work until nothing is left to do."""
    for _ in range(600):
        await asyncio.to_thread(served.advance, 30.0)
        await asyncio.sleep(0.05)
        if not world.engine.runs:
            return
    raise AssertionError({run.stack.name: run.values() for run in world.engine.runs.all()})


async def test_operations_in_progress_are_completed_and_data_are_readable(state: State, world: World) -> None:
    assert state.in_flight == {"rising", "changing", "falling", "kept"}
    await idle(world, state.served)
    listed = (await world.call("stack_list"))["stacks"]
    assert {stack["name"]: f"{stack['action']}_{stack['status']}" for stack in listed} == {
        "resting": "UPDATE_COMPLETE",
        "rising": "CREATE_COMPLETE",
        "changing": "UPDATE_COMPLETE",
        "kept": "SNAPSHOT_COMPLETE",
    }
    for stack in listed:
        found = ref(stack["name"])
        shown = await world.call("stack_show", ref=found)
        assert shown["parameters"]
        rows = await world.resources(stack["name"], depth=3)
        assert {row["status"] for row in rows.values()} == {"COMPLETE"}
        for row in rows.values():
            place = {"name": row["stack_name"], "id": row["stack_id"]}
            assert await world.call("resource_show", ref=place, name=row["name"])
        for operation in await world.call("operation_list", ref=found):
            assert (await world.call("operation_show", ref=found, operation_id=operation["id"]))["plan"]
        events = await world.call("event_list", ref=found, nested_depth=3)
        assert events
        assert all(bool(event["within"]) == (event["stack_id"] != stack["id"]) for event in events)
        assert await world.call("stack_template", ref=found)
        assert await world.call("stack_environment", ref=found) is not None
    resting = await world.call("stack_show", ref=ref("resting"))
    assert len(world.outputs(resting)["random"]) == 32
    assert resting["parameters"]["word"] == "******"
    taken = await world.call("snapshot_list", ref=ref("kept"))
    assert {item["name"]: item["status"] for item in taken} == {"before": "COMPLETE", "after": "COMPLETE"}
    assert await world.call("snapshot_show", ref=ref("kept"), snapshot_id=state.about["snapshot"])
    [deployment] = await world.call("software_deployment_list")
    assert deployment["status"] == "COMPLETE"


async def test_stacks_of_a_release_before_are_updated_restored_and_deleted(state: State, world: World) -> None:
    await idle(world, state.served)
    for name in ("changing", "rising"):
        given = await world.call("stack_template", ref=ref(name))
        changed = {**given, "resources": {**given["resources"], "more": {"type": "OS::Heat::RandomString"}}}
        files = await world.call("stack_files", ref=ref(name))
        assert (await world.update(name, changed, files=files))["status"] == "COMPLETE"
    await world.call("snapshot_restore", ref=ref("kept"), snapshot_id=state.about["snapshot"])
    await idle(world, state.served)
    assert (await world.call("stack_show", ref=ref("kept")))["status"] == "COMPLETE"
    for name in ("resting", "rising", "changing", "kept"):
        await world.call("stack_delete", ref=ref(name))
    await idle(world, state.served)
    assert (await world.call("stack_list"))["stacks"] == []


def test_an_engine_refuses_tables_that_are_not_upgraded_and_names_the_command(state: State) -> None:
    database = Database(state.url)
    with pytest.raises(Exception, match="of an earlier release; run `stoker db sync`"):
        database.read_now(schema.require_fit)
    database.migrate()
    database.read_now(schema.require_fit)
    database.migrate()
    database.close()
