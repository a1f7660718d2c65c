"""A service executes a request of which nobody knows any more, after another object has been created instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.store.tables import late_requests
from stoker_foundation.clock import ManualClock
from testing.harness import World

NETWORKS = "/network/v2.0/networks"


def template(**properties: Any) -> dict[str, Any]:
    net = {"type": "OS::Neutron::Net", "properties": properties}
    return {"heat_template_version": "2021-04-16", "resources": {"net": net}}


def networks(world: World, name: str) -> list[str]:
    answer = world.served.call("GET", f"{NETWORKS}?name={name}", token=world.context.token)
    return [item["id"] for item in answer.json["networks"]]


def create(world: World, name: str) -> str:
    """Execute the request now."""
    made = world.served.call("POST", NETWORKS, {"network": {"name": name}}, token=world.context.token)
    return str(made.json["network"]["id"])


def expected(world: World) -> int:
    with world.database.engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(late_requests)).scalar_one())


async def later(world: World, seconds: float) -> None:
    assert isinstance(world.clock, ManualClock)
    end = world.clock.now() + seconds
    while world.clock.now() < end:
        world.clock.advance(3)
        await world.turn()


async def lost(world: World, **properties: Any) -> tuple[str, str]:
    """A stack whose first request for a network got lost; the network's ID and name."""
    world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on=f"POST {NETWORKS}", do="drop", times=1)))
    stack = await world.create("web", template(**properties))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    identifier = (await world.resources("web"))["net"]["physical_id"]
    shown = world.served.call("GET", f"{NETWORKS}/{identifier}", token=world.context.token)
    return identifier, shown.json["network"]["name"]


async def test_the_object_of_a_late_request_is_deleted(world: World) -> None:
    kept, name = await lost(world)
    assert expected(world) == 1
    late = create(world, name)
    assert sorted(networks(world, name)) == sorted([kept, late])
    await later(world, 70)
    await world.until(lambda: networks(world, name) == [kept])


async def test_object_appearing_after_several_searches_is_deleted(world: World) -> None:
    kept, name = await lost(world)
    await later(world, 400)
    assert expected(world) == 1
    create(world, name)
    await later(world, 1900)
    await world.until(lambda: networks(world, name) == [kept] and expected(world) == 0)


async def test_object_with_given_name_is_not_deleted(world: World) -> None:
    kept, _ = await lost(world, name="backend")
    theirs = create(world, "backend")
    await later(world, 400)
    assert sorted(networks(world, "backend")) == sorted([kept, theirs])
    assert expected(world) == 0


async def test_confirmed_creation_is_not_searched_for(world: World) -> None:
    await world.create("web", template())
    assert expected(world) == 0


async def test_deleted_stack_has_no_pending_searches(world: World) -> None:
    await lost(world)
    await world.delete("web")
    await later(world, 70)
    await world.until(lambda: expected(world) == 0)


@pytest.mark.parametrize("type_name", ["OS::Nova::Server", "OS::Cinder::Volume", "OS::Neutron::FloatingIP"])
async def test_types_with_names_of_their_own(world: World, type_name: str) -> None:
    kind = world.engine.services.types.offered()[type_name]
    assert kind.recovery is not None and kind.recovery.has_own_name({})


@pytest.mark.parametrize("way", ["deleted", "replaced", "removed"])
async def test_late_object_is_deleted_with_its_resource(world: World, way: str) -> None:
    _, name = await lost(world)
    create(world, name)
    if way == "deleted":
        await world.delete("web")
    else:
        router = {"net": {"type": "OS::Neutron::Router"}}
        resources = router if way == "replaced" else {}
        await world.update("web", {"heat_template_version": "2021-04-16", "resources": resources})
    assert networks(world, name) == []


async def test_abandoned_stack_deletes_no_late_objects(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "stoker.db", served, settings=EngineSettings(enable_stack_abandon=True)).start()
    kept, name = await lost(world)
    late = create(world, name)
    await world.call("stack_abandon", ref={"name": "web", "id": None})
    await later(world, 70)
    assert sorted(networks(world, name)) == sorted([kept, late])
    await world.stop()
