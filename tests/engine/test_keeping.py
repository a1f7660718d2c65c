"""What stays when a resource goes: deletion policies, in nested stacks too, and objects that are somebody else's."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import TemplateInvalid
from testing.harness import World

CHILD = """
heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net, deletion_policy: Retain}
  disk: {type: OS::Cinder::Volume, deletion_policy: Snapshot, properties: {size: 1}}
  gone: {type: OS::Neutron::Net}
"""
FILES = {"child.yaml": CHILD}
NET = {"type": "OS::Neutron::Net"}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def networks(world: World) -> dict[str, str]:
    answer = world.served.call("GET", "/network/v2.0/networks", token=world.served.token())
    return {network["id"]: network["name"] for network in answer.json["networks"]}


def backups(world: World) -> list[dict[str, Any]]:
    answer = world.served.call("GET", "/volume/v3/backups/detail?all_tenants=1", token=world.served.token())
    found: list[dict[str, Any]] = answer.json["backups"]
    return found


async def test_policies_hold_in_nested_stacks(world: World) -> None:
    await world.create("tree", template(nested={"type": "child.yaml"}), files=FILES)
    rows = await world.resources("tree", 1)
    gone = await world.delete("tree")
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    left = networks(world)
    assert rows["net"]["physical_id"] in left and rows["gone"]["physical_id"] not in left
    assert [backup["volume_id"] for backup in backups(world)] == [rows["disk"]["physical_id"]]
    assert (await world.call("stack_list", show_nested=True))["stacks"] == []


async def test_retained_nested_stack_survives(world: World) -> None:
    child = CHILD.replace(", deletion_policy: Retain", "")
    await world.create(
        "tree", template(nested={"type": "child.yaml", "deletion_policy": "Retain"}), files={"child.yaml": child}
    )
    rows = await world.resources("tree", 1)
    gone = await world.delete("tree")
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    assert {rows["net"]["physical_id"], rows["gone"]["physical_id"]} <= set(networks(world))
    child_id = rows["nested"]["physical_id"]
    await world.call("stack_delete", ref={"name": None, "id": child_id})
    gone = await world.settle(child_id)
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    assert not {rows["net"]["physical_id"], rows["gone"]["physical_id"]} & set(networks(world))


async def test_incomplete_copies_are_not_kept(world: World) -> None:
    broken = Fault(on="POST /volume/v3/*/volumes", do="error_state")
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(broken))
    disk = {"type": "OS::Cinder::Volume", "deletion_policy": "Snapshot", "properties": {"size": 1}}
    stack = await world.create("broken", template(disk=disk))
    assert stack["status"] == "FAILED"
    world.in_cloud(lambda: world.served.cloud.faults.remove(rule.id))
    gone = await world.delete("broken")
    assert gone["status"] == "COMPLETE", gone["status_reason"]
    assert backups(world) == []


@pytest.mark.parametrize("type_name", ["OS::Neutron::Net", "OS::Heat::RandomString", "OS::Heat::Value"])
async def test_snapshot_policy_requires_type_with_content(world: World, type_name: str) -> None:
    properties = {"value": "x"} if type_name == "OS::Heat::Value" else {}
    wrong = template(a={"type": type_name, "deletion_policy": "Snapshot", "properties": properties})
    with pytest.raises(TemplateInvalid, match="does not support snapshots"):
        await world.create("wrong", wrong)


def network(world: World) -> str:
    token = world.served.token("demo", "demo")
    made = world.served.call("POST", "/network/v2.0/networks", {"network": {"name": "theirs"}}, token=token)
    return str(made.json["network"]["id"])


async def test_external_object_is_never_changed(world: World) -> None:
    theirs = network(world)
    external = {**NET, "external_id": theirs, "properties": {"name": "mine"}}
    subnet = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"},
    }
    stack = await world.create("guest", template(net=external, subnet=subnet))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert (await world.resources("guest"))["net"]["physical_id"] == theirs
    renamed = {**external, "properties": {"name": "other"}}
    stack = await world.update("guest", template(net=renamed, subnet=subnet))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    for action in ("suspend", "resume", "check"):
        await world.call("stack_action", ref={"name": "guest", "id": None}, action=action)
        assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert networks(world)[theirs] == "theirs"
    await world.update("guest", template(word={"type": "OS::Heat::Value", "properties": {"value": "x"}}))
    assert networks(world)[theirs] == "theirs"


async def test_an_external_id_cannot_change(world: World) -> None:
    theirs, others = network(world), network(world)
    await world.create("guest", template(net={**NET, "external_id": theirs}))
    for changed in ({**NET, "external_id": others}, NET):
        stack = await world.update("guest", template(net=changed))
        assert stack["status"] == "FAILED"
        assert "external_id" in stack["status_reason"]
    await world.delete("guest")
    assert {theirs, others} <= set(networks(world))


async def test_missing_external_object_is_reported_before_creation(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="nowhere"):
        await world.create("guest", template(net={**NET, "external_id": "nowhere"}))
    assert (await world.call("stack_list"))["stacks"] == []
