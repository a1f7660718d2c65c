"""The pages of one stack."""

from __future__ import annotations

from typing import Any

import yaml

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, segment, stack_path
from stoker.console.rendering import split_state
from stoker.console.stacks import offered, show_stack, show_stack_with_outputs
from stoker.console.timeline import latest_spans, recorded_events
from stoker.console.tree import tree

DEPTH = 20
"""Levels of nested stacks that are requested; more than the service allows."""

_EVENTS = 100


def resources(exchange: Exchange) -> None:
    """Show the resources of a stack as a tree."""
    events = recorded_events(exchange, DEPTH)
    rows = tree(below(exchange, "/resources", nested_depth=DEPTH)["resources"], exchange.path["stack_id"])
    show(
        exchange,
        "resources.html",
        "resources",
        rows=rows,
        spans=latest_spans(events),
        marker=events[0]["id"] if events else "",
    )


def stream(exchange: Exchange) -> None:
    """Send the events of a stack as they are recorded."""
    marker = exchange.query("marker") or None
    exchange.send_stream(exchange.api.stream(_path(exchange, "/events"), {"nested_depth": DEPTH, "marker": marker}))


def events(exchange: Exchange) -> None:
    """Show the events of a stack, newest first."""
    marker = exchange.query("marker")
    found = below(
        exchange, "/events", nested_depth=DEPTH, limit=_EVENTS, sort_dir="desc", marker=marker or None
    )["events"]  # fmt: skip
    following = found[-1]["id"] if len(found) == _EVENTS else ""
    show(exchange, "events.html", "events", events=found, following=following, marker=marker)


def details(exchange: Exchange) -> None:
    """Show the outputs, the parameters and the history of a stack."""
    operations = below(exchange, "/operations", limit=20)["operations"]
    show(exchange, "details.html", "details", stack=show_stack_with_outputs(exchange), operations=operations)


def definition(exchange: Exchange) -> None:
    """Show the template, the environment and the files of a stack."""
    documents = [("Template", _as_yaml(below(exchange, "/template")))]
    documents.append(("Environment", _as_yaml(below(exchange, "/environment"))))
    documents += [(name, text) for name, text in sorted(below(exchange, "/files").items())]
    show(exchange, "definition.html", "definition", documents=documents)


def resource(exchange: Exchange) -> None:
    """Show one resource with its attributes and events."""
    name = exchange.path["resource_name"]
    found = exchange.api.get(_path(exchange, f"/resources/{segment(name)}"))["resource"]
    events = exchange.api.get(
        _path(exchange, "/events"), {"resource_name": name, "limit": _EVENTS, "sort_dir": "desc"}
    )["events"]  # fmt: skip
    show(exchange, "resource.html", "resources", resource=found, events=events)


def show(
    exchange: Exchange, template: str, tab: str, status: int = 200, *, stack: Answer | None = None, **values: Any
) -> None:
    """Show a page of the stack in the URL, with what all of its pages have; `stack` if it is known already."""
    stack = stack or show_stack(exchange)
    state = stack["stack_status"]
    common: dict[str, Any] = {
        "stack": stack,
        "tab": tab,
        "actions": offered(state),
        "busy": split_state(state)[1] == "IN_PROGRESS",
    }
    exchange.show(template, status, **common, **values)


def below(exchange: Exchange, tail: str, **query: Any) -> Answer:
    """Return what the API has below the stack in the URL."""
    answer: Answer = exchange.api.get(_path(exchange, tail), query)
    return answer


def _path(exchange: Exchange, tail: str) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], tail)


def _as_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))
