"""Every object belongs to one resource at most."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from openstack_emulator.testing import ServedCloud
from stoker.store import ownership
from stoker.store.tables import resources
from testing.harness import RARE_HEARTBEATS, World

OBJECTS: Mapping[str, Any] = {
    "net": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"},
    },
    "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
    "server": {
        "type": "OS::Nova::Server",
        "properties": {"flavor": "m1.small", "image": "cirros", "networks": [{"subnet": {"get_resource": "subnet"}}]},
    },
    "address": {"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": "public"}},
    "key": {"type": "OS::Nova::KeyPair", "properties": {"name": "shared-key"}},
    "box": {"type": "OS::Swift::Container", "properties": {"name": "shared-box"}},
    "bucket": {"type": "AWS::S3::Bucket"},
    "queue": {"type": "OS::Zaqar::Queue", "properties": {"name": "shared-queue"}},
    "router": {"type": "OS::Neutron::Router"},
    "interface": {
        "type": "OS::Neutron::RouterInterface",
        "properties": {"router": {"get_resource": "router"}, "subnet": {"get_resource": "subnet"}},
    },
    "rules": {"type": "OS::Neutron::SecurityGroup"},
    "zone": {"type": "OS::Designate::Zone", "properties": {"name": "owned.example.", "email": "a@owned.example"}},
    "secret": {"type": "OS::Barbican::Secret", "properties": {"payload": "p"}},
    "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "c"}},
}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    settings = replace(RARE_HEARTBEATS, enable_stack_abandon=True, enable_stack_adopt=True)
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    yield world
    await world.stop()


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def ids(world: World, name: str) -> dict[str, Any]:
    return {key: row["physical_id"] for key, row in (await world.resources(name)).items()}


async def document(world: World, name: str) -> dict[str, Any]:
    exported = await world.call("stack_export", ref=ref(name))
    copied: dict[str, Any] = json.loads(json.dumps(exported))
    return copied


async def deletions(world: World) -> list[str]:
    entries = world.in_cloud(lambda: world.served.cloud.journal.select({}))
    return [entry["path"] for entry in entries if entry["method"] == "DELETE" and entry["service"] != "keystone"]


def with_ids(value: Any, had: Mapping[str, Any]) -> Any:
    """The value with the objects of a stack in place of references."""
    if isinstance(value, Mapping):
        if "get_resource" in value:
            return had[value["get_resource"]]
        return {key: with_ids(item, had) for key, item in value.items()}
    return [with_ids(item, had) for item in value] if isinstance(value, list) else value


async def adopted_again(world: World, name: str, *names: str) -> dict[str, Any]:
    """Adopt objects of the stack `first`, which keeps them, into another stack."""
    had, adopted = await ids(world, "first"), await document(world, "first")
    adopted["template"] = template(**{key: with_ids(OBJECTS[key], had) for key in names})
    adopted["resources"] = {key: value for key, value in adopted["resources"].items() if key in names}
    return await world.create(name, None, adopt_stack_data=adopted)


async def checked(world: World, name: str) -> str:
    await world.call("stack_action", ref=ref(name), action="check")
    shown = await world.call("stack_show", ref=ref(name))
    return str((await world.settle(shown["id"]))["status"])


async def make_first(world: World) -> dict[str, Any]:
    first = await world.create("first", template(**OBJECTS))
    assert first["status"] == "COMPLETE", first["status_reason"]
    return await ids(world, "first")


async def test_owned_object_is_refused_to_second_stack(world: World) -> None:
    had = await make_first(world)
    for name in sorted(OBJECTS):
        second = await adopted_again(world, "second", name)
        assert second["status"] == "FAILED", name
        assert f"belongs to the resource {name} of the stack first" in second["status_reason"]
        assert had[name] not in (await ids(world, "second")).values()
        before = await deletions(world)
        assert (await world.delete("second"))["status"] == "COMPLETE", name
        assert await deletions(world) == before, name
    assert await checked(world, "first") == "COMPLETE"


async def test_two_resources_of_a_stack_do_not_share_an_object(world: World) -> None:
    await make_first(world)
    document_of_both = await document(world, "first")
    entry = document_of_both["resources"]["net"]
    await world.call("stack_abandon", ref=ref("first"))
    document_of_both["template"] = template(one=OBJECTS["net"], two=OBJECTS["net"])
    document_of_both["resources"] = {"one": entry, "two": entry}

    stack = await world.create("both", None, adopt_stack_data=document_of_both)

    assert stack["status"] == "FAILED"
    found = [identifier for identifier in (await ids(world, "both")).values() if identifier]
    assert found == [entry["resource_id"]]


async def test_abandoned_or_retained_object_has_no_owner(world: World) -> None:
    await world.create("first", template(net=OBJECTS["net"]))
    abandoned = await document(world, "first")
    await world.call("stack_abandon", ref=ref("first"))
    second = await world.create("second", None, adopt_stack_data=abandoned)
    assert second["status"] == "COMPLETE", second["status_reason"]
    await world.update("second", template(net={**OBJECTS["net"], "deletion_policy": "Retain"}))
    await world.delete("second")
    third = await world.create("third", None, adopt_stack_data=abandoned)
    assert third["status"] == "COMPLETE", third["status_reason"]


@pytest.mark.parametrize("turns", [0, 1, 2, 4, 8])
async def test_one_of_two_interrupted_adoptions_owns_the_objects(world: World, turns: int) -> None:
    names = ("net", "volume", "address")
    await world.create("first", template(**{name: OBJECTS[name] for name in names}))
    had, abandoned = await ids(world, "first"), await document(world, "first")
    await world.call("stack_abandon", ref=ref("first"))
    made = [
        await world.call("stack_create", name=name, template=None, adopt_stack_data=abandoned)
        for name in ("second", "third")
    ]
    for _ in range(turns):
        await world.turn()
    await world.stop()
    await world.start()
    for stack in made:
        await world.settle(stack["id"])
    owners: dict[str, list[str]] = {}
    for name in ("second", "third"):
        for resource, identifier in (await ids(world, name)).items():
            if identifier:
                assert identifier == had[resource]
                owners.setdefault(resource, []).append(name)
    assert {resource: len(found) for resource, found in owners.items()} == dict.fromkeys(names, 1)


async def test_any_number_of_resources_may_refer_to_an_object(world: World) -> None:
    had = await make_first(world)
    user = template(
        **{name: {**with_ids(OBJECTS[name], had), "external_id": had[name]} for name in ("net", "volume", "key")}
    )
    for name in ("second", "third"):
        stack = await world.create(name, user)
        assert stack["status"] == "COMPLETE", stack["status_reason"]
    before = await deletions(world)
    for name in ("second", "third"):
        assert (await world.delete(name))["status"] == "COMPLETE"
    assert await deletions(world) == before
    assert (await world.delete("first"))["status"] == "COMPLETE"
    assert len(await deletions(world)) > len(before)


async def test_referenced_object_can_be_owned(world: World) -> None:
    await world.create("first", template(net=OBJECTS["net"]))
    adopted = await document(world, "first")
    await world.call("stack_abandon", ref=ref("first"))
    identifier = adopted["resources"]["net"]["resource_id"]
    await world.create("user", template(net={**OBJECTS["net"], "external_id": identifier}))

    stack = await world.create("owner", None, adopt_stack_data=adopted)

    assert stack["status"] == "COMPLETE", stack["status_reason"]


async def test_container_of_another_stack_is_not_taken(world: World) -> None:
    """Creating a container that exists succeeds in Swift."""
    await world.create("first", template(box=OBJECTS["box"]))
    second = await world.create("second", template(box=OBJECTS["box"]))
    assert "belongs to the resource box of the stack first" in second["status_reason"]
    await world.delete("second")
    assert await checked(world, "first") == "COMPLETE"


async def test_key_pair_is_replaced_under_the_same_name(world: World) -> None:
    def key(first: int) -> dict[str, Any]:
        blob = b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(range(first, first + 32))).decode()
        return {"type": "OS::Nova::KeyPair", "properties": {"name": "k", "public_key": f"ssh-ed25519 {blob} me@here"}}

    one, two = 0, 32
    assert (await world.create("first", template(key=key(one))))["status"] == "COMPLETE"
    stack = await world.update("first", template(key=key(two)))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    second = await world.create("second", template(key=key(two)))
    assert second["status"] == "FAILED"
    assert (await world.delete("first"))["status"] == "COMPLETE"


async def test_the_names_of_other_projects_are_hidden() -> None:
    holder = ownership.Holder("u", "net", "OS::Neutron::Net", "x", None, "s", "secret-stack", "theirs")
    taken = ownership.ObjectAlreadyOwned("x", holder)
    assert "secret-stack" in taken.named_for("theirs")
    assert "another project" in taken.named_for("mine")
    assert "secret-stack" not in taken.named_for("mine") + taken.message


async def test_unexamined_objects_count_as_owned(world: World) -> None:
    """Engines of the previous release record objects during an upgrade of the cluster."""
    await make_first(world)
    with world.database.writing() as connection:
        connection.execute(update(resources).values(ownership=None))
    second = await adopted_again(world, "second", "net")
    assert "belongs to the resource net of the stack first" in second["status_reason"]
