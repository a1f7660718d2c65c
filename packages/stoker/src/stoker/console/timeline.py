"""When the actions on resources began and ended, from the events of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, stack_path
from stoker.console.rendering import split_state
from stoker.console.tree import linked, row_key

MOST_EVENTS = 5000
"""Events that a page reads; the durations of what is older are not shown."""


@dataclass(frozen=True, slots=True)
class Span:
    """An action on a resource; times in seconds since 1970, `ended` is None while it is in progress.

    `place` is that of its first event among all. `physical_id` is what the resource had by the end, for example the ID
    of its nested stack; `reason` is empty unless the action failed.
    """

    key: str
    resource_name: str
    stack_name: str
    stack_id: str
    physical_id: str
    action: str
    state: str
    reason: str
    began: float
    ended: float | None
    place: int

    @property
    def seconds(self) -> float | None:
        """The duration; None while it is in progress."""
        return None if self.ended is None else self.ended - self.began


def recorded_events(exchange: Exchange, depth: int) -> list[Answer]:
    """Return the events of the stack in the URL and of nested stacks down to `depth`, newest first."""
    path = stack_path(exchange.path["stack_name"], exchange.path["stack_id"], "/events")
    events: list[Answer] = exchange.api.get(
        path, {"nested_depth": depth, "limit": MOST_EVENTS, "sort_dir": "desc"}
    )["events"]  # fmt: skip
    return events


def latest_spans(events: Sequence[Answer]) -> dict[str, Span]:
    """Return the latest action on each resource by the key of its row; `events` are newest first."""
    return {span.key: span for span in spans(events)}


def spans(events: Sequence[Answer]) -> list[Span]:
    """Return all actions in the order in which they began; `events` are newest first."""
    open_spans: dict[str, Span] = {}
    done: list[Span] = []
    for place, event in enumerate(reversed(events)):
        stack_name, stack_id = linked(event, "stack")
        if event["physical_resource_id"] == stack_id:
            continue  # the event of a stack itself
        key = row_key(stack_id, event["resource_name"])
        action, status = split_state(event["resource_status"])
        when = _moment(event)
        begun = open_spans.get(key)
        if begun is not None and begun.action != action:
            done.append(open_spans.pop(key))
            begun = None
        began, first = (when, place) if begun is None else (begun.began, begun.place)
        ended = None if status == "IN_PROGRESS" else when
        span = Span(
            key,
            event["resource_name"],
            stack_name,
            stack_id,
            event["physical_resource_id"] or "",
            action,
            event["resource_status"],
            (event["resource_status_reason"] or "") if status == "FAILED" else "",
            began,
            ended,
            first,
        )
        if ended is None:
            open_spans[key] = span
        else:
            open_spans.pop(key, None)
            done.append(span)
    return sorted([*done, *open_spans.values()], key=lambda span: span.place)


def is_incomplete(events: Sequence[Answer], spans: Sequence[Span], began: float, ended: float) -> bool:
    """Return whether events of actions between two times are missing: the service removes the oldest of a stack.

    The first event of an operation on a stack is that of the stack itself, which is recorded with the request.
    """
    begun = set()
    for event in events:
        stack_id = linked(event, "stack")[1]
        itself = event["physical_resource_id"] == stack_id and event["resource_status"].endswith("_IN_PROGRESS")
        if itself and _moment(event) >= began:
            begun.add(stack_id)
    return any(began <= span.began <= ended and span.stack_id not in begun for span in spans)


def _moment(event: Answer) -> float:
    """Return when an event was recorded, in seconds since 1970."""
    return datetime.fromisoformat(event["timestamp"]).timestamp()
