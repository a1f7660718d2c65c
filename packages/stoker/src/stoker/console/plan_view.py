"""Plans as the pages show them."""

from __future__ import annotations

import json

from stoker.authoring.plan_steps import (
    change_name,
    changes,
    compared,
    costs,
    data_loss,
    ignored,
    is_removed,
    kept,
    left_behind,
    not_compared,
    not_counted,
    reasons,
    shown_kind,
    skipped,
)
from stoker.console.gateway import Answer


def shown_steps(plan: Answer) -> list[Answer]:
    """Return the steps of a plan as the page shows them."""
    retained = left_behind(plan)
    shown = []
    for step in changes(plan):
        notes = list(reasons(step))
        if step["kind"] == "replace" and step["path"] in retained:
            notes.append(f"of the former one, {retained[step['path']]}")
        shown.append(
            {
                "kind": shown_kind(step),
                "path": step["path"],
                "type": step["type"],
                "depth": step["depth"],
                "codes": [reason["code"] for reason in step["reasons"]],
                "notes": notes,
                "loss": data_loss(step),
                "changes": [*map(_shown_change, step["changes"]), *map(_shown_part, step.get("definition", ()))],
            }
        )
    return shown


def cost_lines(plan: Answer) -> list[str]:
    """Return the sentences about the costs of a plan; empty if the service has no price list."""
    return [sentence for sentence in (costs(plan), *not_counted(plan)) if sentence]


def comparison_lines(plan: Answer) -> list[str]:
    """Return what a plan has compared with the cloud, and what it could not or leaves out; empty for none of it."""
    nothing_compared = "The cloud was not asked." if plan.get("refresh") is not None else ""
    sentences = (compared(plan) or nothing_compared, *not_compared(plan), *ignored(plan), skipped(plan))
    return [sentence for sentence in sentences if sentence]


def kept_values(plan: Answer) -> list[str]:
    """Return what differs from the template and stays nevertheless."""
    return [f"{step['path']}: {reason['message']}" for step in kept(plan) for reason in step["reasons"]]


def _shown_part(change: Answer) -> Answer:
    return _shown_change({**change, "property": f"{change['property']} of the resource", "effect": ""})


def _shown_change(change: Answer) -> Answer:
    effects = {
        "replace": "forces replacement" if change["known"] else "may force replacement",
        "refuse": "cannot be changed: the update will fail",
    }
    return {
        "name": change_name(change),
        "before": _shown(change["before"], change),
        "after": _after(change),
        "effect": effects.get(change["effect"], ""),
    }


def _after(change: Answer) -> str:
    if is_removed(change):
        return ""
    if change["hidden"]:
        return "(hidden)"
    return _shown(change["after"], change) if change["known"] else "known after the deployment"


def _shown(value: object, change: Answer) -> str:
    if value is None:
        return ""
    return "(hidden)" if change["hidden"] else as_text(value) or '""'


def as_text(value: object) -> str:
    """Return a value as it is entered in a form: JSON, but a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
