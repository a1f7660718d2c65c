"""The plans of deletions, rollbacks and restorations: they are what is then done, and mark what loses data."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import Conflict, NotSupported, PlanOutdated
from testing.harness import World

CHILD = """
heat_template_version: 2021-04-16
resources:
  disk: {type: OS::Cinder::Volume, properties: {size: 1}}
"""
NET = {
    "net": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
    },
}
DISK = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
SERVER: dict[str, Any] = {
    "type": "OS::Nova::Server",
    "depends_on": "subnet",
    "properties": {"image": "cirros", "flavor": "m1.tiny", "networks": [{"network": {"get_resource": "net"}}]},
}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


async def preview(world: World, name: str, action: str, snapshot: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = await world.call("stack_action_preview", ref=ref(name), action=action, snapshot_id=snapshot)
    return found


def lost(plan: dict[str, Any]) -> dict[str, str]:
    """The resources whose steps lose data, with what is lost."""
    return {
        step["path"]: reason["subject"]
        for step in plan["steps"]
        for reason in step["reasons"]
        if reason["code"] == "data-lost"
    }


def acting(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """The steps of the stack itself that do something."""
    return [(step["kind"], step["path"]) for step in plan["steps"] if step["kind"] != "keep" and not step["depth"]]


async def last_plan(world: World, name: str) -> dict[str, Any]:
    """The plan that the last operation of the stack has recorded when it began."""
    ended = await world.call("operation_list", ref=ref(name))
    shown = await world.call("operation_show", ref=ref(name), operation_id=ended[0]["id"])
    plan: dict[str, Any] = shown["plan"]
    return plan


async def take(world: World, name: str) -> str:
    taken = await world.call("snapshot_create", ref=ref(name), name="before")
    await world.settle(taken["stack_id"])
    return str(taken["id"])


async def test_deletion_plan_shows_tree_and_lost_data(world: World) -> None:
    kept = {**DISK, "deletion_policy": "Retain"}
    saved = {**DISK, "deletion_policy": "Snapshot"}
    purged = {"type": "OS::Swift::Container", "properties": {"name": "one", "PurgeOnDelete": True}}
    full = {"type": "OS::Swift::Container", "properties": {"name": "two"}}
    resources = {"nested": {"type": "child.yaml"}, "kept": kept, "saved": saved, "purged": purged, "full": full}
    stack = await world.create(
        "whole", template(**NET, server=SERVER, disk=DISK, **resources), files={"child.yaml": CHILD}
    )
    snapshot = await take(world, "whole")
    found = await preview(world, "whole", "delete")
    plan = found["plan"]
    assert {step["kind"] for step in plan["steps"]} == {"delete"} and plan["action"] == "DELETE"
    paths = [step["path"] for step in plan["steps"]]
    assert paths.index("server") < paths.index("subnet") < paths.index("net")
    assert paths[paths.index("nested") + 1] == "nested.disk"
    assert lost(plan) == {
        "disk": "the data on the volume",
        "nested.disk": "the data on the volume",
        "server": "the data on the disks of the server",
        "purged": "the objects in the container",
    }
    assert found["snapshots"] == [{"id": snapshot, "name": "before"}]
    await world.call("stack_delete", ref=ref("whole"), plan_digest=plan["digest"])
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"


async def test_deletion_differing_from_its_plan_is_refused(world: World) -> None:
    stack = await world.create("moved", template(disk=DISK))
    digest = (await preview(world, "moved", "delete"))["plan"]["digest"]
    await take(world, "moved")
    with pytest.raises(PlanOutdated):
        await world.call("stack_delete", ref=ref("moved"), plan_digest=digest)
    digest = (await preview(world, "moved", "delete"))["plan"]["digest"]
    await world.update("moved", template(disk=DISK, net=NET["net"]))
    with pytest.raises(PlanOutdated):
        await world.call("stack_delete", ref=ref("moved"), plan_digest=digest)
    digest = (await preview(world, "moved", "delete"))["plan"]["digest"]
    await world.call("stack_delete", ref=ref("moved"), plan_digest=digest)
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"


async def test_a_preview_is_refused_where_the_action_is(world: World) -> None:
    await world.create("fine", template(disk=DISK))
    with pytest.raises(NotSupported):
        await preview(world, "fine", "rollback")
    await world.call("stack_settings_change", ref=ref("fine"), changes={"protected": True})
    with pytest.raises(Conflict):
        await preview(world, "fine", "delete")


async def test_rollback_equals_its_plan(world: World) -> None:
    broken = {"type": "OS::Heat::TestResource", "properties": {"fail": True}, "depends_on": "disk"}
    stack = await world.create("back", template(**NET, old={"type": "OS::Heat::TestResource"}))
    await world.update("back", template(**NET, disk=DISK, broken=broken))
    plan = (await preview(world, "back", "rollback"))["plan"]
    assert acting(plan) == [("delete", "broken"), ("delete", "disk")]
    assert lost(plan) == {"disk": "the data on the volume"}
    await world.call("stack_action", ref=ref("back"), action="rollback", plan_digest=plan["digest"])
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert acting(await last_plan(world, "back")) == acting(plan)
    assert set(await world.resources("back")) == {"net", "subnet", "old"}


async def test_the_rollback_of_a_creation_removes_everything(world: World) -> None:
    broken = {"type": "OS::Heat::TestResource", "properties": {"fail": True}, "depends_on": "disk"}
    stack = await world.create("never", template(disk=DISK, broken=broken))
    plan = (await preview(world, "never", "rollback"))["plan"]
    assert acting(plan) == [("delete", "broken"), ("delete", "disk")]
    assert {reason["code"] for step in plan["steps"] for reason in step["reasons"]} == {
        "creation-rolled-back",
        "data-lost",
    }
    await world.call("stack_action", ref=ref("never"), action="rollback", plan_digest=plan["digest"])
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert await world.resources("never") == {}


async def test_restore_equals_its_plan(world: World) -> None:
    definition = template(**NET, server=SERVER, disk=DISK, nested={"type": "child.yaml"})
    stack = await world.create("again", definition, files={"child.yaml": CHILD})
    snapshot = await take(world, "again")
    await world.update("again", template(**NET, server=SERVER, disk=DISK, more=DISK))
    plan = (await preview(world, "again", "restore", snapshot))["plan"]
    assert {("update", "disk"), ("update", "server"), ("create", "nested"), ("delete", "more")} == set(acting(plan))
    assert lost(plan) == {
        "disk": "the data on the volume since the backup",
        "server": "the data on the disks of the server",
        "more": "the data on the volume",
    }
    await world.call("snapshot_restore", ref=ref("again"), snapshot_id=snapshot, plan_digest=plan["digest"])
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert acting(await last_plan(world, "again")) == acting(plan)
    plan = (await preview(world, "again", "restore", snapshot))["plan"]
    assert lost(plan)["nested.disk"] == "the data on the volume since the backup"
    await take(world, "again")
    with pytest.raises(PlanOutdated):
        await world.call("snapshot_restore", ref=ref("again"), snapshot_id=snapshot, plan_digest=plan["digest"])


async def test_replacements_and_rebuilds_of_updates_are_marked(world: World) -> None:
    await world.create("changed", template(**NET, server=SERVER, disk=DISK))
    built = {**SERVER, "properties": {**SERVER["properties"], "image": "fedora", "image_update_policy": "REBUILD"}}
    smaller = {**DISK, "properties": {"size": 1, "availability_zone": "other"}}
    found = await world.call(
        "stack_update_preview", ref=ref("changed"), template=template(**NET, server=built, disk=smaller)
    )
    assert lost(found["plan"]) == {
        "disk": "the data on the volume",
        "server": "the data on the disks of the server",
    }
