"""Classes of plug-ins that derive from those of Heat's own resource types."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import TemplateInvalid
from testing.harness import World
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin
from tests.heat_plugins.test_interruptions import ended, interrupted

REF = {"name": "net", "id": None}


def template(**properties: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "server": {
                "type": "Vendor::Compute::Server",
                "properties": {
                    "image": "cirros", "flavor": "m1.nano", "metadata": {"role": "one"}, "racks": ["r1", "r2"],
                    "networks": [{"port": {"get_attr": ["port", "show", "id"]}}], **properties,
                },
            },
            "port": {"type": "Vendor::Net::DownPort", "properties": {"network": "private"}},
            "word": {"type": "Vendor::Util::RandomWord", "properties": {"length": 7}},
        },
        "outputs": {
            "registered": {"value": {"get_attr": ["server", "registered"]}},
            "address": {"value": {"get_attr": ["server", "first_address"]}},
            "port": {"value": {"get_resource": "port"}},
            "status": {"value": {"get_attr": ["port", "show", "admin_state_up"]}},
            "word": {"value": {"get_attr": ["word", "value"]}},
        },
    }  # fmt: skip


def listed(world: World, path: str, key: str) -> list[dict[str, Any]]:
    found = world.served.call("GET", path, token=world.served.token("demo", "demo"))
    return list(found.json[key])


def servers(world: World) -> list[dict[str, Any]]:
    return listed(world, "/compute/v2.1/servers/detail", "servers")


async def test_derived_type_lifecycle(begin: Begin) -> None:
    """Handlers extend those of the own type with super(): values, IDs, data, checks and attributes are shared."""
    world = await begin()
    stack = await world.create("net", template())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    (server,) = servers(world)
    assert server["metadata"] == {"role": "one", "by": "handle_create"} and server["status"] == "ACTIVE"
    (registered,) = appliance.OBJECTS.values()
    assert registered["id"] == server["id"] and registered["status"] == "ACTIVE"
    rows = await world.resources("net")
    outputs = world.outputs(stack)
    assert rows["server"]["physical_id"] == server["id"]
    assert outputs["registered"] == "yes" and outputs["address"] and len(outputs["word"]) == 7
    assert outputs["status"] is False and outputs["port"] == f"port:{rows['port']['physical_id']}"

    stack = await world.update("net", template(racks=["r3"]))
    assert stack["status"] == "COMPLETE" and registered["racks"] == ["r3"], stack["status_reason"]
    stack = await world.update("net", template(racks=["r3"], metadata={"role": "two"}))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    (changed,) = servers(world)
    assert changed["id"] == server["id"] and changed["metadata"] == {"role": "two", "by": "handle_update"}

    for action in ("suspend", "resume", "check"):
        await world.call("stack_action", ref=REF, action=action)
        stack = await world.settle(stack["id"])
        assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert (await world.delete("net"))["status"] == "COMPLETE"
    assert appliance.OBJECTS == {} and servers(world) == [] and appliance.CALLS[-1].startswith("delete")


async def test_values_refused_by_native_type_and_plug_in(begin: Begin) -> None:
    """Both checks apply; a property that the plug-in has removed does not exist."""
    world = await begin()
    with pytest.raises(TemplateInvalid, match="there is no rack of this name"):
        await world.create("net", template(racks=["none"], networks=[{"network": "private"}]))
    with pytest.raises(TemplateInvalid, match="no-such-image"):
        await world.create("net", template(image="no-such-image"))
    definition = template()
    definition["resources"]["port"]["properties"]["value_specs"] = {}
    with pytest.raises(TemplateInvalid, match="unknown property 'value_specs'"):
        await world.create("net", definition)


async def test_failures_and_interruptions(begin: Begin) -> None:
    """A refusal of the service fails the resource, and a busy service is asked again.

    An object whose handler was interrupted is known, and deleted.
    """
    world = await begin()
    stack = await world.create("net", template(availability_zone="nowhere"))
    assert stack["status"] == "FAILED" and "resources.server" in stack["status_reason"]
    assert (await world.delete("net"))["status"] == "COMPLETE" and servers(world) == []
    busy = Fault(on="POST /compute/v2.1/servers", do="fail", status=503, times=2)
    world.in_cloud(lambda: world.served.cloud.faults.add(busy))
    assert (await world.create("net", template()))["status"] == "COMPLETE" and len(servers(world)) == 1
    assert (await world.delete("net"))["status"] == "COMPLETE"

    appliance.hold("label")
    await world.call("stack_create", name="net", template=template(fault="label"))
    world = await interrupted(world, begin, "label")
    stack = await ended(world)
    assert stack["status"] == "FAILED" and "handle_create of the plug-in was running" in stack["status_reason"]
    appliance.GATES.pop("label").set()
    (server,) = servers(world)
    assert (await world.resources("net"))["server"]["physical_id"] == server["id"]
    assert (await world.delete("net"))["status"] == "COMPLETE"
    assert servers(world) == [] and appliance.OBJECTS == {}
