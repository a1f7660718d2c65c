"""An engine that must stop while its database stores nothing, or is away, waits for it no longer than a lease."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.store import claims, journal
from stoker_foundation.clock import ManualClock
from testing.harness import World
from tests.limited_disk import ReadOnlyFile

SETTINGS = EngineSettings(lease_seconds=15.0)
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        f"slow{number}": {"type": "OS::Heat::TestResource", "properties": {"value": "a", "wait_secs": 3600}}
        for number in range(3)
    },
}


@pytest.fixture
async def busy(served: ServedCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """An engine in the middle of an operation."""
    monkeypatch.setattr(journal, "RETRY_SECONDS", 0.01)
    world = await World(tmp_path / "stoker.db", served, settings=SETTINGS).start()
    await world.call("stack_create", name="web", template=TEMPLATE)
    await world.until(lambda: [len(run.states) for run in world.engine.runs.all()] == [3])
    return world


async def close(world: World) -> None:
    """End what the engine used, as its process does; within a time that no attempt to reach a database takes."""
    await asyncio.wait_for(asyncio.to_thread(world.journal.close), 30)
    await world.pool.close()
    world.database.close()


async def stop(world: World) -> bool:
    """Stop the engine; the clock moves on until it has."""
    assert isinstance(world.clock, ManualClock)
    stopping = asyncio.ensure_future(world.engine.stop())
    while not stopping.done():
        await world.turn()
    return stopping.result()


def lose(world: World) -> None:
    """Let no connection be opened any more, as to a server that is away."""

    def refuse(*_: Any) -> None:
        raise OperationalError("connect", None, _Locked("database is locked"))

    event.listen(world.database.engine, "do_connect", refuse)  # first, or the journal's thread could open another one
    world.database.dispose()


class _Locked(Exception):
    sqlite_errorcode = 5


_Locked.__module__ = "sqlite3"


@pytest.mark.parametrize("away", [False, True])
async def test_unwritable_database_delays_stop_by_one_lease(busy: World, away: bool, caplog: Any) -> None:
    began = busy.clock.now()
    if away:
        lose(busy)
    else:
        ReadOnlyFile(busy.database.engine)
    assert not await stop(busy)
    assert 15 <= busy.clock.now() - began < 20
    assert "1 operations are not handed over" in caplog.text
    await close(busy)


async def test_recovered_database_stores_handover(busy: World) -> None:
    file = ReadOnlyFile(busy.database.engine)
    stopping = asyncio.ensure_future(busy.engine.stop())
    began = busy.clock.now()
    while busy.clock.now() < began + 10:
        await busy.turn()
    assert not stopping.done()
    file.read_only = False
    assert await asyncio.wait_for(stopping, 30)
    assert await busy.database.read(claims.living, busy.clock.now()) == set()
    await close(busy)


async def test_stop_waits_for_database_without_operations(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "stoker.db", served, settings=SETTINGS).start()
    ReadOnlyFile(world.database.engine)
    assert not await stop(world)
    await close(world)
