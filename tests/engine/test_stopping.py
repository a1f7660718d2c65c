"""An engine that must stop lets requests in flight end, however long that takes, and hands over the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.cloud.session import Cloud
from stoker.engine.settings import EngineSettings
from stoker.store import claims, queries
from stoker.store.records import Stack
from stoker_foundation.clock import ManualClock
from testing.harness import World

SETTINGS = EngineSettings(heartbeat_seconds=5.0, lease_seconds=50.0, stack_action_timeout=10_000_000)
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "one": {"type": "OS::Neutron::Port", "properties": {"network": "private"}},
        "two": {"type": "OS::Neutron::Net", "depends_on": "one"},
    },
}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=SETTINGS)
    yield await world.start()
    await world.stop()


async def test_the_lease_is_kept_until_the_calls_under_way_have_been_answered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logging in takes longer than the lease; the port that was to be made then is made."""
    asked, go_on = asyncio.Event(), asyncio.Event()
    cloud_of = world.engine.services.credentials.cloud_of

    async def slow(stack: Stack) -> Cloud:
        asked.set()
        await go_on.wait()
        return await cloud_of(stack)

    monkeypatch.setattr(world.engine.services.credentials, "cloud_of", slow)
    assert isinstance(world.clock, ManualClock)
    made = await world.call("stack_create", name="web", template=TEMPLATE, preflight=False)
    await asked.wait()
    stopping = asyncio.ensure_future(world.engine.stop())
    began = world.clock.now()
    while world.clock.now() < began + 2 * SETTINGS.lease_seconds:
        await world.turn()
        if world.engine.runs.lease.is_expired:
            await world.engine.runs.lease.next_renewal()
    assert not stopping.done()
    assert await world.database.read(claims.living, world.clock.now()) == {world.engine.services.id}

    go_on.set()
    await stopping
    assert await world.database.read(claims.living, world.clock.now()) == set()
    [port] = await world.database.read(queries.resources_of, made["id"])
    assert (port.name, port.status, port.physical_id is not None) == ("one", "COMPLETE", True)
