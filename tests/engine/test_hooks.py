"""Hooks hold resources until somebody clears them; restricted actions keep resources as they are."""

from __future__ import annotations

from typing import Any

import pytest
from world import World

from stoker.base.errors import InvalidBreakPointHook

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
        if any(f"paused until Hook {hook} is cleared" in event["status_reason"] for event in events):
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


async def test_cancelling_at_a_hook_leaves_the_resource_as_it_was(world: World) -> None:
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
