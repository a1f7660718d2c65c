"""Pictures of a stack's work: the graph of its resources, and the timeline of an operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from stoker.authoring.graph import Edge, Graph, Node
from stoker.authoring.svg import drawing
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer
from stoker.console.rendering import split_state
from stoker.console.stack_pages import DEPTH, below, show
from stoker.console.timeline import Span, recorded_events, spans
from stoker.console.tree import Row, row_key, tree

_MOST_INSIDE = 30
"""Resources of a nested stack that are drawn; of a larger one, only the resource that creates it."""
_MOST = 300
_WIDTH = 1000
"""Width of the timeline in its own units."""
_NARROWEST = 4
_OPERATIONS = 50


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


@dataclass(frozen=True, slots=True)
class Bar:
    """An action on a resource in the timeline; `left` and `width` are in its units."""

    span: Span
    left: float
    width: float


def timeline(exchange: Exchange) -> None:
    """Show when an operation worked on each resource."""
    operations = below(exchange, "/operations", limit=_OPERATIONS)["operations"]
    chosen = next((item for item in operations if item["id"] == exchange.query("operation")), None)
    chosen = chosen or next(iter(operations), None)
    events = recorded_events(exchange, DEPTH)
    bars: list[Bar] = []
    seconds = 0.0
    if chosen is not None:
        began, ended = _period(chosen, exchange.now)
        seconds = ended - began
        bars = bars_of(spans(events), began, ended)
    show(
        exchange,
        "timeline.html",
        "timeline",
        operations=operations,
        chosen=chosen,
        bars=bars,
        seconds=seconds,
        marker=events[0]["id"] if events else "",
    )


def bars_of(found: Sequence[Span], began: float, ended: float) -> list[Bar]:
    """Return the bars of the actions that began between two times."""
    scale = _WIDTH / max(ended - began, 1.0)
    bars = []
    for span in found:
        if not began <= span.began <= ended:
            continue
        left = (span.began - began) * scale
        width = max(((ended if span.ended is None else min(span.ended, ended)) - span.began) * scale, _NARROWEST)
        bars.append(Bar(span, min(left, _WIDTH - _NARROWEST), width))
    return bars


def _period(operation: Answer, now: float) -> tuple[float, float]:
    """Return when an operation began and ended; events have whole seconds."""
    began = _seconds(operation["started_at"] or operation["created_at"])
    ended = now if operation["finished_at"] is None else _seconds(operation["finished_at"])
    return began, max(ended, began + 1)


def _seconds(text: str) -> float:
    return float(int(datetime.fromisoformat(text).timestamp()))


def _last_event(exchange: Exchange) -> str:
    found = below(exchange, "/events", nested_depth=DEPTH, limit=1, sort_dir="desc")["events"]
    return str(found[0]["id"]) if found else ""
