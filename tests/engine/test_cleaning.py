"""Engines remove the records of stacks that were deleted long ago, and old events, by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from openstack_emulator.testing import ServedCloud
from stoker.engine.ownership.cleaning import INTERVAL_SECONDS
from stoker.engine.settings import EngineSettings
from stoker.store import tables
from stoker_foundation.clock import ManualClock
from testing.harness import World, manual_clock

EMPTY = {"heat_template_version": "2021-04-16"}
DAY = 86400.0


@pytest.fixture
async def world(tmp_path: Path, served: ServedCloud) -> AsyncIterator[World]:
    settings = EngineSettings(deleted_stacks_kept=2)
    world = await World(tmp_path / "c.db", served, clock=manual_clock(), settings=settings).start()
    yield world
    await world.stop()


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
