"""A plan as text: what will be done to which resource, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from stoker.cli.formats import cell, console
from stoker.cli.service import Answer
from stoker.cli.sources import short

_SIGNS = {
    "create": ("+", "green"),
    "update": ("~", "yellow"),
    "replace": ("±", "magenta"),
    "delete": ("-", "red"),
    "act": (">", "cyan"),
}
_LONGEST_VALUE = 80


def changes(plan: Answer) -> list[Answer]:
    """The steps that do something; the removal of what a replacement leaves behind belongs to the replacement."""
    replaced = {step["path"] for step in plan["steps"] if step["kind"] == "replace"}
    return [
        step
        for step in plan["steps"]
        if step["kind"] in _SIGNS and not (step["kind"] == "delete" and step["path"] in replaced)
    ]


def summary(plan: Answer) -> str:
    """How much of what: `2 to create, 1 to update`."""
    kinds = [step["kind"] for step in changes(plan)]
    counts = [f"{kinds.count(kind)} to {kind}" for kind in _SIGNS if kind in kinds]
    return ", ".join(counts) or "nothing to change"


def show_plan(name: str, plan: Answer) -> None:
    """Print a plan for the stack `name`."""
    out = console()
    steps = changes(plan)
    if steps:
        out.print(Text.assemble("Plan for the stack ", (name, "bold"), ":"))
    width = max((len(step["path"]) for step in steps), default=0)
    for step in steps:
        sign, style = _SIGNS[step["kind"]]
        out.print(Text.assemble("  ", (f"{sign} {step['path']:{width}}", style), f"  {short(step['type'])}"))
        for line in _because(step):
            out.print(Text(f"      {line}", style="dim"), soft_wrap=True)
    out.print(Text(f"{summary(plan)[0].upper()}{summary(plan)[1:]}.", style="bold"))


def _because(step: Answer) -> Iterator[str]:
    """Why the step is there; a new resource needs no reason."""
    if step["kind"] == "create":
        return
    told = {change["property"] for change in step["changes"]}
    for change in step["changes"]:
        yield f"{change['property']}: {_value(change['before'])} → {_value(change['after'])}"
    for reason in step["reasons"]:
        if not any(property_name in reason for property_name in told):
            yield reason


def _value(value: Any) -> str:
    text = "nothing" if value is None else cell(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
