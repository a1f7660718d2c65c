"""Resource types that policy refuses to a user, under other names."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import Forbidden
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import World

REFUSED = "OS::Nova::Flavor"
FLAVOR = {"ram": 64, "vcpus": 1}
EVASIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "an alias": ("My::Size", {"My::Size": REFUSED}),
    "an alias of an alias": ("My::Size", {"My::Size": "My::Other", "My::Other": REFUSED}),
    "a wildcard": ("My::Flavor", {"My::*": "OS::Nova::*"}),
    "an override of a permitted type": ("OS::Heat::Value", {"OS::Heat::Value": REFUSED}),
    "an override of one resource": ("OS::Heat::Value", {"resources": {"r": {"OS::Heat::Value": REFUSED}}}),
    "the name itself": (REFUSED, {}),
}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        found = await World(tmp_path / "stoker.db", served, settings=EngineSettings(enable_stack_adopt=True)).start()
        found.context = replace(found.context, denied_types=(REFUSED, "OS::Keystone::*"))
        try:
            yield found
        finally:
            await found.stop()


def template(type_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
    resource = {"type": type_name, "properties": FLAVOR if properties is None else properties}
    return {"heat_template_version": "2018-08-31", "resources": {"r": resource}}


def arguments(written: str, registry: dict[str, Any], shape: str) -> dict[str, Any]:
    inner = template(written)
    files: dict[str, str] = {}
    if shape == "nested":
        files = {"inner.yaml": json.dumps(inner)}
        outer = template("inner.yaml", {})
    elif shape == "group":
        member = {"type": written, "properties": FLAVOR}
        outer = template("OS::Heat::ResourceGroup", {"count": 1, "resource_def": member})
    else:
        outer = inner
    return {"template": outer, "environment": {"resource_registry": registry}, "files": files}


@pytest.mark.parametrize("shape", ["plain", "nested", "group"])
@pytest.mark.parametrize("evasion", EVASIONS)
async def test_a_refused_type_under_another_name(world: World, evasion: str, shape: str) -> None:
    """A user makes a resource of a type that policy refuses, by a name that the resource registry maps to it."""
    written, registry = EVASIONS[evasion]
    if shape != "plain" and "resources" in registry:
        registry = {"OS::Heat::Value": REFUSED}
    request = arguments(written, registry, shape)
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("stack_create", name="web", **request)
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("stack_preview", name="web", **request)
    await world.create("web", {"heat_template_version": "2018-08-31"})
    for verb in ("stack_update", "stack_update_preview"):
        with pytest.raises(Forbidden, match=REFUSED):
            await world.call(verb, ref={"name": "web", "id": None}, **request)
    record = {"type": written, "resource_id": "x", "name": "r", "status": "COMPLETE", "action": "CREATE"}
    adopted = {
        "name": "taken", "status": "COMPLETE", "action": "CREATE", "resources": {"r": record},
        "template": request["template"], "environment": request["environment"], "files": request["files"],
    }  # fmt: skip
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("stack_create", name="taken", adopt_stack_data=adopted, **request)


@pytest.mark.parametrize("evasion", EVASIONS)
async def test_a_validation_makes_nothing_of_a_refused_type(world: World, evasion: str) -> None:
    """As in Heat, a validation accepts the types that policy refuses, and creates nothing."""
    written, registry = EVASIONS[evasion]
    assert "Parameters" in await world.call("validate_template", **arguments(written, registry, "plain"))
    assert (await world.call("stack_list"))["stacks"] == []


async def test_a_permitted_alias_stays_permitted(world: World) -> None:
    """A check that is too strict: an alias of a permitted type must still work."""
    registry = {"resource_registry": {"My::Word": "OS::Heat::RandomString"}}
    made = await world.create("web", template("My::Word", {}), environment=registry)
    assert made["status"] == "COMPLETE"


INNER = {"heat_template_version": "2018-08-31", "resources": {"deep": {"type": REFUSED, "properties": FLAVOR}}}


def late(member_type: str, group: str, **settings: Any) -> dict[str, Any]:
    """A template with a group whose member type is the attribute of another resource."""
    member = {"type": {"get_attr": ["kind", "value"]}, "properties": {} if "yaml" in member_type else FLAVOR}
    key = "resource_def" if group == "OS::Heat::ResourceGroup" else "resource"
    resources = {
        "kind": {"type": "OS::Heat::Value", "properties": {"value": member_type}},
        "group": {"type": group, "properties": {key: member, **settings}},
    }
    return {"heat_template_version": "2018-08-31", "resources": resources}


GROUPS = {
    "OS::Heat::ResourceGroup": {"count": 1},
    "OS::Heat::AutoScalingGroup": {"min_size": 1, "max_size": 2},
}


@pytest.mark.parametrize("member_type", [REFUSED, "My::Size", "inner.yaml", "OS::Keystone::Role"])
@pytest.mark.parametrize("group", GROUPS)
async def test_a_refused_type_that_becomes_known_while_the_stack_is_created(
    world: World, group: str, member_type: str
) -> None:
    """A user names a type that policy refuses as the attribute of another resource, unknown when the request comes."""
    request = {
        "environment": {"resource_registry": {"My::Size": REFUSED}},
        "files": {"inner.yaml": json.dumps(INNER)},
    }
    stack = await world.create("web", late(member_type, group, **GROUPS[group]), **request)
    refused = "OS::Keystone::Role" if member_type.startswith("OS::Keystone") else REFUSED
    assert stack["status"] == "FAILED"
    assert f"You are not allowed to use the resource type {refused}" in stack["status_reason"], stack["status_reason"]
    assert "Forbidden: resources.group" in stack["status_reason"]
    rows = await world.listed({"name": "web", "id": None}, nested_depth=5)
    assert not [row for row in rows if row["type"] in (REFUSED, "OS::Keystone::Role")]


async def test_a_refused_type_in_a_group_that_grows_later(world: World) -> None:
    """A user creates a group without members, of a type known only later, and lets a signal add the first member."""
    policy = {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "adjustment_type": "change_in_capacity",
            "auto_scaling_group_id": {"get_resource": "group"},
            "scaling_adjustment": 1,
        },
    }
    body = late(REFUSED, "OS::Heat::AutoScalingGroup", min_size=0, max_size=2, desired_capacity=0)
    body["resources"]["policy"] = policy
    stack = await world.create("web", body)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    world.context = replace(world.context, denied_types=())  # a signal's caller defines nothing
    ref = {"name": "web", "id": None}
    with pytest.raises(Forbidden, match=REFUSED):
        await world.call("resource_signal", ref=ref, name="policy", details=None)
    stack = await world.settle(stack["id"])
    rows = await world.listed(ref, nested_depth=5)
    assert not [row for row in rows if row["type"] == REFUSED]


async def test_a_permitted_type_that_becomes_known_late_stays_permitted(world: World) -> None:
    """A check that is too strict: a group's permitted type may become known while the stack is created."""
    body = late("OS::Heat::RandomString", "OS::Heat::ResourceGroup", count=2)
    body["resources"]["group"]["properties"]["resource_def"]["properties"] = {}
    stack = await world.create("web", body)
    assert stack["status"] == "COMPLETE", stack["status_reason"]


async def test_an_update_counts_with_the_rights_of_its_own_user(world: World) -> None:
    """A user updates the stack of a colleague with more rights, so that a group gets members of a refused type."""
    allowed, world.context = world.context, replace(world.context, denied_types=())
    assert (await world.create("web", late("OS::Heat::RandomString", "OS::Heat::ResourceGroup", count=0)))[
        "status"
    ] == "COMPLETE"
    world.context = allowed
    stack = await world.update("web", late(REFUSED, "OS::Heat::ResourceGroup", count=1))
    assert stack["status"] == "FAILED"
    assert REFUSED in stack["status_reason"]
