"""Hooks hold resources until somebody clears them; restricted actions keep resources as they are."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import InvalidBreakPointHook, ResourceNotAvailable
from testing.harness import World

REF = {"name": "held", "id": None}


def template(value: str = "x", **more: Any) -> dict[str, Any]:
    properties = {"value": value, **more}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"a": {"type": "OS::Heat::TestResource", "properties": properties}},
    }


def environment(**entry: Any) -> dict[str, Any]:
    return {"resource_registry": {"resources": {"a": entry}}}


async def paused(world: World, hook: str) -> None:
    """Turn until the event says that the hook holds the resource."""
    for _ in range(400):
        events = await world.call("event_list", ref=REF)
        if any((event["hook"], event["hook_held"]) == (hook, True) for event in events):
            return
        await world.turn()
    raise AssertionError(f"{hook} never held the resource")


@pytest.mark.parametrize("hook", ["pre-create", "post-create"])
async def test_a_create_waits_for_its_hook(world: World, hook: str) -> None:
    made = await world.call("stack_create", name="held", template=template(), environment=environment(hooks=hook))
    await paused(world, hook)
    shown = await world.call("stack_show", ref=REF)
    assert shown["status"] == "IN_PROGRESS"
    for wrong in ("pre-delete", "no-such-hook"):
        with pytest.raises(InvalidBreakPointHook):
            await world.call("resource_signal", ref=REF, name="a", details={"unset_hook": wrong})
    await world.call("resource_signal", ref=REF, name="a", details={"unset_hook": hook})
    assert (await world.settle(made["id"]))["status"] == "COMPLETE"
    reasons = [event["status_reason"] for event in await world.call("event_list", ref=REF)]
    assert f"Hook {hook} is cleared" in reasons


async def state_of(world: World) -> tuple[str, str]:
    row = (await world.resources("held"))["a"]
    return row["action"], row["status"]


async def test_resource_paused_by_hook_keeps_its_state(world: World) -> None:
    held = environment(hooks=["pre-create", "pre-update"])
    made = await world.call("stack_create", name="held", template=template(), environment=held)
    await paused(world, "pre-create")
    assert await state_of(world) == ("INIT", "COMPLETE")
    with pytest.raises(ResourceNotAvailable):
        await world.call("resource_signal", ref=REF, name="a", details={"any": "thing"})
    await world.call("resource_signal", ref=REF, name="a", details={"unset_hook": "pre-create"})
    await world.settle(made["id"])
    events = await world.call("event_list", ref=REF, resource_name="a")
    assert [(event["action"], event["status"]) for event in events] == [
        ("INIT", "COMPLETE"),
        ("INIT", "COMPLETE"),
        ("CREATE", "IN_PROGRESS"),
        ("CREATE", "COMPLETE"),
    ]


@pytest.mark.parametrize("more", [{}, {"value": "y"}, {"value": "y", "update_replace": True}])
async def test_update_hook_applies_to_every_kind_of_change(world: World, more: dict[str, Any]) -> None:
    held = environment(hooks="pre-update")
    made = await world.create("held", template(), environment=held)
    before = await world.resources("held")
    await world.call("stack_update", ref=REF, template=template(**more), environment=held)
    await paused(world, "pre-update")
    assert await state_of(world) == ("CREATE", "COMPLETE")
    await world.call("resource_signal", ref=REF, name="a", details={"unset_hook": "pre-update"})
    assert (await world.settle(made["id"]))["status"] == "COMPLETE"
    same = before["a"]["physical_id"] == (await world.resources("held"))["a"]["physical_id"]
    assert same is not bool(more.get("update_replace"))


async def test_stack_deletion_removes_resource_paused_before_creation(world: World) -> None:
    made = await world.call(
        "stack_create", name="held", template=template(), environment=environment(hooks="pre-create")
    )
    await paused(world, "pre-create")
    await world.call("stack_delete", ref=REF)
    stack = await world.settle(made["id"])
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")


async def test_update_creates_resource_paused_before_creation(world: World) -> None:
    made = await world.call(
        "stack_create", name="held", template=template(), environment=environment(hooks="pre-create")
    )
    await paused(world, "pre-create")
    await world.call("stack_update", ref=REF, template=template("y"))
    assert (await world.settle(made["id"]))["status"] == "COMPLETE"
    shown = await world.call("resource_show", ref=REF, name="a")
    assert shown["attributes"]["output"] == "y"
    assert len(await world.resources("held")) == 1


async def test_an_update_and_a_delete_wait_for_their_hooks(world: World) -> None:
    held = environment(hooks=["pre-update", "pre-delete"])
    made = await world.create("held", template(), environment=held)
    await world.call("stack_update", ref=REF, template=template("y"), environment=held)
    await paused(world, "pre-update")
    await world.call("resource_signal", ref=REF, name="a", details={"unset_hook": "pre-update"})
    assert (await world.settle(made["id"]))["status"] == "COMPLETE"
    await world.call("stack_delete", ref=REF)
    await paused(world, "pre-delete")
    await world.call("resource_signal", ref=REF, name="a", details={"unset_hook": "pre-delete"})
    stack = await world.settle(made["id"])
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")


@pytest.mark.parametrize(("action", "more"), [("update", {}), ("replace", {"update_replace": True})])
async def test_a_restricted_action_fails_the_update_and_leaves_the_resource(
    world: World, action: str, more: dict[str, Any]
) -> None:
    restricted = environment(restricted_actions=action)
    await world.create("held", template(), environment=restricted)
    before = await world.resources("held")
    stack = await world.update("held", template("y", **more), environment=restricted)
    assert (stack["action"], stack["status"]) == ("UPDATE", "FAILED")
    assert "ResourceActionRestricted: resources.a: " in stack["status_reason"]
    assert await world.resources("held") == before


async def test_cancel_at_hook_keeps_the_resource(world: World) -> None:
    def made(value: str) -> dict[str, Any]:
        properties = {"value": value}
        return {
            "heat_template_version": "2021-04-16",
            "resources": {"a": {"type": "OS::Heat::TestResource", "properties": properties}},
        }

    ref = {"name": "held", "id": None}
    await world.create("held", made("old"))
    hooks = {"resource_registry": {"resources": {"a": {"hooks": "pre-update"}}}}
    view = await world.call("stack_update", ref=ref, template=made("new"), environment=hooks)
    run = world.engine.runs[view["id"]]
    await world.until(lambda: any("pre-update" in state.stored.data for state in run.states.values()))
    await world.call("stack_action", ref=ref, action="cancel_update")
    stack = await world.settle(view["id"])
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE")
    shown = await world.call("resource_show", ref=ref, name="a")
    assert shown["attributes"]["output"] == "old"
    events = await world.call("event_list", ref=ref, resource_name="a")
    assert events[-1]["status_reason"] == "UPDATE given up while held by a hook"
