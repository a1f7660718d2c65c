"""Plans of deletions look at the cloud, and plans report objects of other owners that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import BadValue, TemplateInvalid
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

VOLUMES = "/volume/v3/volumes"
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}


async def removal_of(world: World, **arguments: Any) -> dict[str, Any]:
    found = await world.call("stack_action_preview", ref=REF, action="delete", **arguments)
    return dict(found["plan"])


def codes(plan: dict[str, Any]) -> dict[str, list[str]]:
    """The codes of the reasons of each removal that say more than that the stack is deleted."""
    found = reasons_of(plan)
    assert {kind for _, kind in found} == {"delete"}
    general = {"stack-deleted", "nested-stack-deleted"}
    reported = {path: [code for code in codes if code not in general] for (path, _), codes in found.items()}
    return {path: codes for path, codes in reported.items() if codes}


async def test_deletion_plan_shows_missing_and_changed_objects(world: World) -> None:
    made = template(server=SERVER, net=net(name="mine"), volume=VOLUME, inner={"type": "child.yaml"})
    await world.create("web", made, files=nested(disk=VOLUME, net=net(name="inner")))
    await rename(world, "net")
    change_outside(world, "DELETE", f"/compute/v2.1/servers/{await object_of(world, 'server')}")
    change_outside(world, "DELETE", f"{VOLUMES}/{await object_of(world, 'disk', 1)}")
    plan = await removal_of(world)
    assert codes(plan) == {
        "server": ["deleted-outside"],
        "net": ["changed-outside"],
        "volume": ["data-lost"],
        "inner.disk": ["deleted-outside"],
    }
    compared = plan["compared"]
    assert (compared["resources"], compared["in_sync"], compared["differing"]) == (5, 2, 3)
    assert compared["at"].endswith("Z")
    shown = [reason["message"] for step in plan["steps"] for reason in step["reasons"]]
    assert "its object was deleted outside Stoker" in shown
    assert "name changed outside Stoker" in shown

    seen = requests_of(world)
    recorded = await removal_of(world, refresh="none")
    assert not seen
    assert codes(recorded)["server"] == ["data-lost"]
    assert "compared" not in recorded and recorded["refresh"] == "none"
    assert plan["digest"] == recorded["digest"], "the deletion does the same, whatever is gone already"
    change_outside(world, "DELETE", f"{VOLUMES}/{await object_of(world, 'volume')}")
    stack = await world.delete("web", plan_digest=plan["digest"])
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")


async def test_unavailable_service_does_not_prevent_deletion_plan(world: World) -> None:
    await world.create("web", template(net=net(name="mine"), volume=VOLUME))
    await rename(world, "net")
    world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on="GET /volume/*", do="fail", status=503)))
    plan = await removal_of(world)
    world.in_cloud(world.served.cloud.faults.clear)
    assert codes(plan) == {"net": ["changed-outside"], "volume": ["data-lost"]}
    assert [(each["path"], each["cause"]) for each in plan["compared"]["not_compared"]] == [("volume", "service")]


async def test_retained_objects_are_reported_with_drift(world: World) -> None:
    await world.create("web", template(net={**net(name="mine"), "deletion_policy": "Retain"}, volume=VOLUME))
    await rename(world, "net")
    change_outside(world, "DELETE", f"{VOLUMES}/{await object_of(world, 'volume')}")
    plan = await removal_of(world, retain=["volume"])
    assert codes(plan) == {"net": ["changed-outside", "object-retained"], "volume": ["deleted-outside"]}


async def test_creation_rollback_plan_refreshes_and_cannot_retain(world: World) -> None:
    broken = {"type": "OS::Nova::KeyPair", "properties": {"name": "odd", "public_key": "ssh-rsa AAAA"}}
    made = template(net=net(name="mine"), broken={**broken, "depends_on": "net"})
    stack = await world.create("web", made, disable_rollback=True)
    assert stack["status"] == "FAILED"
    await rename(world, "net")
    plan = (await world.call("stack_action_preview", ref=REF, action="rollback"))["plan"]
    assert "changed-outside" in reasons_of(plan)["net", "delete"]
    recorded = (await world.call("stack_action_preview", ref=REF, action="rollback", refresh="none"))["plan"]
    assert "changed-outside" not in reasons_of(recorded)["net", "delete"]
    with pytest.raises(BadValue, match="Only a deletion"):
        await world.call("stack_action_preview", ref=REF, action="rollback", retain=["net"])


async def test_missing_referenced_object_is_reported_only(world: World) -> None:
    theirs = change_outside(world, "POST", NETWORKS, {"network": {"name": "theirs"}})["network"]["id"]
    made = template(theirs={"type": "OS::Neutron::Net", "external_id": theirs}, own=net(name="mine"))
    await world.create("web", made)
    drift = (await world.call("stack_patch_preview", ref=REF, converge=True))["plan"]
    assert (drift["compared"]["differing"], reasons_of(drift)) == (0, {})
    change_outside(world, "DELETE", f"{NETWORKS}/{theirs}")
    await rename(world, "own")
    drift = (await world.call("stack_patch_preview", ref=REF, converge=True))["plan"]
    assert reasons_of(drift) == {("own", "update"): ["changed-outside"]}
    (step,) = (step for step in drift["steps"] if step["path"] == "theirs")
    assert (step["kind"], [reason["code"] for reason in step["reasons"]]) == (
        "keep",
        ["deleted-outside", "external-gone"],
    )
    assert drift["compared"]["differing"] == 2
    assert codes(await removal_of(world)) == {"theirs": ["deleted-outside"], "own": ["changed-outside"]}
    with pytest.raises(TemplateInvalid, match="theirs"):
        await world.update("web", made, refresh="all")
    stack = await world.delete("web")
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")
