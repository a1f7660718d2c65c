"""Plans of stacks that are deployed together with others: values that are not known yet, and who imports what."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import EntityNotFound, StackValidationFailed, TemplateInvalid
from testing.harness import World
from tests.engine.test_exchange import HEAD, IMPORTER, drawn, exporter, plain

NEEDS: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "parameters": {"given": {"type": "string", "constraints": [{"length": {"min": 3}}]}},
    "resources": {"v": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "given"}}}},
    "outputs": {"seen": {"value": {"get_attr": ["v", "value"]}}, "fixed": {"value": 1}},
}


async def preview(world: World, name: str, template: dict[str, Any], joint: dict[str, Any], **given: Any) -> Any:
    """Return the plan of a stack that is deployed with others; of an update, if it exists."""
    body = {"template": template, "parameters": given, "joint_deployment": joint}
    try:
        return (await world.call("stack_update_preview", ref={"name": name, "id": None}, **body))["plan"]
    except EntityNotFound:
        return (await world.call("stack_preview", name=name, **body))["plan"]


async def test_a_parameter_without_a_known_value_is_planned(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="given"):
        await preview(world, "user", NEEDS, {})
    plan = await preview(world, "user", NEEDS, {"parameters": ["given"]})
    [step] = plan["steps"]
    assert (step["kind"], step["changes"][0]["known"]) == ("create", False)
    assert plan["digest"] is None
    assert plan["joint_deployment"] == {"changed_outputs": ["seen", "fixed"], "same_definition": False}


async def test_other_values_are_checked_nevertheless(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="nothing"):
        await preview(world, "user", NEEDS, {"parameters": ["given", "nothing"]})


async def test_the_plan_says_which_outputs_change_and_whether_the_definition_does(world: World) -> None:
    await world.create("user", NEEDS, parameters={"given": "one"})
    same = await preview(world, "user", NEEDS, {}, given="one")
    assert same["joint_deployment"] == {"changed_outputs": [], "same_definition": True}
    assert same["digest"] is not None
    other = await preview(world, "user", NEEDS, {}, given="two")
    assert other["joint_deployment"] == {"changed_outputs": ["seen"], "same_definition": False}


async def test_missing_export_is_planned(world: World) -> None:
    plan = await preview(world, "user", IMPORTER, {"exports": ["shared"]})
    assert [step["changes"][0]["known"] for step in plan["steps"]] == [False]
    assert plan["digest"] is None


async def test_an_export_that_is_released_by_then_can_be_removed_in_a_plan(world: World) -> None:
    await world.create("source", exporter("one"))
    await world.create("user", IMPORTER)
    without = {**HEAD, "Resources": exporter("one")["Resources"]}
    with pytest.raises(StackValidationFailed, match="in use"):
        await preview(world, "source", without, {})
    plan = await preview(world, "source", without, {"released": ["shared"]})
    assert "consumers" not in plan
    moved = await preview(world, "third", exporter("two"), {"released": ["shared"]})
    assert moved["steps"]


async def test_a_plan_lists_the_stacks_that_import(world: World) -> None:
    await world.create("source", plain("one"))
    await world.create("user", IMPORTER)
    for template, change in ((plain("one"), "unchanged"), (plain("two"), "changed"), (drawn(5), "unknown")):
        plan = await preview(world, "source", template, {})
        assert plan["consumers"] == [{"export": "shared", "stacks": ["user"], "change": change}]
    [listed] = await world.call("export_list")
    assert listed["importers"] == ["user"]
