"""An engine stops while a handler of a plug-in runs: what is repeated, what is not, and what is never lost."""

from __future__ import annotations

from typing import Any

from testing.harness import World
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin
from tests.heat_plugins.test_life import template

REF = {"name": "net", "id": None}


async def interrupted(world: World, begin: Begin, at: str) -> World:
    """Stop the engine when the appliance is called, and start another one, which has none of its threads."""
    await world.until(lambda: at in appliance.ENTERED and appliance.ENTERED[at].is_set())
    return await begin(instead_of=world)


async def ended(world: World) -> dict[str, Any]:
    found = await world.call("stack_identify", ref=REF)
    return await world.settle(found["id"])


async def test_an_interrupted_creation_is_not_repeated(begin: Begin) -> None:
    """Repeating handle_create could create a second object; the deletion is left to the plug-in."""
    world = await begin()
    appliance.hold("create")
    await world.call("stack_create", name="net", template=template())
    world = await interrupted(world, begin, "create")
    stack = await ended(world)
    assert stack["status"] == "FAILED"
    assert "the engine stopped while handle_create of the plug-in was running" in stack["status_reason"]
    assert "plug-ins usually name it net-pool-" in stack["status_reason"]
    assert len(appliance.CALLS) == 1
    appliance.GATES.pop("create").set()
    stack = await world.update("net", template())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert (await world.delete("net"))["status"] == "COMPLETE"


async def test_resource_id_is_stored_before_the_handler_continues(begin: Begin) -> None:
    """The engine stops between resource_id_set and the end of handle_create: the object is deleted with the stack."""
    world = await begin()
    appliance.hold("label")
    await world.call("stack_create", name="net", template=template(fault="label"))
    world = await interrupted(world, begin, "label")
    stack = await ended(world)
    assert stack["status"] == "FAILED"
    (identifier,) = appliance.OBJECTS
    assert f"The ID {identifier} is recorded" in stack["status_reason"]
    assert (await world.delete("net"))["status"] == "COMPLETE"
    assert appliance.OBJECTS == {}


async def test_a_check_continues_in_another_engine(begin: Begin) -> None:
    """The result of handle_create was plain, so the check gets it from the database."""
    world = await begin()
    appliance.hold("show")
    await world.call("stack_create", name="net", template=template())
    world = await interrupted(world, begin, "show")
    appliance.GATES.pop("show").set()
    stack = await ended(world)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert [call.split()[0] for call in appliance.CALLS].count("create") == 1


async def test_interrupted_updates_and_deletions_are_repeated(begin: Begin) -> None:
    world = await begin()
    await world.create("net", template())
    appliance.hold("change")
    await world.call("stack_update", ref=REF, template=template(port=443))
    world = await interrupted(world, begin, "change")
    appliance.GATES.pop("change").set()
    stack = await ended(world)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    (made,) = appliance.OBJECTS.values()
    assert made["port"] == 443
    appliance.hold("delete")
    found = await world.call("stack_identify", ref=REF)
    await world.call("stack_delete", ref=REF)
    world = await interrupted(world, begin, "delete")
    appliance.GATES.pop("delete").set()
    assert (await world.settle(found["id"]))["status"] == "COMPLETE"
    assert appliance.OBJECTS == {}


async def test_a_stopped_action_records_its_id_for_the_next_one(begin: Begin) -> None:
    """The stack is deleted while handle_create runs: its object is deleted once the handler has set the ID."""
    world = await begin()
    appliance.hold("create")
    await world.call("stack_create", name="net", template=template())
    await world.until(lambda: appliance.ENTERED["create"].is_set())
    found = await world.call("stack_identify", ref=REF)
    await world.call("stack_delete", ref=REF)
    for _ in range(50):
        await world.turn()
    appliance.GATES.pop("create").set()
    stack = await world.settle(found["id"])
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE"), stack["status_reason"]
    assert [call.split()[0] for call in appliance.CALLS] == ["create", "delete"]
    assert appliance.OBJECTS == {}


def gauge(level: int = 1) -> dict[str, Any]:
    resource = {"type": "Vendor::Net::Gauge", "properties": {"level": level}}
    return {"heat_template_version": "2021-04-16", "resources": {"gauge": resource}}


async def metadata(world: World) -> Any:
    return await world.call("resource_metadata", ref=REF, name="gauge")


async def test_metadata_of_an_interrupted_action_are_reset(begin: Begin) -> None:
    """What the metadata say to be in progress is corrected, whether the handler is repeated or not."""
    world = await begin()
    appliance.hold("label")
    await world.call("stack_create", name="net", template=gauge())
    world = await interrupted(world, begin, "label")
    assert (await ended(world))["status"] == "FAILED"
    assert await metadata(world) == {"scaling_in_progress": False, "steps": 1}
    appliance.GATES.pop("label").set()
    assert "reset True" in appliance.CALLS


async def test_metadata_of_an_action_that_timed_out_are_reset(begin: Begin) -> None:
    """So are those that handle_update_cancel sets, which does not wait for a commit of its own."""
    world = await begin()
    await world.create("net", gauge())
    stack = await world.update("net", gauge(9), timeout_mins=1)
    assert stack["status"] == "FAILED" and "timed out" in stack["status_reason"].lower()
    assert "reset False" in appliance.CALLS
    assert await metadata(world) == {"cancelled": 9}
