"""A retry or a rollback continues without failed resources that its request names."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import BadValue
from testing.harness import World

CHILD = """
heat_template_version: 2021-04-16
parameters: {label: {type: string}}
resources:
  inner: {type: OS::Neutron::Net, properties: {name: {get_param: label}}}
"""
FILES = {"child.yaml": CHILD}
BROKEN = {"type": "OS::Heat::TestResource", "properties": {"fail": True}, "depends_on": ["net", "nested"]}
NO_UPDATE = Fault(on="PUT /network/v2.0/networks/*", do="fail", status=400)
NO_DELETION = Fault(on="DELETE /network/v2.0/networks/*", do="fail", status=400)


def template(label: str, **further: Any) -> dict[str, Any]:
    net = {"type": "OS::Neutron::Net", "properties": {"name": f"outer-{label}"}}
    nested = {"type": "child.yaml", "properties": {"label": f"inner-{label}"}}
    return {"heat_template_version": "2021-04-16", "resources": {"net": net, "nested": nested, **further}}


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


def networks(world: World) -> set[str]:
    token = world.served.token("demo", "demo")
    answer = world.served.call("GET", "/network/v2.0/networks", token=token)
    return {str(net["name"]) for net in answer.json["networks"]}


async def act(world: World, name: str, action: str, **how: Any) -> dict[str, Any]:
    stack = await world.call("stack_show", ref=ref(name))
    await world.call("stack_action", ref=ref(name), action=action, **how)
    return await world.settle(stack["id"])


async def stuck(world: World, name: str) -> str:
    """A stack whose rollback has failed at both networks, and the fault that is the cause."""
    await world.create(name, template("one"), files=FILES)
    failed = await world.update(name, template("two", broken=BROKEN), files=FILES)
    assert failed["status"] == "FAILED" and networks(world) >= {"outer-two", "inner-two"}
    fault: Fault = world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on=NO_UPDATE.on, do="fail", status=400)))
    rolled = await act(world, name, "rollback")
    assert (rolled["action"], rolled["status"]) == ("ROLLBACK", "FAILED")
    return fault.id


async def states(world: World, name: str) -> dict[str, str]:
    rows = await world.resources(name, 2)
    return {each: f"{row['action']}_{row['status']}" for each, row in rows.items()}


async def test_a_rollback_continues_without_the_resources_that_a_retry_skips(world: World) -> None:
    await stuck(world, "web")
    assert (await states(world, "web"))["net"] == "UPDATE_FAILED"
    ended = await act(world, "web", "retry", skip=["net", "nested.inner"])
    assert (ended["action"], ended["status"]) == ("ROLLBACK", "COMPLETE"), ended["status_reason"]
    assert networks(world) >= {"outer-two", "inner-two"}, "objects that are skipped stay as they are"
    assert await states(world, "web") == dict.fromkeys(("net", "nested", "inner"), "UPDATE_COMPLETE")
    row = (await world.resources("web"))["net"]
    assert row["status_reason"].startswith("it is skipped, as requested, although its update failed: BadRequest")
    events = await world.call("event_list", ref=ref("web"), resource_name="net")
    assert events[-1]["status"] == "COMPLETE" and "skipped" in events[-1]["status_reason"]


async def test_the_next_update_makes_skipped_resources_as_the_template_says(world: World) -> None:
    fault = await stuck(world, "web")
    await act(world, "web", "retry", skip=["net", "nested.inner"])
    world.in_cloud(lambda: world.served.cloud.faults.remove(fault))
    plan = (await world.call("stack_update_preview", ref=ref("web"), template=template("one"), files=FILES))["plan"]
    kinds = {step["path"]: step["kind"] for step in plan["steps"]}
    assert kinds == {"net": "update", "nested": "update", "nested.inner": "update"}
    ended = await world.update("web", template("one"), files=FILES)
    assert ended["status"] == "COMPLETE" and networks(world) >= {"outer-one", "inner-one"}


async def test_a_resource_that_was_not_skipped_is_still_tried(world: World) -> None:
    fault = await stuck(world, "web")
    ended = await act(world, "web", "retry", skip=["net"])
    assert ended["status"] == "FAILED" and "nested.resources.inner" in ended["status_reason"]
    assert (await states(world, "web"))["net"] == "UPDATE_COMPLETE"
    world.in_cloud(lambda: world.served.cloud.faults.remove(fault))
    ended = await act(world, "web", "retry")
    assert ended["status"] == "COMPLETE"
    assert networks(world) >= {"outer-two", "inner-one"}, "what a retry has skipped remains skipped in further ones"


async def test_a_nested_resource_is_also_known_by_the_name_of_its_stack(world: World) -> None:
    await stuck(world, "web")
    nested = (await world.resources("web"))["nested"]
    name = (await world.call("stack_show", ref={"name": None, "id": nested["physical_id"]}))["name"]
    ended = await act(world, "web", "retry", skip=["net", f"{name}.inner"])
    assert ended["status"] == "COMPLETE", ended["status_reason"]


async def test_only_failed_resources_with_objects_are_skipped(world: World) -> None:
    await stuck(world, "web")
    refused = {
        "nett": "did you mean 'net'",
        "nothing": "no resource 'nothing'",
        "nested": "a nested stack: name the failed resources in it; those that can be skipped are net, nested.inner",
        "broken": "its create has failed, so that others cannot rely on its object",
    }
    for path, why in refused.items():
        with pytest.raises(BadValue, match=why):
            await world.call("stack_action", ref=ref("web"), action="retry", skip=["net", path])
    with pytest.raises(BadValue, match="Only a retry"):
        await world.call("stack_action", ref=ref("web"), action="rollback", skip=["net"])
    await act(world, "web", "retry", skip=["net"])
    with pytest.raises(BadValue, match="it has not failed, but is in UPDATE_COMPLETE"):
        await world.call("stack_action", ref=ref("web"), action="retry", skip=["net"])


async def test_a_resource_that_was_never_created_is_not_skipped(world: World) -> None:
    await world.create("new", template("one", broken=BROKEN), files=FILES)
    with pytest.raises(BadValue, match="its create has failed, so that others cannot rely on its object"):
        await world.call("stack_action", ref=ref("new"), action="retry", skip=["broken"])


async def test_undeletable_resource_of_rollback_stays_pending_deletion(world: World) -> None:
    await world.create("web", template("one"), files=FILES)
    further = {"type": "OS::Neutron::Net", "properties": {"name": "further"}}
    broken = {**BROKEN, "depends_on": ["further"]}
    await world.update("web", template("one", further=further, broken=broken), files=FILES)
    fault: Fault = world.in_cloud(lambda: world.served.cloud.faults.add(NO_DELETION))
    assert (await act(world, "web", "rollback"))["status"] == "FAILED"
    ended = await act(world, "web", "retry", skip=["further"])
    assert (ended["action"], ended["status"]) == ("ROLLBACK", "COMPLETE"), ended["status_reason"]
    assert "further" in networks(world)
    world.in_cloud(lambda: world.served.cloud.faults.remove(fault.id))
    plan = (await world.call("stack_update_preview", ref=ref("web"), template=template("one"), files=FILES))["plan"]
    assert [step["path"] for step in plan["steps"] if step["kind"] == "delete"] == ["further"]
    await world.update("web", template("one"), files=FILES)
    assert "further" not in networks(world)


async def test_deletion_uses_retain_instead_of_skip(world: World) -> None:
    await world.create("web", template("one"), files=FILES)
    fault: Fault = world.in_cloud(lambda: world.served.cloud.faults.add(NO_DELETION))
    assert (await world.delete("web"))["status"] == "FAILED"
    with pytest.raises(BadValue, match="retain their objects"):
        await world.call("stack_action", ref=ref("web"), action="retry", skip=["net"])
    world.in_cloud(lambda: world.served.cloud.faults.remove(fault.id))
    assert (await world.delete("web"))["status"] == "COMPLETE"
