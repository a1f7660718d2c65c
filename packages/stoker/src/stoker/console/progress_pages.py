"""Pictures of a stack's work: the graph of its resources, and the timeline of an operation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from markupsafe import Markup

from stoker.authoring.graph import Edge, Graph, Node
from stoker.authoring.plan_steps import policy_sentences
from stoker.authoring.svg import drawing
from stoker.console.exchange import Exchange
from stoker.console.gantt import ORDERS, Axis, bars_of
from stoker.console.gateway import Answer
from stoker.console.rendering import split_state
from stoker.console.stack_pages import DEPTH, below, latest_operations, show
from stoker.console.timeline import MOST_EVENTS, Span, is_incomplete, recorded_events, spans
from stoker.console.tree import Row, row_key, tree

_MOST_INSIDE = 30
"""Resources of a nested stack that are drawn; of a larger one, only the resource that creates it."""
_MOST = 300


def graph(exchange: Exchange) -> None:
    """Show the resources of a stack and their dependencies."""
    identifier = exchange.path["stack_id"]
    rows = tree(below(exchange, "/resources", nested_depth=DEPTH)["resources"], identifier)
    size, content = (0.0, 0.0), ""
    too_many = sum(row.stack_id == identifier for row in rows) > _MOST
    if rows and not too_many:
        size, content = drawing(graph_of(rows, identifier))
    marker = _last_event(exchange)
    show(exchange, "graph.html", "graph", drawing=Markup(content), size=size, too_many=too_many, marker=marker)  # noqa: S704  escaped by `drawing`


def graph_of(rows: Sequence[Row], stack_id: str) -> Graph:
    """Return the graph of the resources of one stack, with those of nested stacks that are not too large."""
    own = [row for row in rows if row.stack_id == stack_id]
    names = {row.resource["resource_name"] for row in own}
    nodes = tuple(_node(row, rows) for row in own)
    edges = tuple(
        Edge(row.key, row_key(stack_id, after), "reference")
        for row in own
        for after in row.resource["required_by"]
        if after in names
    )
    return Graph(nodes, edges)


def _node(row: Row, rows: Sequence[Row]) -> Node:
    inside = graph_of(rows, row.nested) if row.nested and 0 < row.inside <= _MOST_INSIDE else None
    name, kind = row.resource["resource_name"], row.resource["resource_type"]
    if row.inside > _MOST_INSIDE:
        kind = f"{kind} ({row.inside} resources)"
    status = split_state(row.resource["resource_status"])[1] or "NONE"
    return Node(row.key, name, kind, conditional=False, inside=inside, status=status)


def timeline(exchange: Exchange) -> None:
    """Show when an operation worked on each resource."""
    operations = latest_operations(exchange)
    chosen = next((item for item in operations if item["id"] == exchange.query("operation")), None)
    chosen = chosen or next(iter(operations), None)
    order = exchange.query("order") if exchange.query("order") in ORDERS else next(iter(ORDERS))
    events = recorded_events(exchange, DEPTH)
    values: dict[str, Any] = {"bars": [], "axis": None, "seconds": 0.0, "incomplete": False, "policies": []}
    if chosen is not None:
        began, ended = period_of(chosen, exchange.now)
        actions = spans(events)
        axis = Axis.of(began, ended, growing=chosen["finished_at"] is None)
        values = {
            "bars": bars_of(actions, axis, ended, order, _owners(exchange, actions)),
            "axis": axis,
            "seconds": ended - began,
            "incomplete": is_incomplete(events, actions, _seconds(chosen["timestamps"]["created_at"]), ended),
            "policies": policy_sentences(below(exchange, f"/operations/{chosen['id']}")["operation"]["plan"] or {}),
        }
    show(
        exchange,
        "timeline.html",
        "timeline",
        operations=operations,
        chosen=chosen,
        order=order,
        orders=ORDERS,
        marker=events[0]["id"] if events else "",
        most_events=MOST_EVENTS,
        **values,
    )


def _owners(exchange: Exchange, actions: Sequence[Span]) -> dict[str, str]:
    """Return the key of the resource of each nested stack by its ID, if events do not show all of them.

    A resource gets the ID of its nested stack only after its first event.
    """
    identifier = exchange.path["stack_id"]
    unknown = {span.stack_id for span in actions} - {span.physical_id for span in actions} - {identifier}
    if not unknown:
        return {}
    rows = tree(below(exchange, "/resources", nested_depth=DEPTH)["resources"], identifier)
    return {row.nested: row.key for row in rows if row.nested}


def period_of(operation: Answer, now: float) -> tuple[float, float]:
    """Return when an operation began and ended, as exact as the times of events."""
    times = operation["timestamps"]
    ended = now if times["finished_at"] is None else _seconds(times["finished_at"])
    return _seconds(times["started_at"] or times["created_at"]), ended


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _last_event(exchange: Exchange) -> str:
    latest = below(exchange, "/events", nested_depth=DEPTH, limit=1, sort_dir="desc")["events"]
    return str(latest[0]["id"]) if latest else ""
