"""What a deletion leaves in the cloud because its request, or the rollback of a creation, says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import BadValue, PlanOutdated
from stoker.store import ownership
from testing.harness import World

DISK = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
CHILD = """
heat_template_version: 2021-04-16
resources:
  disk: {type: OS::Cinder::Volume, properties: {size: 1}}
  net: {type: OS::Neutron::Net}
"""
FILES = {"child.yaml": CHILD}
NESTED = {"type": "child.yaml"}
NET = {"type": "OS::Neutron::Net"}
BROKEN = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
NO_DELETION = Fault(on="DELETE /volume/v3/*/volumes/*", do="fail", status=400)


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


def volumes(world: World) -> set[str]:
    answer = world.served.call("GET", "/volume/v3/volumes", token=world.served.token("demo", "demo"))
    return {volume["id"] for volume in answer.json["volumes"]}


async def preview(world: World, name: str, action: str = "delete", **how: Any) -> dict[str, list[str]]:
    """The reasons of each step of the plan by path."""
    found = await world.call("stack_action_preview", ref=ref(name), action=action, **how)
    return {step["path"]: [each["code"] for each in step["reasons"]] for step in found["plan"]["steps"]}


async def events_of(world: World, stack_id: str, name: str) -> list[tuple[str, str]]:
    """What the events of a resource say, in their order."""
    found = await world.call("event_list", ref={"name": None, "id": stack_id}, resource_name=name)
    return [(f"{each['action']}_{each['status']}", each["status_reason"]) for each in found]


# -- as the request says -----------------------------------------------------------------------------------------------


async def test_resources_at_the_paths_of_the_plan_keep_their_objects(world: World) -> None:
    await world.create("some", template(nested=NESTED, kept=DISK, gone=DISK), files=FILES)
    rows = await world.resources("some", 1)
    retain = ["kept", "nested.disk"]
    planned = await preview(world, "some", retain=retain)
    assert planned["kept"] == ["stack-deleted", "retained-by-request"]
    assert planned["nested.disk"] == ["nested-stack-deleted", "retained-by-request"]
    assert planned["gone"] == ["stack-deleted", "data-lost"]
    gone = await world.delete("some", retain=retain)
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    assert volumes(world) == {rows["kept"]["physical_id"], rows["disk"]["physical_id"]}
    assert (await world.call("stack_list", show_nested=True))["stacks"] == []
    assert ("DELETE_COMPLETE", "its object is retained, as requested") in await events_of(world, gone["id"], "kept")


async def test_another_stack_can_own_what_was_retained(world: World) -> None:
    await world.create("first", template(kept=DISK))
    kept = (await world.resources("first"))["kept"]["physical_id"]
    await world.delete("first", retain=["kept"])
    holders = await world.engine.services.database.read(lambda connection: list(ownership.holders(connection, [kept])))
    assert holders == []


async def test_a_retained_nested_stack_is_not_planned_to_be_removed(world: World) -> None:
    await world.create("tree", template(nested=NESTED), files=FILES)
    rows = await world.resources("tree", 1)
    planned = await preview(world, "tree", retain=["nested"])
    assert planned == {"nested": ["stack-deleted", "retained-by-request"]}
    gone = await world.delete("tree", retain=["nested"])
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    left = await world.call("stack_show", ref={"name": None, "id": rows["nested"]["physical_id"]})
    assert left["status"] == "COMPLETE"
    assert volumes(world) == {rows["disk"]["physical_id"]}


async def test_the_paths_must_exist(world: World) -> None:
    await world.create("some", template(nested=NESTED), files=FILES)
    for wrong, hint in {"nested.disc": "did you mean 'nested.disk'", "x": "no resource 'x'"}.items():
        for call, how in {"stack_delete": {}, "stack_action_preview": {"action": "delete"}}.items():
            with pytest.raises(BadValue, match=hint):
                await world.call(call, ref=ref("some"), retain=[wrong], **how)


async def test_a_plan_without_retention_is_not_the_plan_with_it(world: World) -> None:
    await world.create("some", template(kept=DISK))
    found = await world.call("stack_action_preview", ref=ref("some"), action="delete", retain=["kept"])
    digest = found["plan"]["digest"]
    for other in ({}, {"retain": ["kept"], "force": True}):
        with pytest.raises(PlanOutdated):
            await world.call("stack_delete", ref=ref("some"), plan_digest=digest, **other)
    gone = await world.delete("some", retain=["kept"], plan_digest=digest)
    assert gone["status"] == "COMPLETE" and len(volumes(world)) == 1


async def test_only_deletions_retain(world: World) -> None:
    await world.create("some", template(kept=DISK))
    with pytest.raises(BadValue, match="Only a deletion"):
        await preview(world, "some", "rollback", force=True)


async def test_a_retry_retains_the_same(world: World) -> None:
    await world.create("some", template(kept=DISK, gone={**DISK, "depends_on": "kept"}))
    kept = (await world.resources("some"))["kept"]["physical_id"]
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(NO_DELETION))
    assert (await world.delete("some", retain=["kept"]))["status"] == "FAILED"
    world.in_cloud(lambda: world.served.cloud.faults.remove(rule.id))
    stack = await world.call("stack_show", ref=ref("some"))
    await world.call("stack_action", ref=ref("some"), action="retry")
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert volumes(world) == {kept}


# -- by force ----------------------------------------------------------------------------------------------------------


async def test_forced_deletion_skips_and_names_undeletable_objects(world: World) -> None:
    await world.create("stuck", template(nested=NESTED, disk=DISK, net=NET), files=FILES)
    rows = {**await world.resources("stuck", 1)}
    own = (await world.resources("stuck"))["disk"]["physical_id"]
    world.in_cloud(lambda: world.served.cloud.faults.add(NO_DELETION))
    failed = await world.delete("stuck")
    assert failed["status"] == "FAILED"
    gone = await world.delete("stuck", force=True)
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    left = volumes(world)
    assert own in left and len(left) == 2
    (inner,) = left - {own}
    assert f"disk (OS::Cinder::Volume {own})" in gone["status_reason"]
    assert f"nested.disk (OS::Cinder::Volume {inner})" in gone["status_reason"]
    output = await events_of(world, gone["id"], "disk")
    assert output[-1][0] == "DELETE_COMPLETE" and "left behind" in output[-1][1] and "400" in output[-1][1]
    assert (await world.call("stack_list", show_nested=True))["stacks"] == []
    networks = world.served.call("GET", "/network/v2.0/networks", token=world.served.token("demo", "demo"))
    assert rows["net"]["physical_id"] not in {net["id"] for net in networks.json["networks"]}


async def test_a_forced_deletion_deletes_what_can_be_deleted(world: World) -> None:
    await world.create("fine", template(disk=DISK))
    gone = await world.delete("fine", force=True)
    assert (gone["status"], gone["status_reason"]) == ("COMPLETE", "Stack DELETE completed successfully")
    assert volumes(world) == set()


# -- RetainExceptOnCreate ----------------------------------------------------------------------------------------------


def amazon(**resources: Any) -> dict[str, Any]:
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def disk(policy: str = "RetainExceptOnCreate", **keys: Any) -> dict[str, Any]:
    return {"Type": "OS::Cinder::Volume", "Properties": {"size": 1}, "DeletionPolicy": policy, **keys}


def broken(*after: str) -> dict[str, Any]:
    return {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}, "DependsOn": list(after)}


async def test_objects_in_use_are_retained(world: World) -> None:
    await world.create("used", amazon(disk=disk()))
    assert (await preview(world, "used"))["disk"] == ["stack-deleted", "object-retained"]
    assert (await world.delete("used"))["status"] == "COMPLETE"
    assert len(volumes(world)) == 1


async def test_the_rollback_of_a_creation_deletes_what_was_never_in_use(world: World) -> None:
    definition = amazon(disk=disk(), kept=disk("Retain"), broken=broken("disk", "kept"))
    stack = await world.create("new", definition, disable_rollback=True)
    assert stack["status"] == "FAILED"
    kept = (await world.resources("new"))["kept"]["physical_id"]
    planned = await preview(world, "new", "rollback")
    assert planned["disk"] == ["creation-rolled-back", "data-lost"]
    assert planned["kept"] == ["creation-rolled-back", "object-retained"]
    await world.call("stack_action", ref=ref("new"), action="rollback")
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert volumes(world) == {kept}


async def test_a_deletion_after_a_failed_creation_retains(world: World) -> None:
    """As with AWS: only a rollback is an exception."""
    await world.create("new", amazon(disk=disk(), broken=broken("disk")), disable_rollback=True)
    assert (await preview(world, "new"))["disk"] == ["stack-deleted", "object-retained"]
    assert (await world.delete("new"))["status"] == "COMPLETE"
    assert len(volumes(world)) == 1


async def test_the_rollback_of_an_update_deletes_what_the_update_has_created(world: World) -> None:
    """Also below a nested stack, whose own update was complete; and what served before is used again."""
    child = json.dumps(amazon(inner=disk()))
    larger = json.dumps(amazon(inner=disk(), added=disk()))
    with_nested = amazon(old=disk(), nested={"Type": "child.template"})
    stack = await world.create("grown", with_nested, files={"child.template": child})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    before = volumes(world)
    assert len(before) == 2
    definition = amazon(
        old=disk(),
        nested={"Type": "child.template"},
        new=disk(),
        broken=broken("new", "nested"),
    )
    stack = await world.update("grown", definition, files={"child.template": larger}, disable_rollback=True)
    assert stack["status"] == "FAILED" and len(volumes(world)) == 4
    planned = await preview(world, "grown", "rollback")
    assert planned["new"] == ["not-in-template", "data-lost"]
    assert planned["nested.added"] == ["not-in-template", "data-lost"]
    await world.call("stack_action", ref=ref("grown"), action="rollback")
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert volumes(world) == before
    stack = await world.update("grown", amazon(new=disk()))
    assert stack["status"] == "COMPLETE" and before < volumes(world)
