"""Whole lives of stacks of local resources: order, failures, updates, replacement, rollback, removal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stoker.base.errors import EntityNotFound, NotSupported, StackExists, TemplateInvalid, UserError
from stoker_foundation.clock import ManualClock
from testing.harness import World


def resource(value: Any = "x", *after: str, wait: float = 0, **properties: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "OS::Heat::TestResource",
        "properties": {"value": value, "wait_secs": wait, **properties},
    }
    if after:
        body["depends_on"] = list(after)
    return body


def template(outputs: dict[str, Any] | None = None, **resources: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"heat_template_version": "2021-04-16", "resources": resources}
    if outputs:
        body["outputs"] = {name: {"value": value} for name, value in outputs.items()}
    return body


def stored_in(directory: Path) -> bytes:
    """The content of all files of a directory, those of a database among them."""
    return b"\n".join(path.read_bytes() for path in directory.iterdir())


async def order(world: World, name: str, action: str, status: str) -> list[str]:
    events = await world.call("event_list", ref={"name": name, "id": None})
    return [
        event["resource_name"]
        for event in events
        if event["action"] == action and event["status"] == status and event["resource_type"] != "OS::Heat::Stack"
    ]


async def test_dependencies_order_creation_and_deletion(world: World) -> None:
    made = template(a=resource(), b=resource("x", "a"), c=resource("x", "b"))
    stack = await world.create("chain", made)
    assert (stack["action"], stack["status"]) == ("CREATE", "COMPLETE")
    assert await order(world, "chain", "CREATE", "COMPLETE") == ["a", "b", "c"]
    stack = await world.delete("chain")
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")
    events = await world.call("event_list", ref={"name": None, "id": stack["id"]})
    gone = [e["resource_name"] for e in events if (e["action"], e["status"]) == ("DELETE", "COMPLETE")]
    assert gone == ["c", "b", "a", "chain"]


async def test_independent_resources_run_at_the_same_time(world: World) -> None:
    began = world.clock.now()
    await world.create("wide", template(**{f"r{number}": resource(wait=20) for number in range(10)}))
    assert world.clock.now() - began < 60


async def test_values_flow_between_resources_and_to_outputs(world: World) -> None:
    made = template(
        {"out": {"get_attr": ["b", "output"]}, "ref": {"get_resource": "a"}},
        a=resource("one"),
        b=resource({"str_replace": {"template": "<A>", "params": {"A": {"get_attr": ["a", "output"]}}}}),
    )
    stack = await world.create("flow", made)
    outputs = world.outputs(stack)
    assert outputs["out"] == "<one>"
    assert outputs["ref"].startswith("flow-a-")


async def test_a_failure_stops_dependents_and_spares_siblings(world: World) -> None:
    made = template(bad=resource(fail=True), child=resource("x", "bad"), sibling=resource())
    stack = await world.create("broken", made)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert stack["status_reason"].startswith("Resource CREATE failed: ")
    assert "resources.bad: " in stack["status_reason"]
    rows = await world.resources("broken")
    assert rows["bad"]["status"] == "FAILED"
    assert rows["sibling"]["status"] == "COMPLETE"
    assert "child" not in rows


async def test_failed_creation_is_rolled_back(world: World) -> None:
    made = template(good=resource(), bad=resource("x", "good", fail=True))
    stack = await world.create("undone", made, disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE")
    assert await world.resources("undone") == {}


async def test_update_changes_in_place_replaces_adds_and_removes(world: World) -> None:
    first = template(keep=resource(), change=resource("old"), swap=resource("old"), drop=resource())
    stack = await world.create("moving", first)
    before = await world.resources("moving")
    second = template(
        keep=resource(), change=resource("new"), swap=resource("new", update_replace=True), more=resource()
    )
    stack = await world.update("moving", second)
    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    after = await world.resources("moving")
    assert set(after) == {"keep", "change", "swap", "more"}
    assert after["keep"] == before["keep"]
    assert after["change"]["physical_id"] == before["change"]["physical_id"]
    assert after["change"]["action"] == "UPDATE"
    assert after["swap"]["physical_id"] != before["swap"]["physical_id"]


async def test_dependents_are_updated_before_old_resource_is_deleted(world: World) -> None:
    def made(value: str) -> dict[str, Any]:
        return template(
            {"seen": {"get_attr": ["user", "output"]}},
            base=resource(value, update_replace=True),
            user=resource({"get_resource": "base"}),
        )

    await world.create("hand", made("1"))
    stack = await world.update("hand", made("2"))
    assert stack["status"] == "COMPLETE"
    rows = await world.resources("hand")
    assert world.outputs(stack)["seen"] == rows["base"]["physical_id"]
    events = await world.call("event_list", ref={"name": "hand", "id": None})
    story = [(e["resource_name"], e["action"]) for e in events if e["status"] == "COMPLETE"]
    assert story.index(("user", "UPDATE")) < story.index(("base", "DELETE"))


async def test_an_unchanged_update_touches_nothing(world: World) -> None:
    made = template(a=resource(), b=resource({"get_attr": ["a", "output"]}))
    await world.create("same", made)
    before = await world.resources("same")
    stack = await world.update("same", made)
    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    assert await world.resources("same") == before


async def test_a_failed_update_is_rolled_back_to_the_former_definition(world: World) -> None:
    first = template({"a": {"get_attr": ["a", "output"]}}, a=resource("old"), b=resource("old"))
    await world.create("back", first, disable_rollback=False)
    second = template(a=resource("new"), b=resource("new", "a", fail=True, update_replace=True))
    stack = await world.update("back", second)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE")
    assert world.outputs(stack)["a"] == "old"
    assert set(await world.resources("back")) == {"a", "b"}
    assert await world.call("stack_template", ref={"name": "back", "id": None}) == first


async def test_a_failed_replacement_leaves_the_old_resource(world: World) -> None:
    await world.create("safe", template(a=resource("old")))
    before = (await world.resources("safe"))["a"]["physical_id"]
    stack = await world.update("safe", template(a=resource("new", fail=True, update_replace=True)))
    assert (stack["action"], stack["status"]) == ("UPDATE", "FAILED")
    stack = await world.update("safe", template(a=resource("old")))
    assert stack["status"] == "COMPLETE"
    assert (await world.resources("safe"))["a"]["physical_id"] == before


async def test_newer_update_supersedes_running_update(world: World) -> None:
    await world.create("race", template(a=resource("0")))
    ref = {"name": "race", "id": None}
    slow = template(a=resource("1", wait=50), b=resource("x", "a"))
    await world.call("stack_update", ref=ref, template=slow)
    await world.turn()
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(1)  # operations are listed in the order of their times
    final = template(a=resource("2"), c=resource())
    stack = await world.update("race", final)
    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    assert set(await world.resources("race")) == {"a", "c"}
    history = await world.call("operation_list", ref=ref)
    assert [entry["status"] for entry in history] == ["COMPLETE", "SUPERSEDED", "COMPLETE"]


async def test_deletion_during_creation_leaves_nothing(world: World) -> None:
    view = await world.call("stack_create", name="half", template=template(a=resource(wait=100), b=resource("x", "a")))
    await world.turn()
    stack = await world.delete("half")
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")
    with pytest.raises(EntityNotFound):
        await world.call("stack_identify", ref={"name": "half", "id": None})
    assert view["id"] == stack["id"]


async def test_operation_times_out(world: World) -> None:
    stack = await world.create("late", template(a=resource(wait=1000)), timeout_mins=1)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert "Timed out" in stack["status_reason"]
    assert (await world.resources("late"))["a"]["status"] == "FAILED"


async def test_deployment_without_signal_times_out(world: World) -> None:
    config = {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}}
    values = {"config": {"get_resource": "config"}, "server": "elsewhere", "signal_transport": "HEAT_SIGNAL"}
    applied = {"type": "OS::Heat::SoftwareDeployment", "properties": values}
    stack = await world.create("late", template(config=config, applied=applied), timeout_mins=1)
    assert "Timed out" in stack["status_reason"]
    (deployment,) = await world.call("software_deployment_list")
    assert (deployment["status"], deployment["status_reason"]) == ("FAILED", "Timed out")


async def test_suspend_resume_and_check(world: World) -> None:
    await world.create("verbs", template(a=resource(), b=resource("x", "a")))
    ref = {"name": "verbs", "id": None}
    for action, expected in (("suspend", "SUSPEND"), ("resume", "RESUME"), ("check", "CHECK")):
        await world.call("stack_action", ref=ref, action=action)
        found = await world.call("stack_identify", ref=ref)
        stack = await world.settle(found["id"])
        assert (stack["action"], stack["status"]) == (expected, "COMPLETE")
        if action == "suspend":
            with pytest.raises(NotSupported):
                await world.call("stack_update", ref=ref, template=template(a=resource()))


async def test_an_unhealthy_resource_is_replaced_by_the_next_update(world: World) -> None:
    made = template(a=resource())
    await world.create("sick", made)
    ref = {"name": "sick", "id": None}
    before = (await world.resources("sick"))["a"]["physical_id"]
    await world.call("resource_mark_unhealthy", ref=ref, name="a", mark_unhealthy=True)
    assert (await world.resources("sick"))["a"]["action"] == "CHECK"
    await world.update("sick", made)
    assert (await world.resources("sick"))["a"]["physical_id"] != before


async def test_a_refused_request_changes_nothing(world: World) -> None:
    await world.create("taken", template(a=resource()))
    for name, body, error in (
        ("taken", template(a=resource()), StackExists),
        ("1st", template(a=resource()), UserError),
        ("broken", template(a={"type": "OS::Heat::NoSuchThing"}), TemplateInvalid),
        ("cycle", template(a=resource("x", "b"), b=resource("x", "a")), TemplateInvalid),
    ):
        with pytest.raises(error):
            await world.call("stack_create", name=name, template=body)
    listed = await world.call("stack_list")
    assert [stack["name"] for stack in listed["stacks"]] == ["taken"]


async def test_plan_has_changes_with_reasons(world: World) -> None:
    await world.create("planned", template(a=resource("1"), b=resource({"get_attr": ["a", "output"]}), old=resource()))
    new = template(a=resource("2", update_replace=True), b=resource({"get_attr": ["a", "output"]}), new=resource())
    preview = await world.call("stack_update_preview", ref={"name": "planned", "id": None}, template=new)
    changes = preview["resource_changes"]
    assert {bucket: [row["name"] for row in rows] for bucket, rows in changes.items()} == {
        "unchanged": [],
        "updated": ["b"],
        "replaced": ["a"],
        "added": ["new"],
        "deleted": ["old"],
    }
    steps = {(step["kind"], step["path"]): step for step in preview["plan"]["steps"]}
    unknown = steps["update", "b"]["changes"][0]
    assert unknown["property"] == "value" and not unknown["known"]
    assert set(await world.resources("planned")) == {"a", "b", "old"}


async def test_hidden_parameters_are_sealed_at_rest_and_redacted_when_shown(world: World, tmp_path: Path) -> None:
    made = template({"out": {"get_attr": ["a", "output"]}}, a=resource({"get_param": "password"}))
    made["parameters"] = {"password": {"type": "string", "hidden": True}}
    stack = await world.create("secret", made, parameters={"password": "s3cr3t-w0rd"})
    assert stack["parameters"]["password"] == "******"
    environment = await world.call("stack_environment", ref={"name": "secret", "id": None})
    assert "s3cr3t-w0rd" not in str(environment)
    events = await world.call("event_list", ref={"name": "secret", "id": None}, resource_name="a")
    shown = await world.call(
        "event_show", ref={"name": "secret", "id": None}, resource_name="a", event_id=events[0]["id"]
    )
    assert shown["resource_properties"]["value"] == "******"
    assert b"s3cr3t-w0rd" not in stored_in(tmp_path)
