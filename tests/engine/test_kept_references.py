"""A replaced object that is referred to by a name of the template keeps its reference: what refers to it stays."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.resources.base import RestResource
from testing.harness import World
from tests.engine.test_looking_plans import SERVER, change_outside, object_of, plan_of, reasons_of, template

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJXg2hBfvjOYqWm3Bq3yQyT8gGkq5zEMqYcHJ0CC5Ijl demo@example.org"


def server(**properties: Any) -> dict[str, Any]:
    return {**SERVER, "properties": {**SERVER["properties"], **properties}}


def key_pair(name: str, **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Nova::KeyPair", "properties": {"name": name, "public_key": PUBLIC_KEY, **properties}}


async def test_deleted_key_pair_is_recreated_without_server_replacement(world: World) -> None:
    made = template(key=key_pair("mine"), server=server(key_name={"get_resource": "key"}))
    await world.create("web", made)
    kept = await object_of(world, "server")
    change_outside(world, "DELETE", "/compute/v2.1/os-keypairs/mine")
    plan = await plan_of(world, made)
    assert reasons_of(plan) == {
        ("key", "create"): ["deleted-outside"],
        ("key", "delete"): ["replaced", "deleted-outside"],
    }
    stack = await world.update("web", made, plan_digest=plan["digest"])
    assert (stack["status"], await object_of(world, "server")) == ("COMPLETE", kept)


async def test_a_key_pair_under_another_name_replaces_its_server(world: World) -> None:
    parts = {"server": server(key_name={"get_resource": "key"})}
    await world.create("web", template(key=key_pair("mine"), **parts))
    found = reasons_of(await plan_of(world, template(key=key_pair("other"), **parts)))
    assert {path for path, kind in found if kind == "replace"} == {"key", "server"}


async def test_attributes_of_a_replaced_object_with_the_same_name_may_change(world: World) -> None:
    value = {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["key", "public_key"]}}}
    made = template(key=key_pair("mine"), value=value)
    await world.create("web", made)
    change_outside(world, "DELETE", "/compute/v2.1/os-keypairs/mine")
    assert ("value", "update") in reasons_of(await plan_of(world, made))


@pytest.mark.parametrize("name", ["given", None])
async def test_recreated_container_keeps_its_given_name(world: World, name: str | None) -> None:
    container = {"type": "OS::Swift::Container", "properties": {"name": name} if name else {}}
    value = {"type": "OS::Heat::Value", "properties": {"value": {"get_resource": "container"}}}
    made = template(container=container, value=value)
    await world.create("web", made)
    project = world.context.project_id
    change_outside(world, "DELETE", f"/object-store/v1/AUTH_{project}/{await object_of(world, 'container')}")
    assert (("value", "update") in reasons_of(await plan_of(world, made))) is (name is None)


def test_types_declare_which_property_is_the_id(world: World) -> None:
    """The ID of an object that a property of the template chooses is declared: such a property is sent as the ID."""
    lacking = []
    for name, kind in world.engine.services.types.offered().items():
        if not isinstance(kind, RestResource) or (kind.id_is_new and kind.collection.id_field == "id"):
            continue
        sent = {prop.wire or key for key, prop in kind.properties.items()}
        if kind.collection.id_field in sent and not kind.id_property:
            lacking.append(name)
        assert not kind.id_property or kind.id_property in kind.properties
    assert lacking == []
