"""Engines remove the records of stacks that were deleted long ago, and old events, by themselves."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import EntityNotFound
from stoker.engine.ownership.cleaner import INTERVAL_SECONDS
from stoker.store import tables
from stoker_foundation.clock import ManualClock
from testing.harness import RARE_HEARTBEATS, World, manual_clock

MakeWorld = Callable[..., Awaitable[World]]

EMPTY = {"heat_template_version": "2021-04-16"}
DAY = 86400.0


@pytest.fixture
async def make_world(tmp_path: Path, served: ServedCloud) -> AsyncIterator[MakeWorld]:
    worlds = list[World]()

    async def make(**settings: Any) -> World:
        rare = replace(RARE_HEARTBEATS, **settings)  # the first one begins the first cleaning
        worlds.append(await World(tmp_path / "c.db", served, clock=manual_clock(), settings=rare).start())
        return worlds[-1]

    yield make
    for world in worlds:
        await world.stop()


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    return await make_world(deleted_stacks_kept=2)


def count(world: World, table: Any) -> int:
    with world.database.engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def set_back(world: World, table: Any, column: str, days: float) -> None:
    """Change recorded times, as if they were so many days earlier."""
    with world.database.writing() as connection:
        connection.execute(update(table).values({column: table.c[column] - days * DAY}))


async def an_hour_later(world: World) -> None:
    assert isinstance(world.clock, ManualClock)
    end = world.clock.now() + INTERVAL_SECONDS + 10
    while world.clock.now() < end:
        world.clock.advance(60)
        await world.turn()


async def test_deleted_stacks_are_removed_by_age_and_by_number(world: World) -> None:
    for number in range(4):
        await world.create(f"s{number}", EMPTY)
        await world.delete(f"s{number}")
    await world.create("living", EMPTY)
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.stacks) == 3)
    set_back(world, tables.stacks, "deleted_at", 91)
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.stacks) == 1)
    assert [row["name"] for row in (await world.call("stack_list"))["stacks"]] == ["living"]


async def test_events_are_removed_by_age(world: World) -> None:
    await world.create("living", EMPTY)
    set_back(world, tables.events, "time", 366)
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.events) == 0)
    assert (await world.call("stack_show", ref={"name": "living", "id": None}))["status"] == "COMPLETE"


def value(text: str) -> dict[str, Any]:
    return {**EMPTY, "resources": {"text": {"type": "OS::Heat::Value", "properties": {"value": text}}}}


async def history(world: World, name: str) -> list[dict[str, Any]]:
    """The operations of a stack, the oldest first."""
    listed = await world.call("operation_list", ref={"name": name, "id": None})
    return list(reversed(listed))


async def updated(world: World, name: str, times: int) -> None:
    """Create a stack and change it some times, each time another way."""
    await world.create(name, value("first"))
    for number in range(times):
        world.clock.advance(1.0)  # type: ignore[attr-defined]
        await world.update(name, value(f"changed {number}"))


async def as_of(world: World, name: str, operation: dict[str, Any]) -> str:
    """The value in the definition that a stack had as of an operation."""
    shown = await world.call("stack_template", ref={"name": name, "id": None}, operation_id=operation["id"])
    return str(shown["resources"]["text"]["properties"]["value"])


async def test_operations_over_the_limit_are_purged_with_definitions_and_values(make_world: MakeWorld) -> None:
    world = await make_world(max_operations_per_stack=3, max_events_per_stack=6, event_purge_batch_size=1)
    await updated(world, "web", 8)
    ids = [each["id"] for each in await history(world, "web")]
    assert count(world, tables.inputs) == 9
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.operations) == 5)
    left = await history(world, "web")
    assert [each["id"] for each in left] == [*ids[:2], *ids[-3:]]  # the first ones say when it was made and changed
    assert [await as_of(world, "web", each) for each in left[1:]] == [f"changed {each}" for each in (0, 5, 6, 7)]
    with pytest.raises(EntityNotFound):
        await as_of(world, "web", {"id": ids[3]})
    # Former inputs are kept with their operation: those of the first, and of each of the last three.
    await world.until(lambda: count(world, tables.property_sets) <= 4)
    assert count(world, tables.inputs) == 6
    documents = count(world, tables.documents)
    await world.update("web", value("changed 0"))  # of the kept ones, nothing is missing
    assert count(world, tables.documents) == documents
    assert (await world.resources("web"))["text"]["status"] == "COMPLETE"


async def test_a_new_stack_keeps_no_more_events_than_its_limit(make_world: MakeWorld) -> None:
    world = await make_world(max_events_per_stack=6, event_purge_batch_size=1)
    for size, events in ((1, 4), (2, 6), (3, 6)):
        resources = {f"r{number}": {"type": "OS::Heat::Value", "properties": {"value": 1}} for number in range(size)}
        before = count(world, tables.events)
        await world.create(f"web{size}", {"heat_template_version": "2018-08-31", "resources": resources})
        assert count(world, tables.events) - before == events


async def test_operations_are_purged_by_age_after_a_later_one(make_world: MakeWorld) -> None:
    world = await make_world(operations_days=30)
    await updated(world, "web", 3)
    await updated(world, "idle", 3)
    set_back(world, tables.operations, "finished_at", 31)
    await an_hour_later(world)
    assert count(world, tables.operations) == 8
    await world.update("web", value("now"))
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.operations) == 7)
    assert [await as_of(world, "web", each) for each in await history(world, "web")] == ["first", "changed 0", "now"]


async def test_nothing_is_purged_while_an_operation_is_in_progress(make_world: MakeWorld) -> None:
    world = await make_world(max_operations_per_stack=1, stack_action_timeout=100_000)
    await updated(world, "web", 4)
    waiting = {"type": "OS::Heat::TestResource", "properties": {"value": "x", "wait_secs": 7200}}
    begun = {**EMPTY, "resources": {"wait": waiting}}
    await world.call("stack_update", ref={"name": "web", "id": None}, template=begun)
    await an_hour_later(world)
    assert count(world, tables.operations) == 6
    await an_hour_later(world)
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.operations) == 3)


def archived(directory: Path, table: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for path in directory.iterdir() for line in path.read_text().splitlines()]
    return [line["row"] for line in lines if line["table"] == table]


async def test_purged_records_are_archived_first(make_world: MakeWorld, tmp_path: Path) -> None:
    directory = tmp_path / "archive"
    directory.mkdir()
    world = await make_world(
        archive_directory=str(directory), max_operations_per_stack=2, max_events_per_stack=4, deleted_stacks_days=10
    )
    await updated(world, "web", 5)
    await updated(world, "old", 1)
    await world.delete("old")
    set_back(world, tables.stacks, "deleted_at", 11)
    ids = [each["id"] for each in await history(world, "web")]
    number = count(world, tables.events)
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.events) == 4 and count(world, tables.operations) == 4)
    assert len({row["id"] for row in archived(directory, "events")}) == number - 4
    assert set(ids[2:4]) <= {row["id"] for row in archived(directory, "operations")}
    assert [row["name"] for row in archived(directory, "stacks")] == ["old"]
    assert archived(directory, "inputs") and archived(directory, "documents")
    written = "".join(path.read_text() for path in directory.iterdir())
    assert "changed" in written and not re.search(r"changed \d|first", written)  # values stay encrypted


async def test_records_that_cannot_be_archived_are_kept(
    make_world: MakeWorld, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world = await make_world(archive_directory=str(tmp_path / "missing"), max_operations_per_stack=2)
    await updated(world, "web", 5)
    await an_hour_later(world)
    await world.until(lambda: "cannot remove old records" in caplog.text)
    assert count(world, tables.operations) == 6
    (tmp_path / "missing").mkdir()
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.operations) == 4)


async def test_change_sets_are_purged_by_age(make_world: MakeWorld) -> None:
    world = await make_world(operations_days=30)
    await world.create("web", value("a"))
    for name in ("one", "two"):
        await world.call(
            "change_set_create", stack_name="web", name=name, kind="UPDATE", description=None, settings={},
            body={"template": value(name)},
        )  # fmt: skip
    with world.database.writing() as connection:
        old = tables.change_sets.c.name == "one"
        connection.execute(update(tables.change_sets).where(old).values(created_at=world.clock.now() - 31 * DAY))
    await an_hour_later(world)
    await world.until(lambda: count(world, tables.change_sets) == 1)
