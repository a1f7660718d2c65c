"""Groups that scale: what a policy's signal does, when it does nothing, and its outcome when something fails."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import EntityNotFound, TemplateInvalid
from stoker.plugins.capabilities import Signalable
from stoker.plugins.resource import Call
from testing.harness import World

POLICIES = {"up": 1, "down": -1}


def template(
    member: dict[str, Any] | None = None, policies: dict[str, int] = POLICIES, cooldown: int = 60, **group: Any
) -> dict[str, Any]:
    """A group of test resources with a policy for each of `policies`, by which the size changes."""
    body = {"type": "OS::Heat::TestResource", "properties": {"value": "v", **(member or {})}}
    properties = {"min_size": 1, "max_size": 4, "cooldown": cooldown, "resource": body, **group}
    resources: dict[str, Any] = {"group": {"type": "OS::Heat::AutoScalingGroup", "properties": properties}}
    for name, amount in policies.items():
        resources[name] = {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": amount,
            },
        }
    shown = {
        "size": ["current_size"],
        "list": ["outputs_list", "output"],
        "map": ["outputs", "output"],
        "refs": ["refs"],
    }
    outputs: dict[str, Any] = {name: {"value": {"get_attr": ["group", *path]}} for name, path in shown.items()}
    outputs["url"] = {"value": {"get_attr": ["up", "alarm_url"]}} if "up" in policies else {"value": "none"}
    return {"heat_template_version": "2021-04-16", "resources": resources, "outputs": outputs}


async def signal(world: World, policy: str, details: dict[str, Any] | None = None) -> None:
    await world.call("resource_signal", ref={"name": "web", "id": None}, name=policy, details=details)


async def group_id(world: World) -> str:
    return str((await world.resources("web"))["group"]["physical_id"])


async def settled(world: World) -> dict[str, Any]:
    """The stack's outputs, once the group's nested stack is at rest."""
    await world.settle(await group_id(world))
    return world.outputs(
        await world.settle((await world.call("stack_identify", ref={"name": "web", "id": None}))["id"])
    )


async def group_metadata(world: World) -> dict[str, Any]:
    found = await world.call("resource_metadata", ref={"name": "web", "id": None}, name="group")
    assert isinstance(found, dict)
    return found


async def signals_of(world: World, policy: str) -> list[str]:
    events = await world.call("event_list", ref={"name": "web", "id": None}, resource_name=policy)
    return [event["status_reason"] for event in events if event["action"] == "SIGNAL"]


async def ages(world: World, seconds: float) -> None:
    world.clock.advance(seconds)  # type: ignore[attr-defined]


async def test_a_signal_adds_a_member_and_leaves_the_others_alone(world: World) -> None:
    before = world.outputs(await world.create("web", template(desired_capacity=2)))
    assert before["size"] == 2 and before["list"] == ["v", "v"]
    await ages(world, 61)
    await signal(world, "up", {"current": "alarm", "previous": "ok"})
    assert (await group_metadata(world))["scaling_in_progress"] is True
    after = await settled(world)
    assert after["size"] == 3
    assert before["map"].keys() < after["map"].keys()
    assert after["refs"][:2] == before["refs"]
    assert await signals_of(world, "up") == ["group changes from 2 to 3 members (change_in_capacity : 1)"]
    assert (await world.resources("web"))["group"]["status"] == "COMPLETE"


async def test_the_oldest_member_goes_first(world: World) -> None:
    await world.create("web", template(cooldown=0))
    for _ in range(2):
        await ages(world, 10)
        await signal(world, "up")
        before = await settled(world)
    await signal(world, "down")
    after = await settled(world)
    assert len(before["refs"]) == 3
    assert after["refs"] == before["refs"][1:]


async def test_scaling_is_recorded_as_an_operation(world: World) -> None:
    await world.create("web", template())
    await ages(world, 61)
    await signal(world, "up")
    await settled(world)
    nested = await world.call("stack_show", ref={"name": None, "id": await group_id(world)})
    assert (nested["action"], nested["status"]) == ("UPDATE", "COMPLETE")
    assert (await world.resources("web"))["group"]["action"] == "CREATE"


async def test_the_cooldown_begins_with_the_group_and_with_each_change(world: World) -> None:
    await world.create("web", template())
    ((_, reason),) = (await group_metadata(world))["cooldown_end"].items()
    assert reason == "ExactCapacity : 1"
    await signal(world, "up")
    assert (await settled(world))["size"] == 1
    await ages(world, 61)
    await signal(world, "up")
    assert (await settled(world))["size"] == 2
    metadata = await group_metadata(world)
    assert list(metadata["cooldown_end"].values()) == ["change_in_capacity : 1"]
    assert metadata["scaling_in_progress"] is False
    await signal(world, "up")
    assert (await settled(world))["size"] == 2
    assert len(await signals_of(world, "up")) == 1, "a signal that changes nothing leaves no event"


async def test_concurrent_scaling_signal_is_ignored(world: World) -> None:
    await world.create("web", template(member={"action_wait_secs": {"create": 5}}, cooldown=0))
    await signal(world, "up")
    await signal(world, "up")
    await signal(world, "down")
    assert (await settled(world))["size"] == 2
    assert await signals_of(world, "down") == []


@pytest.mark.parametrize(("policy", "sizes"), [("up", (4, 4)), ("down", (1, 1))])
async def test_the_size_stays_within_its_bounds(world: World, policy: str, sizes: tuple[int, int]) -> None:
    stack = await world.create("web", template(desired_capacity=sizes[0], cooldown=0))
    assert world.outputs(stack)["size"] == sizes[0]
    await signal(world, policy)
    assert (await settled(world))["size"] == sizes[1]
    assert await signals_of(world, policy) == []


async def test_a_signal_during_an_update_of_the_group_does_nothing(world: World) -> None:
    await world.create("web", template(cooldown=0))
    changed = template(member={"value": "w", "action_wait_secs": {"update": 5}}, cooldown=0)
    view = await world.call("stack_update", ref={"name": "web", "id": None}, template=changed)
    identifier = await group_id(world)
    await world.until(lambda: identifier in world.engine.runs)
    await signal(world, "up")
    stack = await world.settle(view["id"])
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["size"] == 1
    assert world.outputs(stack)["list"] == ["w"]


async def test_update_supersedes_scaling(world: World) -> None:
    await world.create("web", template(cooldown=0))
    slow = template(member={"action_wait_secs": {"create": 30}}, cooldown=0)
    await world.update("web", slow)
    await signal(world, "up")
    stack = await world.update("web", template(member={"value": "w"}, cooldown=0))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["list"] == ["w", "w"]
    assert (await group_metadata(world))["scaling_in_progress"] is False


async def test_unrelated_update_keeps_scaled_size(world: World) -> None:
    await world.create("web", template(cooldown=0, desired_capacity=1))
    await signal(world, "up")
    assert (await settled(world))["size"] == 2
    stack = await world.update("web", template(policies={"up": 2, "down": -1}, cooldown=0, desired_capacity=1))
    assert world.outputs(stack)["size"] == 2
    stack = await world.update("web", template(policies={"up": 2}, cooldown=1, desired_capacity=1))
    assert world.outputs(stack)["size"] == 1, "the group's own update leads to the desired capacity"


async def test_dependents_see_new_group_size_at_next_update(world: World) -> None:
    def reading(word: str) -> dict[str, Any]:
        made = template(cooldown=0)
        value = {"size": {"get_attr": ["group", "current_size"]}, "word": word}
        made["resources"]["reader"] = {"type": "OS::Heat::Value", "properties": {"value": value}}
        made["outputs"] = {"read": {"value": {"get_attr": ["reader", "value"]}}}
        return made

    await world.create("web", reading("a"))
    await signal(world, "up")
    await settled(world)
    stack = await world.update("web", reading("a"))
    assert world.outputs(stack)["read"] == {"size": 2, "word": "a"}


async def test_failed_scaling_starts_no_cooldown(world: World) -> None:
    await world.create("web", template(member={"fail": True}, min_size=0, desired_capacity=0))
    before = await group_metadata(world)
    await ages(world, 61)
    await signal(world, "up")
    assert (await settled(world))["size"] == 0, "a member that could not be made does not count"
    assert await group_metadata(world) == before
    nested = await world.call("stack_show", ref={"name": None, "id": await group_id(world)})
    assert (nested["action"], nested["status"]) == ("UPDATE", "FAILED")
    assert (await world.resources("web"))["group"]["status"] == "COMPLETE"
    stack = await world.update("web", template())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert len(await world.listed({"name": None, "id": await group_id(world)})) == 1


async def test_failed_member_is_replaced_and_not_counted(world: World) -> None:
    await world.create("web", template(cooldown=0, desired_capacity=2))
    nested = await group_id(world)
    first = next(iter(await world.listed({"name": None, "id": nested})))["name"]
    await world.call("resource_mark_unhealthy", ref={"name": None, "id": nested}, name=first, mark_unhealthy=True)
    await signal(world, "up")
    after = await settled(world)
    assert after["size"] == 2
    assert first not in after["map"] or len(after["map"]) == 2


@pytest.mark.parametrize("desired", [{}, {"desired_capacity": 1}], ids=["none", "one"])
async def test_a_group_that_heals_a_member_keeps_the_size_that_a_policy_gave_it(
    world: World, desired: dict[str, int]
) -> None:
    net = {"type": "OS::Neutron::Net", "properties": {}}

    def networks(**more: Any) -> dict[str, Any]:
        made = template(cooldown=0, resource=net, **more)
        made["outputs"] = {"size": made["outputs"]["size"]}
        return made

    await world.create("web", networks(**desired))
    await signal(world, "up")
    assert (await settled(world))["size"] == 2
    nested = {"name": None, "id": await group_id(world)}
    lost = (await world.listed(nested))[-1]
    await world.call("resource_mark_unhealthy", ref=nested, name=lost["name"], mark_unhealthy=True)

    stack = await world.update("web", networks())

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["size"] == 2
    assert lost["physical_id"] not in {row["physical_id"] for row in await world.listed(nested)}


async def test_an_unknown_group(world: World) -> None:
    made = template(cooldown=0)
    made["resources"]["up"]["properties"]["auto_scaling_group_id"] = "elsewhere"
    await world.create("web", made)
    with pytest.raises(EntityNotFound, match="elsewhere"):
        await signal(world, "up")


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ({"min_size": 3, "max_size": 2}, "max_size"),
        ({"desired_capacity": 9}, "desired_capacity"),
        ({"min_size": -1}, "min_size"),
        ({"resource": {"properties": {}}}, "type"),
        ({"resource": {"type": "OS::Heat::TestResource", "properties": {"valeu": "v"}}}, "valeu"),
    ],
)
async def test_invalid_scaling_values_are_refused(world: World, group: dict[str, Any], message: str) -> None:
    with pytest.raises(TemplateInvalid, match=message):
        await world.create("web", template(**group))


async def test_an_attribute_without_its_path_is_refused_beforehand(world: World) -> None:
    made = template()
    value = {"get_attr": ["group", "outputs_list"]}
    made["resources"]["copy"] = {"type": "OS::Heat::Value", "properties": {"value": value}}
    with pytest.raises(TemplateInvalid, match="needs a path"):
        await world.create("web", made)


async def test_a_policy_with_a_step_for_percentages_only(world: World) -> None:
    made = template()
    made["resources"]["up"]["properties"]["min_adjustment_step"] = 2
    with pytest.raises(TemplateInvalid, match="min_adjustment_step"):
        await world.create("web", made)


async def test_scaling_is_continued_by_another_engine(world: World) -> None:
    await world.create("web", template(member={"action_wait_secs": {"create": 5}}, cooldown=60))
    await ages(world, 61)
    await signal(world, "up")
    await world.stop()
    await world.start()
    assert (await settled(world))["size"] == 2
    metadata = await group_metadata(world)
    assert metadata["scaling_in_progress"] is False
    assert list(metadata["cooldown_end"].values()) == ["change_in_capacity : 1"]


async def test_signal_acts_once_despite_concurrent_operations(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its event is recorded when the stack is busy already: that is no reason to start again."""
    await world.create("web", template(cooldown=0, max_size=9))
    policy = world.engine.services.types.registry.types.get("OS::Heat::ScalingPolicy")
    assert isinstance(policy, Signalable)
    take = policy.signal

    async def interrupted(call: Call, details: Any) -> str:
        reason = await take(call, details)
        await settled(world)
        await world.call("stack_action", ref={"name": "web", "id": None}, action="check")
        return reason

    monkeypatch.setattr(policy, "signal", interrupted)
    await ages(world, 10)
    await signal(world, "up")
    assert (await settled(world))["size"] == 2
    assert len(await signals_of(world, "up")) == 1
