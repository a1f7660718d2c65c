"""Plans of many kinds of updates, compared with what they were when somebody last read them.

Each file of `golden/` is one case: what was made (and then changed) before, what is wanted (a definition, or `delete`
with the options of a deletion), and after a line of dashes
the plan: first in the order of its steps, then as `stoker plan` shows it. `make plans` writes all plans again and
shows what that changed; commit the difference when it is what you meant.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from stoker.cli.views.plans import plan_lines
from testing.harness import World

GOLDEN = Path(__file__).parent / "golden"
RULE = "\n" + "-" * 80 + "\n"
REWRITES = bool(os.environ.get("STOKER_REWRITE_PLANS"))
HEADER = {"heat_template_version": "2021-04-16"}
"""The version of templates that do not say that they are CloudFormation's."""


@dataclass
class Case:
    """One file: `given` is what is above the rule, `plan` what is below."""

    path: Path
    given: str
    plan: str

    @classmethod
    def read(cls, path: Path) -> Case:
        given, _, plan = path.read_text(encoding="utf-8").partition(RULE)
        return cls(path, given, plan)

    def steps(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """What was done before, one body after the other, and what is wanted."""
        data = yaml.safe_load(self.given)
        return [_body(entry) if "template" in entry else entry for entry in data["before"]], _body(data["wanted"])

    def write(self, plan: str) -> None:
        self.path.write_text(f"{self.given}{RULE}{plan}", encoding="utf-8")


def _body(entry: dict[str, Any]) -> dict[str, Any]:
    body = dict(entry)
    if "delete" in body:
        return body
    written = body.pop("template")
    template = written if "AWSTemplateFormatVersion" in written else {**HEADER, **written}
    files = {name: yaml.safe_dump({**HEADER, **text}) for name, text in body.pop("files", {}).items()}
    return {"template": template, "files": files, **body}


def cases() -> Iterator[Case]:
    yield from (Case.read(path) for path in sorted(GOLDEN.glob("*.yaml")))


_RANDOM = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\bweb-(\w+)-[a-z2-7]{12}\b"), r"web-\1-<random>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
)


def without_random(text: str) -> str:
    """Ids and names that differ each time, as what they are."""
    for pattern, name in _RANDOM:
        text = pattern.sub(name, text)
    return text


async def act_outside(world: World, resource: str, path: str, change: Any = None) -> None:
    """Change the object of a resource at the path of its collection, or delete it, not through Stoker."""
    identifier = (await world.resources("web"))[resource]["physical_id"]
    method = "DELETE" if change is None else "PUT"
    answer = world.served.call(method, f"{path}/{identifier}", change, world.served.token("demo", "demo"))
    assert answer.status < 300


async def plan_of(world: World, case: Case) -> dict[str, Any]:
    before, after = case.steps()
    ref = {"name": "web", "id": None}
    if not before:
        previewed: dict[str, Any] = await world.call("stack_preview", name="web", **after)
        return dict(previewed["plan"])
    created = await world.call("stack_create", name="web", **before[0])
    await world.settle(created["id"])
    for change in before[1:]:
        if "mark_unhealthy" in change:
            await world.call("resource_mark_unhealthy", ref=ref, name=change["mark_unhealthy"], mark_unhealthy=True)
            continue
        if "outside" in change:
            await act_outside(world, **change["outside"])
            continue
        changed = await world.call("stack_update", ref=ref, **change)
        await world.settle(changed["id"])
    if "delete" in after:
        deletion = await world.call("stack_action_preview", ref=ref, action="delete", **after["delete"])
        return dict(deletion["plan"])
    answer: dict[str, Any] = await world.call("stack_update_preview", ref=ref, **after)
    return dict(answer["plan"])


def in_order(plan: dict[str, Any]) -> str:
    """A line for each step that does something, with the numbers of those that come first."""
    numbers = {step["key"]: number for number, step in enumerate(plan["steps"], 1)}
    lines = []
    for step in plan["steps"]:
        if step["kind"] == "keep":
            continue
        after = " ".join(str(number) for number in sorted(numbers[key] for key in step["after"] if key in numbers))
        line = f"{numbers[step['key']]} {step['kind']} {step['path']}"
        line += f" after {after}" if after else ""
        reasons = (f"{reason['message']} [{reason['code']}]" for reason in step["reasons"])
        lines.append(f"{line}: {'; '.join(reasons)}")
    return "\n".join(lines) or "nothing"


def on_screen(plan: dict[str, Any]) -> str:
    """The plan on a terminal of 100 columns, without colours."""
    out = Console(file=io.StringIO(), width=100, color_system=None)
    return "\n".join(line.plain.rstrip() for line in plan_lines("web", plan, out))


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.path.stem)
async def test_plan_equals_golden_plan(world: World, case: Case) -> None:
    found = await plan_of(world, case)
    plan = without_random(f"{in_order(found)}\n\n{on_screen(found)}\n")
    if REWRITES:
        case.write(plan)
    assert plan == case.plan or REWRITES


def test_there_are_two_dozen_cases() -> None:
    assert len(list(cases())) >= 24
