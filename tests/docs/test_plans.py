"""The worked examples of the page about plans: each plan is what the planner makes of the templates before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from stoker.contract.stacks import StackInputs
from stoker.engine.calls.context import StackContext
from stoker.engine.planning.action_order import plan_removal
from stoker.engine.planning.retention import RemovalOptions
from stoker.engine.records.stack_view import filled
from stoker.operations.lookup import find_stack
from stoker.operations.planning import make_plan
from stoker.operations.requests import check_request, examine_environment, parse_template
from stoker.operations.stacks import requested_stack
from stoker.store.records import Stack
from testing.harness import World

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "plans.md"
BLOCK = re.compile(r"```\{code-block\} \w+\n:caption: ([^\n]+)\n\n(.*?)\n```", re.DOTALL)
HEADER = "heat_template_version: 2021-04-16\n"


@dataclass
class Example:
    """Templates that are made one after the other, the one of the update, and the plan in between."""

    recorded: list[str] = field(default_factory=list)
    after: str = ""
    kind: str = ""
    plan: str = ""


def examples() -> Iterator[Example]:
    example = Example()
    for caption, body in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if caption == "Recorded":
            example.recorded.append(body)
        elif caption == "Wanted":
            example.after = body
        else:
            example.kind, example.plan = caption, body
            yield example
            example = Example()


async def plan_towards(world: World, stack: Stack, template: str, action: str) -> str:
    request = StackInputs(template=HEADER + template)
    parsed = await parse_template(world.engine.services, world.context, request.template)
    environment, _ = await examine_environment(world.engine.services, world.context, request, parsed)
    checked = await check_request(
        world.engine.submissions.components, world.context, stack, parsed, environment, {}, {}
    )
    return (await make_plan(world.engine.services, stack, checked, action)).text()


async def recorded(world: World, templates: list[str]) -> Stack:
    await world.create("example", HEADER + templates[0])
    for template in templates[1:]:
        await world.update("example", HEADER + template)
    return await find_stack(world.engine.services, world.context, {"name": "example", "id": None})


async def plan_of(world: World, example: Example) -> str:
    if not example.recorded:
        fresh = requested_stack(
            world.engine.services, world.context, "example", StackInputs(template=HEADER + example.after)
        )
        return await plan_towards(world, fresh, example.after, "CREATE")
    stack = await recorded(world, example.recorded)
    if example.kind == "Plan of the deletion":
        reading = await filled(StackContext(world.engine.submissions.components, stack, world.engine.services.journal))
        return plan_removal(RemovalOptions("DELETE"), list(reading.states.values())).text()
    return await plan_towards(world, stack, example.after or example.recorded[0], "UPDATE")


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.plan.partition("\n")[0])
async def test_the_plan_is_what_the_page_says(world: World, example: Example) -> None:
    assert await plan_of(world, example) == example.plan


def test_templates_of_the_page_are_valid() -> None:
    for example in examples():
        for text in (*example.recorded, example.after):
            made: Any = yaml.safe_load(text)
            assert made is None or set(made) == {"resources"}
