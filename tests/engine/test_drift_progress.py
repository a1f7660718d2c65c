"""A detection of drift tells how far it is before it ends, and a plan of its result reads nothing again."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.faults import Fault
from testing.harness import World
from tests.engine.test_looking_plans import NETWORKS, REF, change_outside, net, object_of, rename, requests_of, template

GROUP = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": net()}}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}


async def detected(world: World) -> str:
    """Detect the drift of the stack `web`, and return the ID of the detection."""
    begun = await world.ended(world.call("drift_detect", ref=REF, names=None))
    await world.ended(world.engine.services.background.ended())
    return str(begun["id"])


async def plan_of(world: World, **arguments: Any) -> dict[str, Any]:
    """The plan that corrects the differences of the stack `web`."""
    found = await world.ended(world.call("stack_patch_preview", ref=REF, converge=True, **arguments))
    return dict(found["plan"])


async def test_results_are_shown_before_the_last_object_is_read(world: World) -> None:
    await world.create("web", template(net=net(name="mine"), group=GROUP, volume=VOLUME))
    await rename(world, "net")
    world.served.cloud.faults.add(Fault(on="GET /volume/*", do="delay", seconds=0.5))
    begun = await world.call("drift_detect", ref=REF, names=None)
    reported: list[dict[str, Any]] = []
    while not reported or reported[-1]["status"] == "IN_PROGRESS":
        await world.turn()
        reported.append(await world.call("drift_status", detection_id=begun["id"]))
    world.served.cloud.faults.clear()
    known = [each["progress"] for each in reported if each["progress"] is not None]
    differing = [{"path": "net", "type": "OS::Neutron::Net", "status": "MODIFIED"}]
    assert {"resources": 4, "compared": 3, "differing": differing} in known[:-1]
    assert known[-1] == {"resources": 4, "compared": 4, "differing": differing}
    assert reported[-1]["drift"] == "DRIFTED"


async def test_detection_plan_reuses_results(world: World) -> None:
    ignoring = {**net(name="other"), "ignore_drift": ["name"]}
    await world.create("web", template(net=net(name="mine"), ignoring=ignoring, group=GROUP, volume=VOLUME))
    await rename(world, "net")
    await rename(world, "ignoring")
    change_outside(world, "DELETE", f"/volume/v3/volumes/{await object_of(world, 'volume')}")
    looked = await plan_of(world, preflight=False)
    detection = await detected(world)
    asked = requests_of(world)
    known = await plan_of(world, detection=detection, preflight=False)
    assert asked == []
    assert looked["compared"].pop("at") <= known["compared"].pop("at")
    assert known["compared"]["differing"] == 2
    assert known == looked


async def test_outdated_detection_is_refused(world: World) -> None:
    await world.create("web", template(net=net(name="mine")))
    await rename(world, "net")
    detection = await detected(world)
    await world.update("web", template(net=net(name="yours")))
    asked = requests_of(world)
    assert (await plan_of(world, detection=detection))["compared"]["differing"] == 0
    assert asked


async def test_detections_of_other_stacks_and_of_parts_are_refused(world: World) -> None:
    await world.create("other", template(net=net()))
    elsewhere = await world.ended(world.call("drift_detect", ref={"name": "other", "id": None}, names=None))
    await world.create("web", template(net=net(name="mine"), second=net()))
    await world.ended(world.engine.services.background.ended())
    part = await world.ended(world.call("drift_detect", ref=REF, names=["net"]))
    await world.ended(world.engine.services.background.ended())
    for detection, code in ((elsewhere["id"], "EntityNotFound"), (part["id"], "BadValue"), ("none", "EntityNotFound")):
        refused = await _refused(world, detection)
        assert type(refused).__name__ == code


async def _refused(world: World, detection: str) -> Exception | None:
    try:
        await plan_of(world, detection=detection)
    except Exception as error:
        return error
    return None


async def test_nested_drift_has_paths(world: World) -> None:
    await world.create("web", template(group=GROUP))
    member = (await world.resources("web", 1))["1"]["physical_id"]
    change_outside(world, "DELETE", f"{NETWORKS}/{member}")
    shown = await world.call("drift_status", detection_id=await detected(world))
    assert [each["path"] for each in shown["progress"]["differing"]] == ["group.1"]
