"""Snapshots of stacks whose resources have the handlers for them."""

from __future__ import annotations

from typing import Any

from testing.harness import World
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin
from tests.heat_plugins.test_interruptions import interrupted
from tests.heat_plugins.test_life import template

REF = {"name": "net", "id": None}


async def shown(world: World, snapshot: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = await world.call("snapshot_show", ref=REF, snapshot_id=snapshot["id"])
    return found


async def test_a_snapshot_is_made_restored_and_deleted(begin: Begin) -> None:
    """The copy is complete after its check, the restored value is what the object had, and the copy is deleted."""
    world = await begin()
    stack = await world.create("net", template())
    ((identifier, pool),) = appliance.OBJECTS.items()
    pool["port"] = 8080  # changed in the service, so that restoring differs from an update
    taken = await world.call("snapshot_create", ref=REF, name="first")
    await world.settle(stack["id"])
    assert (await shown(world, taken))["status"] == "COMPLETE"
    (backup,) = appliance.OBJECTS.keys() - {identifier}
    made = appliance.OBJECTS[backup]
    assert made["polls"] > 2 and made["port"] == 8080 and made["name"] == f"backup of {pool['name']}"
    pool["port"] = 1
    await world.call("snapshot_restore", ref=REF, snapshot_id=taken["id"])
    stack = await world.settle(stack["id"])
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    assert pool["port"] == 8080
    appliance.CALLS.clear()
    stack = await world.update("net", template())
    assert stack["status"] == "COMPLETE" and appliance.CALLS == []
    await world.call("snapshot_delete", ref=REF, snapshot_id=taken["id"])
    await world.until(lambda: list(appliance.OBJECTS) == [identifier])
    assert appliance.OBJECTS[identifier] is pool, "restoring has not replaced the object"


async def test_an_interrupted_snapshot_is_not_repeated(begin: Begin) -> None:
    """Repeating handle_snapshot could make a second copy; the deletion of the snapshot gets what was recorded."""
    world = await begin()
    stack = await world.create("net", template(fault="backup"))
    appliance.hold("label")
    taken = await world.call("snapshot_create", ref=REF, name="first")
    world = await interrupted(world, begin, "label")
    await world.settle(stack["id"])
    failed = await shown(world, taken)
    assert failed["status"] == "FAILED"
    assert "Delete the snapshot, and make another one" in str(failed["status_reason"])
    appliance.GATES.pop("label").set()
    assert len(appliance.OBJECTS) == 2
    await world.call("snapshot_delete", ref=REF, snapshot_id=taken["id"])
    await world.until(lambda: len(appliance.OBJECTS) == 1)
    assert (await world.delete("net"))["status"] == "COMPLETE"
