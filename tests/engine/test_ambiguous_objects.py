"""An object that is found by its properties is deleted only if no other resource can still turn out to have it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import update

from stoker.engine.records.stack_view import view_of
from stoker.engine.running.lost_claims import stays_alone
from stoker.store import queries
from stoker.store.records import COMPLETE, IN_PROGRESS
from stoker.store.tables import resources
from testing.harness import World

NETS = {
    "heat_template_version": "2021-04-16",
    "resources": {name: {"type": "OS::Neutron::Net", "properties": {"name": "same"}} for name in ("one", "two")},
}


def record(world: World, uuid: str, physical_id: str | None, status: str) -> None:
    with world.database.writing() as connection:
        values = {"physical_id": physical_id, "status": status}
        connection.execute(update(resources).where(resources.c.uuid == uuid).values(values))


@pytest.mark.parametrize(("recorded", "alone"), [("found", False), ("another", True)])
async def test_search_waits_for_pending_creations(world: World, recorded: str, alone: bool) -> None:
    stack = await world.create("web", NETS)
    services = world.engine.services
    row = await services.database.read(queries.stack_by_id, stack["id"])
    assert row is not None
    view = await view_of(services, row)
    one, two = view.current["one"], view.current["two"]
    record(world, two.row.uuid, None, IN_PROGRESS)
    decision = asyncio.ensure_future(stays_alone(services, one, "found"))
    for _ in range(20):
        await world.turn()
    assert not decision.done()
    record(world, two.row.uuid, recorded, COMPLETE)
    await world.until(decision.done)
    assert decision.result() is alone


async def test_ambiguous_objects_are_not_deleted(world: World) -> None:
    stack = await world.create("web", NETS)
    row = await world.engine.services.database.read(queries.stack_by_id, stack["id"])
    assert row is not None
    view = await view_of(world.engine.services, row)
    record(world, view.current["two"].row.uuid, None, IN_PROGRESS)
    decision = asyncio.ensure_future(stays_alone(world.engine.services, view.current["one"], "found"))
    await world.until(decision.done)
    assert decision.result() is False
