"""The progress of an action on a stack: the tree of the resources that it has affected, built from events."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack

_REPLACED = " (replaced)"
"""Follows the name of a resource's former object, which is deleted after its replacement."""


@dataclass(slots=True)
class Node:
    """A resource as reported by its events; `began` is None if its start was not seen. Times are the service's.

    `since` is when the first event of its present state was read, on the clock of this machine, in seconds. Further
    events of the same state only say what it waits for. `held` is whether a hook pauses it. `note` is the reason of its
    last event, if it adds to the state: why it failed, or what it waits for.
    """

    state: str = ""
    note: str = ""
    physical_id: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    since: float = 0.0
    held: bool = False
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        """Whether an action on it is in progress, or paused by a hook, if only before its creation."""
        return self.held or self.state.endswith("IN_PROGRESS") or self.state.startswith("INIT")

    def take(self, event: Answer, now: float) -> None:
        """Apply an event, read at `now`."""
        continued = self.state == event["resource_status"] and self.state.endswith("IN_PROGRESS")
        self.state = event["resource_status"]
        self.physical_id = event["physical_resource_id"] or ""
        self.held = hook_of(event) is not None
        waits = continued and not _is_of_stack(event)
        self.note = event["resource_status_reason"] or "" if waits or self.held or self.failed else ""
        if continued and not self.held:
            return
        self.since = now
        when = exact_time(event)
        if self.state.endswith("IN_PROGRESS"):
            self.began, self.ended = when, None
        else:
            self.ended = when

    @property
    def failed(self) -> bool:
        """Whether its last action has failed."""
        return self.state.endswith("FAILED")

    @property
    def settled(self) -> bool:
        """Whether it and everything inside it is complete."""
        return (
            self.state.endswith("COMPLETE")
            and not self.running
            and all(child.settled for child in self.children.values())
        )

    def took(self) -> str:
        """Return the duration; empty if it is not finished, or took less than a second."""
        seconds = 0.0 if self.began is None or self.ended is None else (self.ended - self.began).total_seconds()
        return duration(seconds) if seconds >= 1 else ""


class Progress:
    """The tree of resources that an action has affected, built from events."""

    def __init__(self, stack: Stack, marker: str | None, planned: int | None = None) -> None:
        """`marker` is the last event to skip, `planned` the number of changes in the plan, if that is known.

        `latest` is the resource of the latest event, if any (path, node), `event` the latest event itself.
        """
        self.stack = stack
        self.planned = planned
        self.root = Node()
        self.marker = marker
        self.latest: tuple[tuple[str, ...], Node] | None = None
        self.event: Answer | None = None
        self._made = set[tuple[str, ...]]()

    def take(self, event: Answer) -> None:
        """Apply an event."""
        self.marker, self.event = event["id"], event
        path = path_of(event, self.stack)
        node = self._node(path)
        if _is_of_stack(event):
            self._made = {made for made in self._made if made[: len(path)] != path}  # a rollback deletes what was made
        elif event["resource_status"] == "CREATE_COMPLETE":
            self._made.add(path)
        is_other = path in self._made or node.physical_id not in _ids(event)
        if event["resource_status"].startswith("DELETE") and is_other:
            path = (*path[:-1], f"{path[-1]}{_REPLACED}")
            node = self._node(path)
        node.take(event, time.monotonic())
        cause = self._cause(event)
        if cause is not node and cause.failed and cause.note:
            node.note = ""
        self.latest = None if _is_of_stack(event) else (path, node)

    @property
    def count(self) -> str:
        """How many of the planned changes are finished, as `12 of 34`; empty if the plan is not known."""
        if not self.planned:
            return ""
        done = sum(not node.running and not path[-1].endswith(_REPLACED) for path, node in self.nodes() if node.state)
        return f"{min(done, self.planned)} of {self.planned}"

    def shows(self, failure: Answer) -> bool:
        """Return whether the tree names the cause of a failure, which an event of the stack reports."""
        cause = self._cause(failure)
        return cause.failed and bool(cause.note)

    def _cause(self, event: Answer) -> Node:
        """Return the node of the resource whose failure an event reports, otherwise that of the event's resource."""
        node = self.root
        for name in event.get("cause") or path_of(event, self.stack):
            node = node.children.get(name) or Node()
        return node

    def nodes(self) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Yield the path and the node of each affected resource, parents first."""
        pending: list[tuple[tuple[str, ...], Node]] = [((), self.root)]
        while pending:
            path, node = pending.pop()
            if path:
                yield path, node
            pending += (((*path, name), child) for name, child in node.children.items())

    def _node(self, path: tuple[str, ...]) -> Node:
        node = self.root
        for name in path:
            node = node.children.setdefault(name, Node())
        return node


def duration(seconds: float) -> str:
    """Return a duration as people write it, such as `1m05s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


def latest_action(stack: Stack, depth: int) -> tuple[str | None, list[Answer]]:
    """Return the last event before the latest action that a user has started on a stack, if any, and the events since.

    A rollback belongs to the action before it. Events of nested stacks down to `depth` are included.
    """
    marker: str | None = None
    events: list[Answer] = []
    for event in stack.events(depth=depth):
        action, _, status = event["resource_status"].partition("_")
        if event["physical_resource_id"] == stack.id and status == "IN_PROGRESS" and action != "ROLLBACK":
            marker = events[-1]["id"] if events else marker
            events.clear()
        events.append(event)
    return marker, events


def path_of(event: Answer, stack: Stack) -> tuple[str, ...]:
    """Return the names from a stack down to the resource of one of its events, or one of a stack nested in it.

    An event of a nested stack itself belongs to its resource. Where the service does not know the names, because an
    earlier release has recorded them, the nested stack's name replaces them.
    """
    if (path := event.get("path")) is not None:
        return tuple(path)
    nested = _linked(event, "stack")
    above = () if nested[1] == stack.id else (nested[0],)
    return above if _is_of_stack(event) else (*above, event["resource_name"])


def exact_time(event: Answer) -> datetime:
    """Return when an event was recorded, with milliseconds if the service tells them."""
    return datetime.fromisoformat(event.get("timestamp") or event["event_time"])


def hook_of(event: Answer) -> str | None:
    """Return the hook, such as `pre-create`, that pauses the event's resource from then on; None if there is none."""
    hook = event.get("hook")
    return hook["name"] if hook is not None and hook["held"] else None


def _ids(event: Answer) -> tuple[str, str]:
    """Return the physical IDs that the node of an event may have: none yet, or that of the event."""
    return ("", event["physical_resource_id"] or "")


def _is_of_stack(event: Answer) -> bool:
    """Return whether an event is that of a stack itself."""
    return bool(event["physical_resource_id"] == _linked(event, "stack")[1])


def _linked(event: Answer, relation: str) -> tuple[str, str]:
    """Return the name and the ID of the stack that a link of an event refers to."""
    href = next(link["href"] for link in event["links"] if link["rel"] == relation)
    name, _, identifier = href.rpartition("/")
    return name.rpartition("/")[2], identifier
