"""Plans of rollbacks and of restorations look at the cloud; carrying them out corrects what they show."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import BadValue, PlanOutdated
from testing.harness import World
from tests.engine.test_looking_plans import (
    NETWORKS,
    REF,
    SERVER,
    change_outside,
    nested,
    net,
    object_of,
    reasons_of,
    rename,
    requests_of,
    template,
)

BROKEN = {"type": "OS::Nova::KeyPair", "properties": {"name": "odd", "public_key": "ssh-rsa AAAA"}}


async def preview(world: World, action: str, **arguments: Any) -> dict[str, Any]:
    return dict((await world.call("stack_action_preview", ref=REF, action=action, **arguments))["plan"])


async def failed(world: World, **resources: Any) -> dict[str, Any]:
    """A stack whose update, which only adds a resource, has failed; its networks are `mine`."""
    files = nested(within=net(name="within"))
    made = await world.create("web", template(net=net(name="mine"), **resources), files=files, disable_rollback=True)
    after = template(net=net(name="mine"), broken={**BROKEN, "depends_on": "net"}, **resources)
    stack = await world.update("web", after, files=files, disable_rollback=True)
    assert (made["status"], stack["status"]) == ("COMPLETE", "FAILED")
    return stack


async def name_of(world: World, resource: str, depth: int = 0) -> str:
    path = f"{NETWORKS}/{await object_of(world, resource, depth)}"
    return str(world.served.call("GET", path, None, world.served.token("demo", "demo")).json["network"]["name"])


async def rolled_back(world: World, stack: dict[str, Any], **arguments: Any) -> None:
    await world.call("stack_action", ref=REF, action="rollback", **arguments)
    after = await world.settle(stack["id"])
    assert (after["action"], after["status"]) == ("ROLLBACK", "COMPLETE")


async def test_rollback_restores_drifted_and_missing_objects(world: World) -> None:
    stack = await failed(world, server=SERVER, inner={"type": "child.yaml"})
    server = await object_of(world, "server")
    change_outside(world, "DELETE", f"/compute/v2.1/servers/{server}")
    await rename(world, "net")
    await rename(world, "within", 1)
    plan = await preview(world, "rollback", refresh="all")
    reasons = reasons_of(plan)
    assert reasons["net", "update"] == reasons["inner.within", "update"] == ["changed-outside"]
    assert reasons["server", "create"] == ["deleted-outside"]
    assert plan["refresh"] == plan["compared"]["refresh"] == "all"
    assert plan["compared"]["at"].endswith("Z")
    with pytest.raises(PlanOutdated):
        await world.call("stack_action", ref=REF, action="rollback", plan_digest=plan["digest"], refresh="none")
    await rolled_back(world, stack, plan_digest=plan["digest"], refresh="all")
    assert await name_of(world, "net") == "mine"
    assert await name_of(world, "within", 1) == "within"
    assert await object_of(world, "server") != server


async def test_rollback_refreshes_dependencies_and_corrects_planned_drift(world: World) -> None:
    port: dict[str, Any] = {
        "type": "OS::Neutron::Port",
        "properties": {"network": {"get_resource": "net"}, "name": "first"},
    }
    before = template(net=net(name="mine"), other=net(name="other"), port=port)
    await world.create("web", before, disable_rollback=True)
    renamed: dict[str, Any] = {**port, "properties": {**port["properties"], "name": "second"}}
    broken = {**BROKEN, "depends_on": "port"}
    after = template(net=net(name="mine"), other=net(name="other"), port=renamed, broken=broken)
    stack = await world.update("web", after, disable_rollback=True)
    assert stack["status"] == "FAILED"
    await rename(world, "net")
    await rename(world, "other")
    plan = await preview(world, "rollback")
    assert reasons_of(plan)["net", "update"] == ["changed-outside"]
    assert ("other", "update") not in reasons_of(plan)
    assert (plan["refresh"], plan["compared"]["differing"]) == ("changes", 1)
    await rolled_back(world, stack, plan_digest=plan["digest"])
    assert await name_of(world, "net") == "mine"
    assert await name_of(world, "other") == "theirs"


async def test_rollback_without_refresh_uses_the_record(world: World) -> None:
    stack = await failed(world)
    await rename(world, "net")
    seen = requests_of(world)
    plan = await preview(world, "rollback", refresh="none")
    assert "network" not in seen
    assert (plan["refresh"], plan.get("compared")) == ("none", None)
    await rolled_back(world, stack)
    assert await name_of(world, "net") == "theirs"


async def test_rollback_with_refresh_corrects_drift_without_plan(world: World) -> None:
    stack = await failed(world)
    await rename(world, "net")
    with pytest.raises(BadValue, match="Only a rollback"):
        await world.call("stack_action", ref=REF, action="check", refresh="all")
    await rolled_back(world, stack, refresh="all")
    assert await name_of(world, "net") == "mine"


async def test_restore_reverts_drift(world: World) -> None:
    stack = await world.create("web", template(net=net(name="mine"), gone=net(name="gone")))
    taken = await world.call("snapshot_create", ref=REF, name="before")
    await world.settle(stack["id"])
    await rename(world, "net")
    change_outside(world, "DELETE", f"{NETWORKS}/{await object_of(world, 'gone')}")
    recorded = await preview(world, "restore", snapshot_id=taken["id"], refresh="none")
    assert (reasons_of(recorded), recorded["refresh"]) == ({}, "none")
    plan = await preview(world, "restore", snapshot_id=taken["id"])
    assert reasons_of(plan)["net", "update"] == ["changed-outside"]
    assert reasons_of(plan)["gone", "create"] == ["deleted-outside"]
    await world.call("snapshot_restore", ref=REF, snapshot_id=taken["id"], plan_digest=plan["digest"])
    after = await world.settle(stack["id"])
    assert (after["action"], after["status"]) == ("RESTORE", "COMPLETE")
    assert await name_of(world, "net") == "mine"
    assert await name_of(world, "gone") == "gone"
