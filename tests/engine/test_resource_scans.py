"""Scans of projects and generated templates over time: they expire, older ones go, and engines die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ActionInProgress, EntityNotFound
from stoker.cloud.session import Cloud
from stoker.engine.settings import EngineSettings
from stoker.operations.resource_scans import KEPT_SECONDS
from stoker.store.journal import Batch
from stoker.store.tables import generated_templates, resource_scans
from stoker_foundation.clock import ManualClock
from testing.harness import World

SETTINGS = EngineSettings(heartbeat_seconds=3600.0, lease_seconds=100 * 86400.0, stack_action_timeout=10_000_000)
NET = "OS::Neutron::Net"
FEW = {"filters": [NET]}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=SETTINGS)
    yield await world.start()
    await world.stop()


async def ended(world: World, method: str, **named: str) -> dict[str, Any]:
    for _ in range(2000):
        shown: dict[str, Any] = await world.call(method, **named)
        if not shown["status"].endswith("IN_PROGRESS"):
            return shown
        await world.turn()
    raise AssertionError(f"{method} shows no end")


async def scanned(world: World) -> str:
    scan: str = (await world.call("resource_scan_start", **FEW))["id"]
    assert (await ended(world, "resource_scan_show", scan_id=scan))["status"] == "COMPLETE"
    return scan


async def objects(world: World, scan: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = (await world.call("resource_scan_objects", scan_id=scan, start=0, limit=100))[
        "objects"
    ]
    return listed


def passes(world: World, seconds: float) -> None:
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(seconds)


async def test_scan_expires_after_thirty_days(world: World) -> None:
    scan = await scanned(world)
    passes(world, KEPT_SECONDS - 60)
    assert await objects(world, scan) != []
    passes(world, 120)
    shown = await world.call("resource_scan_show", scan_id=scan)
    assert (shown["status"], shown["objects"]) == ("EXPIRED", 0)
    with pytest.raises(EntityNotFound, match="its status is EXPIRED"):
        await objects(world, scan)
    await scanned(world)
    bodies = select(resource_scans.c.body).where(resource_scans.c.id == scan)
    assert await world.database.read(lambda connection: connection.execute(bodies).scalar_one()) is None
    assert [each["status"] for each in await world.call("resource_scan_list")] == ["COMPLETE", "EXPIRED"]


async def test_ten_scans_are_kept(world: World) -> None:
    scans = []
    for _ in range(12):
        scans.append(await scanned(world))
        passes(world, 1)
    listed = [each["id"] for each in await world.call("resource_scan_list")]
    assert listed == scans[:1:-1]


async def test_one_scan_of_a_project_runs_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = asyncio.Event()
    read = Cloud.list

    async def waits(self: Cloud, *arguments: Any, **options: Any) -> Any:
        await go_on.wait()
        return await read(self, *arguments, **options)

    monkeypatch.setattr(Cloud, "list", waits)
    scan = (await world.call("resource_scan_start", **FEW))["id"]
    with pytest.raises(ActionInProgress, match="is in progress"):
        await world.call("resource_scan_start", **FEW)
    with pytest.raises(ActionInProgress, match="list its resources when it has ended"):
        await objects(world, scan)
    assert (await world.call("resource_scan_show", scan_id=scan))["types_read"] == 0
    go_on.set()
    assert (await ended(world, "resource_scan_show", scan_id=scan))["types_read"] == 1


async def test_scan_of_dead_engine_has_failed(world: World) -> None:
    scan = await scanned(world)
    named: dict[str, Any] = {"name": "mine", "objects": [], "policies": {}}
    await world.call("generated_template_create", **named)
    await ended(world, "generated_template_show", name="mine")
    dead = {"engine": "an-engine-that-died"}
    scanning = update(resource_scans).values(status="IN_PROGRESS", scanning=resource_scans.c.project_id, **dead)
    generating = update(generated_templates).values(status="CREATE_IN_PROGRESS", **dead)
    batch = Batch().then(lambda connection: connection.execute(scanning))
    batch.then(lambda connection: connection.execute(generating))
    await world.engine.services.journal.commit(batch)

    shown = await world.call("resource_scan_show", scan_id=scan)
    assert (shown["status"], shown["reason"]) == ("FAILED", "The engine that scanned the project has stopped.")
    shown = await world.call("generated_template_show", name="mine")
    assert (shown["status"], shown["reason"]) == (
        "FAILED", "The engine that generated the template has stopped; refresh it.",
    )  # fmt: skip
    assert [each["status"] for each in await world.call("generated_template_list")] == ["FAILED"]
    again = await scanned(world)
    assert {each["id"]: each["status"] for each in await world.call("resource_scan_list")} == {
        scan: "FAILED", again: "COMPLETE",
    }  # fmt: skip
    await world.call(
        "generated_template_update", name="mine", new_name=None, add=[], remove=[], refresh=True, policies={}
    )
    assert (await ended(world, "generated_template_show", name="mine"))["status"] == "COMPLETE"
