"""Resources of plug-ins whose object is a nested stack."""

from __future__ import annotations

from typing import Any

from testing.harness import World
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin
from tests.heat_plugins.test_interruptions import ended, interrupted

REF = {"name": "net", "id": None}
ATTRIBUTES = ("names", "first", "count", "arn")


def template(**properties: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "cluster": {"type": "Vendor::Net::Cluster", "properties": properties},
            "word": {"type": "Vendor::Util::Word", "depends_on": "cluster", "properties": {"length": 5}},
        },
        "outputs": {
            **{name: {"value": {"get_attr": ["cluster", name]}} for name in ATTRIBUTES},
            "reference": {"value": {"get_resource": "word"}},
            "word": {"value": {"get_attr": ["word", "word"]}},
        },
    }


def cluster(**properties: Any) -> dict[str, Any]:
    """The template with the cluster only."""
    whole = template(**properties)
    outputs = {name: whole["outputs"][name] for name in ATTRIBUTES}
    return {**whole, "resources": {"cluster": whole["resources"]["cluster"]}, "outputs": outputs}


async def act(world: World, stack: dict[str, Any], action: str) -> str:
    await world.call("stack_action", ref=REF, action=action)
    return str((await world.settle(stack["id"]))["status"])


async def test_create_update_and_delete(begin: Begin) -> None:
    """Every action of the resource is one of the nested stack; attributes and references are read from it."""
    world = await begin()
    stack = await world.create("net", template(size=2))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    rows = await world.resources("net", 1)
    assert {"cluster", "word", "pool0", "pool1", "device"} <= rows.keys()
    outputs, made = world.outputs(stack), dict(appliance.OBJECTS)
    assert sorted(outputs["names"]) == sorted(f"pool-{identifier}" for identifier in made) and outputs["count"] == 2
    assert outputs["first"] == {"id": outputs["names"][0], "size": 0, "status": "COMPLETE"}
    assert outputs["arn"].endswith(f"/{rows['cluster']['physical_id']}") and ":stacks/net-cluster-" in outputs["arn"]
    assert len(outputs["word"]) == 5 and outputs["reference"] == "word-of-word"
    assert "checked True 5" in appliance.CALLS

    stack = await world.update("net", template(size=3, port=443))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert len(appliance.OBJECTS) == 3 and made.keys() < appliance.OBJECTS.keys()
    assert {pool["port"] for pool in appliance.OBJECTS.values()} == {443}
    assert world.outputs(stack)["word"] == outputs["word"]

    assert [await act(world, stack, action) for action in ("suspend", "resume", "check")] == ["COMPLETE"] * 3
    assert all(pool["suspended"] is False for pool in appliance.OBJECTS.values())
    assert (await world.delete("net"))["status"] == "COMPLETE"
    assert appliance.OBJECTS == {} and "delete True" in appliance.CALLS


async def test_nested_failure_fails_the_resource(begin: Begin) -> None:
    """The reason leads to the resource in the nested stack; the next update continues with the same stack."""
    world = await begin()
    stack = await world.create("net", template(fault="create"))
    assert stack["status"] == "FAILED" and "resources.cluster.resources.pool0: no room" in stack["status_reason"]
    first = (await world.resources("net"))["cluster"]["physical_id"]
    stack = await world.update("net", template())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert (await world.resources("net"))["cluster"]["physical_id"] == first
    before = list(appliance.CALLS)
    plan = await world.call("stack_update_preview", ref=REF, template=template(size=5))
    assert "cluster" in str(plan) and before == appliance.CALLS, "a preview calls no handler"


async def test_interruptions(begin: Begin) -> None:
    """While the handler of the base class runs, while the nested stack is made, and while another handler runs."""
    world = await begin()
    appliance.hold("build")
    await world.call("stack_create", name="net", template=template())
    world = await interrupted(world, begin, "build")
    appliance.hold("show")
    appliance.GATES.pop("build").set()
    world = await interrupted(world, begin, "show")
    appliance.hold("build")
    appliance.GATES.pop("show").set()
    world = await interrupted(world, begin, "build")
    stack = await ended(world)
    assert stack["status"] == "FAILED" and "handle_create of the plug-in was running" in stack["status_reason"]
    assert (await world.resources("net"))["cluster"]["status"] == "COMPLETE"
    appliance.GATES.pop("build").set()
    assert len(appliance.OBJECTS) == 1
    stack = await world.delete("net")
    assert stack["status"] == "COMPLETE" and appliance.OBJECTS == {}


async def test_snapshots_and_adoption(begin: Begin) -> None:
    """A snapshot contains the nested stack, a restored one has what it had, and an abandoned one can be adopted."""
    world = await begin()
    stack = await world.create("net", cluster(size=2))
    taken = await world.call("snapshot_create", ref=REF, name="first")
    await world.settle(stack["id"])
    pools = {name: pool for name, pool in appliance.OBJECTS.items() if not pool["name"].startswith("backup")}
    assert len(pools) == 2 and len(appliance.OBJECTS) == 4
    await world.update("net", cluster(size=1, port=443))
    await world.call("snapshot_restore", ref=REF, snapshot_id=taken["id"])
    stack = await world.settle(stack["id"])
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    assert world.outputs(stack)["count"] == 2
    await world.call("snapshot_delete", ref=REF, snapshot_id=taken["id"])
    await world.until(lambda: len(appliance.OBJECTS) == 2)
    kept = dict(appliance.OBJECTS)
    exported = await world.call("stack_abandon", ref=REF)
    await world.settle(stack["id"])
    assert kept == appliance.OBJECTS
    stack = await world.create("net", None, adopt_stack_data=exported)
    assert (stack["action"], stack["status"]) == ("ADOPT", "COMPLETE"), stack["status_reason"]
    assert world.outputs(stack)["count"] == 2 and kept == appliance.OBJECTS
    assert (await world.delete("net"))["status"] == "COMPLETE" and appliance.OBJECTS == {}


async def test_snapshot_handlers_of_a_nested_stack(begin: Begin) -> None:
    """The handlers make and delete a copy of their own; the nested stack's own copies are restored as well."""
    world = await begin()
    expected = cluster()
    expected["resources"]["cluster"]["type"] = "Vendor::Net::SavedCluster"
    stack = await world.create("net", expected)
    ((identifier, pool),) = appliance.OBJECTS.items()
    pool["port"] = 8080  # changed in the service, so that restoring differs from an update
    taken = await world.call("snapshot_create", ref=REF, name="first")
    await world.settle(stack["id"])
    assert sorted(made["name"] for made in appliance.OBJECTS.values())[-1] == pool["name"]
    assert [made["name"].split()[0] for made in appliance.OBJECTS.values()].count("index") == 1
    assert len(appliance.OBJECTS) == 3
    assert any("Reading the nested stack in a handler for snapshots" in call for call in appliance.CALLS)
    pool["port"] = 1
    await world.call("snapshot_restore", ref=REF, snapshot_id=taken["id"])
    stack = await world.settle(stack["id"])
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    assert appliance.OBJECTS[identifier] is pool and pool["port"] == 8080
    await world.call("snapshot_delete", ref=REF, snapshot_id=taken["id"])
    await world.until(lambda: list(appliance.OBJECTS) == [identifier])
    assert (await world.delete("net"))["status"] == "COMPLETE" and appliance.OBJECTS == {}
