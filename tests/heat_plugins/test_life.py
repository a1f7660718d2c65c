"""The life of resources whose types are classes of Heat's plug-in interface."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from tests.heat_plugins import appliance
from tests.heat_plugins.conftest import Begin

MEMBERS = [{"address": "10.0.0.1"}, {"address": "10.0.0.2", "weight": 5}]


def template(**properties: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "device": {"type": "Vendor::Net::Device", "properties": {"ip": "192.0.2.1", "password": "secret"}},
            "pool": {
                "type": "Vendor::Net::Pool",
                "properties": {"device": {"get_resource": "device"}, "members": MEMBERS, **properties},
            },
            "token": {"type": "Vendor::Util::Token", "properties": {"Length": 3}},
        },
        "outputs": {
            "size": {"value": {"get_attr": ["pool", "size"]}},
            "reference": {"value": {"get_resource": "pool"}},
            "token": {"value": {"get_attr": ["token", "Value"]}},
            "token_reference": {"value": {"get_resource": "token"}},
        },
    }


async def test_create_update_and_delete(begin: Begin) -> None:
    """Values have defaults, the check is polled, attributes and references are read, changes are made in place."""
    world = await begin()
    stack = await world.create("net", template())
    assert (stack["action"], stack["status"]) == ("CREATE", "COMPLETE"), stack["status_reason"]
    ((identifier, made),) = appliance.OBJECTS.items()
    assert made["members"] == [{"address": "10.0.0.1", "weight": 1}, {"address": "10.0.0.2", "weight": 5}]
    assert made["port"] == 80 and made["name"].startswith("net-pool-")
    assert world.outputs(stack) == {
        "size": 2,
        "reference": f"pool-{identifier}",
        "token": "xxx",
        "token_reference": "token",
    }
    resources = await world.resources("net")
    assert resources["pool"]["physical_id"] == identifier

    stack = await world.update("net", template(port=443))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert appliance.OBJECTS[identifier]["before"] == 80 and appliance.OBJECTS[identifier]["port"] == 443

    stack = await world.update("net", template(port=443, method="least"))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert [name.split()[0] for name in appliance.CALLS] == ["create", "change", "change", "create", "delete"]

    stack = await world.update("net", template(port=444, method="least", fault="replace"))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert [name.split()[0] for name in appliance.CALLS][5:] == ["change", "create", "delete"]
    await world.delete("net")
    assert appliance.OBJECTS == {}


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"port": 0}, "0 is less than 1"),
        ({"method": "random"}, "'random' is not one of"),
        ({"members": [{"weight": 1}]}, "'address' is required"),
        ({"unknown": 1}, "unknown property"),
    ],
)
async def test_values_refused_by_declarations(begin: Begin, properties: dict[str, Any], problem: str) -> None:
    world = await begin()
    with pytest.raises(TemplateInvalid, match=problem):
        await world.create("net", template(**properties))
    assert appliance.CALLS == []


async def test_errors_of_handlers(begin: Begin) -> None:
    """The reason is that of the plug-in; its secrets are not in it, and a failed object is deleted with the stack."""
    world = await begin()
    stack = await world.create("net", template(fault="create"))
    assert stack["status"] == "FAILED"
    assert "ValueError: resources.pool: no room" in stack["status_reason"]
    await world.delete("net")
    stack = await world.create("net", template(method="least", members=[]))
    assert "The method least needs members." in stack["status_reason"]
    await world.delete("net")
    assert appliance.OBJECTS == {}


async def test_actions_signals_and_secrets(begin: Begin, caplog: pytest.LogCaptureFixture) -> None:
    """Suspend, resume and check call the plug-in; signals are recorded; what is redacted is not shown.

    An attribute that cannot be read is null, and the others keep their values.
    """
    world = await begin()
    stack = await world.create("net", template())
    ref = {"name": "net", "id": None}
    ((identifier, made),) = appliance.OBJECTS.items()
    for action, suspended in (("suspend", True), ("resume", False)):
        await world.call("stack_action", ref=ref, action=action)
        assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
        assert made["suspended"] is suspended
    await world.call("resource_signal", ref=ref, name="pool", details={"word": "ready"})
    exported = await world.call("stack_export", ref=ref)
    assert exported["resources"]["pool"]["resource_data"]["signal"] == "ready"
    assert "s3cret-of-the-pool" not in str(exported)
    appliance.OBJECTS.clear()
    shown = await world.call("resource_show", ref=ref, name="pool", with_attr=["size", "secret"])
    assert shown["attributes"]["size"] is None and shown["attributes"]["secret"] is not None
    assert "cannot read the attribute size of pool: NotThere" in caplog.text and "s3cret" not in caplog.text
    await world.call("stack_action", ref=ref, action="check")
    stack = await world.settle(stack["id"])
    assert stack["status"] == "FAILED"
    assert f"NotThere: resources.pool: no object {identifier}" in stack["status_reason"]


async def test_an_object_in_error_is_created_again(begin: Begin) -> None:
    """ResourceInError of a check: the object is deleted, and another one created, a few times."""
    world = await begin()
    stack = await world.create("net", template(fault="check"))
    assert stack["status"] == "FAILED" and "no power" in stack["status_reason"]
    names = [call.split()[0] for call in appliance.CALLS]
    assert names.count("create") == 6 and names.count("delete") >= 5
    assert (await world.delete("net"))["status"] == "COMPLETE"
    assert appliance.OBJECTS == {}


async def test_clients_constraints_and_translation(begin: Begin) -> None:
    """A client plug-in has the owner's token and the catalog; a constraint asks it; names are resolved to IDs."""
    world = await begin()
    definition: dict[str, Any] = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "tap": {"type": "Vendor::Net::Tap", "properties": {"network": "blue", "provider": "public"}},
        },
        "outputs": {"seen": {"value": {"get_attr": ["tap", "seen"]}}},
    }
    stack = await world.create("tap", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    seen = world.outputs(stack)["seen"]
    assert seen["name"] == "public" and len(seen["id"]) == 36
    definition["resources"]["tap"]["properties"]["network"] = "green"
    with pytest.raises(TemplateInvalid, match=r"The network of the appliance \(green\) could not be found"):
        await world.create("other", definition)


async def test_a_replacement_is_prepared_and_reverted(begin: Begin) -> None:
    """The old object releases its port before the new one is created, and gets it back when that fails."""
    world = await begin()
    await world.create("net", template())
    ((identifier, made),) = appliance.OBJECTS.items()
    definition = template(method="least", fault="create")
    stack = await world.update("net", definition, disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE"), stack["status_reason"]
    assert appliance.CALLS[1:] == [f"change {identifier}", f"change {identifier}"]
    assert list(appliance.OBJECTS) == [identifier] and made["port"] == 80


async def test_the_plug_in_learns_that_its_operation_has_timed_out(begin: Begin) -> None:
    world = await begin()
    stack = await world.create("net", template(fault="never"), timeout_mins=1)
    assert stack["status"] == "FAILED" and "timed out" in stack["status_reason"].lower()
    (made,) = appliance.OBJECTS.values()
    assert made["cancelled"]
