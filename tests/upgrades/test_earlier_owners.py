"""Release 0.1.0 permitted that two resources have the same object: one of them owns it now, and both are readable."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from click.testing import CliRunner
from sqlalchemy import select, update

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cli.commands.database import doubles
from stoker.engine.settings import EngineSettings
from stoker.store import ownership, schema
from stoker.store.database import Database
from stoker.store.tables import resources, stacks
from testing.backends import BACKENDS
from testing.harness import World
from testing.tables import with_tables

OBJECTS: dict[str, Any] = {
    "net": {"type": "OS::Neutron::Net"},
    "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
}
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": OBJECTS}

BEFORE = "0010"
"""The revision before owners are recorded. Release 0.1.0 is upgraded in test_released_states.py."""

_numbers = itertools.count()


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'stoker.db'}"
    return with_tables(request.getfixturevalue(request.param), f"owners{next(_numbers)}")


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        yield served


@pytest.fixture
async def stopped(url: str, served: ServedCloud) -> World:
    """A world with the stacks `first` and `second`, both of which have the objects of the first, and no owners yet."""
    settings = EngineSettings(enable_stack_abandon=True, enable_stack_adopt=True)
    world = await World(url, served, settings=settings).start()
    for name in ("first", "second"):
        assert (await world.create(name, TEMPLATE))["status"] == "COMPLETE"
    await world.stop()
    share(url)
    return world


@pytest.fixture
async def world(stopped: World) -> AsyncIterator[World]:
    await stopped.start()
    yield stopped
    await stopped.stop()


@pytest.fixture
async def upgraded(url: str, stopped: World) -> AsyncIterator[World]:
    """The same with tables that had no owners before they were upgraded."""
    database = Database(url)
    with database.writing() as connection:
        command.downgrade(schema.migrations(connection), BEFORE)
    database.migrate()
    database.close()
    await stopped.start()
    yield stopped
    await stopped.stop()


def share(url: str) -> None:
    """Leave in the tables what is there after the upgrade of a release without owners that has adopted a stack."""
    database = Database(url)
    with database.writing() as connection:
        of_stack = {
            name: select(stacks.c.id).where(stacks.c.name == name).scalar_subquery() for name in ("first", "second")
        }
        for name in OBJECTS:
            mine = select(resources.c.physical_id).where(resources.c.name == name)
            had = connection.execute(mine.where(resources.c.stack_id == of_stack["first"])).scalar_one()
            theirs = resources.c.stack_id == of_stack["second"], resources.c.name == name
            connection.execute(update(resources).where(*theirs).values(physical_id=had))
        connection.execute(update(resources).values(ownership=None))
    database.close()


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


def deletions(world: World) -> int:
    """How many objects of stacks were deleted."""
    entries = world.in_cloud(lambda: world.served.cloud.journal.select({}))
    return sum(entry["method"] == "DELETE" and entry["service"] != "keystone" for entry in entries)


async def test_the_older_resource_owns_the_object_and_the_other_one_does_not_delete_it(
    upgraded: World, url: str, tmp_path: Path
) -> None:
    world = upgraded
    rows = {name: await world.resources(name) for name in ("first", "second")}
    assert [rows["first"][name]["physical_id"] for name in OBJECTS] == [
        rows["second"][name]["physical_id"] for name in OBJECTS
    ]
    configuration = tmp_path / "heat.conf"
    configuration.write_text(f"[database]\nconnection = {url}\n")
    listing = ["--config-file", str(configuration), "-f", "json"]
    done = await asyncio.to_thread(CliRunner().invoke, doubles, listing)
    assert done.exit_code == 1
    assert [(row["stack_name"], row["resource"], row["owner_stack_name"]) for row in json.loads(done.stdout)] == [
        ("second", "net", "first"),
        ("second", "volume", "first"),
    ]

    third = await world.create("third", None, adopt_stack_data=await world.call("stack_export", ref=ref("second")))
    refused = third["status_reason"]  # of either object
    assert re.search("belongs to the resource (net|volume) of the stack first", refused), refused
    preview = await world.call("stack_update_preview", ref=ref("second"), template={**TEMPLATE, "resources": {}})
    assert {reason["code"] for step in preview["plan"]["steps"] for reason in step["reasons"]} == {
        "not-in-template",
        "object-of-another",
    }
    for name in ("third", "second"):
        assert (await world.delete(name))["status"] == "COMPLETE"
    assert deletions(world) == 0
    assert world.database.read_now(ownership.duplicates) == []
    assert (await world.delete("first"))["status"] == "COMPLETE"
    assert deletions(world) == len(OBJECTS)


async def test_a_resource_owns_its_object_when_the_owner_is_gone(world: World) -> None:
    await world.call("stack_abandon", ref=ref("first"))
    await world.stop()
    await world.start()
    assert world.database.read_now(ownership.duplicates) == []
    assert (await world.delete("second"))["status"] == "COMPLETE"
    assert deletions(world) == len(OBJECTS)


async def test_an_update_changes_no_owner(world: World) -> None:
    changed = {name: {**definition, "metadata": {"a": "b"}} for name, definition in OBJECTS.items()}
    stack = await world.update("second", {**TEMPLATE, "resources": changed})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert len(world.database.read_now(ownership.duplicates)) == len(OBJECTS)


async def test_a_resource_is_examined_when_its_plug_in_is_there(world: World) -> None:
    assert await owned_with("Vendor::Net", world) is None
    assert await owned_with("OS::Neutron::Net", world) is not None


async def owned_with(implementation: str, world: World) -> str | None:
    """What the network of the stack `first` owns after a start, if an earlier release recorded it with this type."""
    sealer, c = world.engine.services.sealer, resources.c
    mine = c.name == "net", c.stack_id == select(stacks.c.id).where(stacks.c.name == "first").scalar_subquery()
    with world.database.writing() as connection:
        state = sealer.open(connection.execute(select(c.state).where(*mine)).scalar_one())
        state["definition"]["implementation"] = implementation
        values = {"type": implementation, "state": sealer.seal(state), "ownership": None}
        connection.execute(update(resources).where(*mine).values(values))
    await world.stop()
    await world.start()
    found: str | None = world.database.read_now(
        lambda connection: connection.execute(select(c.ownership).where(*mine)).scalar_one()
    )
    return found


async def test_duplicate_owners_are_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await world.stop()
    caplog.clear()
    await world.start()
    for name in OBJECTS:
        assert f"{name} of the stack second" in caplog.text
