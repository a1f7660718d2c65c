"""Groups: members that change in batches, go by name, and keep their identity; chains, one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import TemplateInvalid
from testing.harness import World

VALUE = "OS::Heat::TestResource"


def group(
    count: int = 3,
    value: str = "v%index%",
    rolling: dict[str, Any] | None = None,
    member: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    definition = {"type": VALUE, "properties": {"value": value, **(member or {})}}
    resource: dict[str, Any] = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": count, "resource_def": definition, **more},
    }
    if rolling is not None:
        resource["update_policy"] = {"rolling_update": rolling}
    shown = {"refs": ["refs"], "map": ["refs_map"], "by": ["attributes", "output"], "all": ["output"]}
    outputs = {name: {"value": {"get_attr": ["group", *path]}} for name, path in shown.items()}
    return {"heat_template_version": "2021-04-16", "resources": {"group": resource}, "outputs": outputs}


def scaling(value: str, rolling: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"type": VALUE, "properties": {"value": value, "action_wait_secs": {"update": 2, "create": 2}}}
    properties = {"min_size": 3, "max_size": 6, "resource": body, "rolling_updates": rolling, **more}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"group": {"type": "OS::Heat::AutoScalingGroup", "properties": properties}},
        "outputs": {"map": {"value": {"get_attr": ["group", "outputs", "output"]}}},
    }


async def members(world: World) -> dict[str, dict[str, Any]]:
    nested = (await world.resources("web"))["group"]["physical_id"]
    rows = await world.listed({"name": None, "id": nested}, with_detail=True)
    return {row["name"]: row for row in rows}


async def fewest_in_service(world: World, template: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Update, and the least number of members that were there with no action going on, at any time."""
    nested = (await world.resources("web"))["group"]["physical_id"]
    view = await world.call("stack_update", ref={"name": "web", "id": None}, template=template)
    fewest = len(await members(world))
    while world.engine.runs.get(view["id"]) is not None:
        await world.turn()
        running = world.engine.runs.get(nested)
        if running is not None and running.planning.plan is not None:
            there = [state for state in running.states.values() if state.row.action != "DELETE"]
            fewest = min(fewest, sum(state.row.status == "COMPLETE" for state in there))
    return await world.settle(view["id"]), fewest


async def test_only_named_members_are_removed(world: World) -> None:
    before = world.outputs(await world.create("web", group(4)))
    removed = [{"resource_list": ["1", before["map"]["2"]]}]
    after = world.outputs(await world.update("web", group(4, removal_policies=removed)))
    assert list(after["map"]) == ["0", "3", "4", "5"]
    assert after["map"]["0"] == before["map"]["0"] and after["map"]["3"] == before["map"]["3"]
    assert after["by"] == {"0": "v0", "3": "v3", "4": "v4", "5": "v5"}
    shrunk = world.outputs(await world.update("web", group(2, removal_policies=removed)))
    assert shrunk["map"] == {"0": before["map"]["0"], "3": before["map"]["3"]}


async def test_replaced_removal_policy_restores_names(world: World) -> None:
    await world.create("web", group(2, removal_policies=[{"resource_list": ["0"]}]))
    assert list((await members(world)).keys()) == ["1", "2"]
    await world.update("web", group(3, removal_policies=[], removal_policies_mode="update"))
    assert sorted(await members(world)) == ["0", "1", "2"]


@pytest.mark.parametrize(("batch", "least"), [(1, 2), (2, 3), (2, 1)])
async def test_named_members_stay_in_service_during_rolling_update(world: World, batch: int, least: int) -> None:
    slow = {"action_wait_secs": {"update": 2, "create": 2}}
    policy = {"max_batch_size": batch, "min_in_service": least, "pause_time": 1}
    await world.create("web", group(3, "old%index%", policy, slow))
    stack, fewest = await fewest_in_service(world, group(3, "new%index%", policy, slow))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["by"] == {"0": "new0", "1": "new1", "2": "new2"}
    assert fewest >= least


@pytest.mark.parametrize(("batch", "least"), [(1, 2), (2, 3), (3, 1)])
async def test_scaling_group_members_stay_in_service_during_rolling_update(
    world: World, batch: int, least: int
) -> None:
    policy = {"max_batch_size": batch, "min_in_service": least}
    await world.create("web", scaling("old", policy))
    stack, fewest = await fewest_in_service(world, scaling("new", policy))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert sorted(world.outputs(stack)["map"].values()) == ["new"] * 3
    assert fewest >= least


async def test_a_rollback_updates_members_in_batches(world: World) -> None:
    """What the members really are counts: some have the new definition when the update fails."""
    policy = {"max_batch_size": 1, "min_in_service": 2}
    slow = {"action_wait_secs": {"update": 2, "create": 2}}
    await world.create("web", group(3, "old%index%", policy, slow))
    broken = group(3, "new%index%", policy, {**slow, "fail": True})
    stack = await world.update("web", broken)
    assert stack["status"] == "FAILED"
    stack, fewest = await fewest_in_service(world, group(3, "old%index%", policy, slow))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["by"] == {"0": "old0", "1": "old1", "2": "old2"}
    assert fewest >= 2


async def test_new_definition_supersedes_rolling_update(world: World) -> None:
    policy = {"max_batch_size": 1, "min_in_service": 2, "pause_time": 600}
    slow = {"action_wait_secs": {"update": 2, "create": 2}}
    await world.create("web", group(3, "old%index%", policy, slow))
    view = await world.call("stack_update", ref={"name": "web", "id": None}, template=group(3, "bad", policy, slow))
    nested = (await world.resources("web"))["group"]["physical_id"]
    await world.until(lambda: nested in world.engine.runs)
    began = world.clock.now()
    quick = {"max_batch_size": 1, "min_in_service": 2}
    stack, fewest = await fewest_in_service(world, group(3, "new%index%", quick, slow))
    assert stack["id"] == view["id"] and stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["by"] == {"0": "new0", "1": "new1", "2": "new2"}
    assert world.clock.now() - began < 600
    assert fewest >= 1


async def test_a_group_without_members(world: World) -> None:
    stack = await world.create("web", group(0))
    assert world.outputs(stack)["refs"] == []
    stack = await world.update("web", group(2))
    assert world.outputs(stack)["all"] == ["v0", "v1"]
    stack = await world.update("web", group(0))
    assert (stack["status"], world.outputs(stack)["map"]) == ("COMPLETE", {})


async def test_an_attribute_of_all_members_needs_to_be_named(world: World) -> None:
    made = group()
    made["outputs"]["by"]["value"] = {"get_attr": ["group", "attributes"]}
    assert world.outputs(await world.create("web", made))["by"] is None
    made["resources"]["user"] = {"type": "OS::Heat::Value", "properties": {"value": made["outputs"]["by"]["value"]}}
    with pytest.raises(TemplateInvalid, match="needs a path"):
        await world.create("other", made)


async def test_rolling_update_is_continued_by_another_engine(world: World) -> None:
    policy = {"max_batch_size": 1, "min_in_service": 2, "pause_time": 1}
    slow = {"action_wait_secs": {"update": 3, "create": 3}}
    await world.create("web", group(3, "old%index%", policy, slow))
    view = await world.call(
        "stack_update", ref={"name": "web", "id": None}, template=group(3, "new%index%", policy, slow)
    )
    nested = (await world.resources("web"))["group"]["physical_id"]
    await world.until(lambda: nested in world.engine.runs)
    await world.stop()
    await world.start()
    stack = await world.settle(view["id"])
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["by"] == {"0": "new0", "1": "new1", "2": "new2"}


async def test_scaling_group_plan_names_current_members(world: World) -> None:
    policy = {"max_batch_size": 1}
    await world.create("web", scaling("old", policy))
    present = set(await members(world))
    ref = {"name": "web", "id": None}
    answer = await world.call("stack_update_preview", ref=ref, template=scaling("new", policy, desired_capacity=4))
    steps = {step["path"]: step["kind"] for step in answer["plan"]["steps"]}
    assert {path for path, kind in steps.items() if kind == "update"} == {
        "group",
        *(f"group.{name}" for name in present),
    }
    assert len([path for path, kind in steps.items() if kind == "create"]) == 1
    assert "delete" not in steps.values()
