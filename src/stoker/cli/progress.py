"""The progress of an action on a stack: the tree of the resources that it has affected, built from events."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from stoker.cli.service import Answer, Stack

_ORDINARY = re.compile(r"(state changed|Stack \w+ started)?")
"""Reasons of steps in progress that add nothing to the state."""

_HELD = re.compile(r"\w+ paused until Hook (\S+) is cleared")
"""The reason in the event of a hook that begins to pause a resource. The API has no other sign of it."""

_REPLACED = " (replaced)"
"""Follows the name of a resource's former object, which is deleted after its replacement."""


@dataclass(slots=True)
class Node:
    """A resource as reported by its events; `began` is None if its start was not seen. Times are the service's.

    `since` is when the first event of its present state was read, on the clock of this machine, in seconds. Further
    events of the same state only say what it waits for. `held` is whether a hook pauses it.
    """

    state: str = ""
    reason: str = ""
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
        self.state, self.reason = event["resource_status"], event["resource_status_reason"] or ""
        self.physical_id = event["physical_resource_id"] or ""
        self.held = hook_of(event) is not None
        if continued and not self.held:
            return
        self.since = now
        when = datetime.fromisoformat(event["event_time"])
        if self.state.endswith("IN_PROGRESS"):
            self.began, self.ended = when, None
        else:
            self.ended = when

    @property
    def settled(self) -> bool:
        """Whether it and everything inside it is complete."""
        return (
            self.state.endswith("COMPLETE")
            and not self.running
            and all(child.settled for child in self.children.values())
        )

    @property
    def note(self) -> str:
        """The reason of its last event, if it adds to the state: why it failed, or what it waits for.

        What failed because of a resource inside has none: the reason is that of the resource.
        """
        if self.state.endswith("FAILED"):
            return "" if any(child.causes(self.reason) for child in self.children.values()) else self.reason
        return self.reason if self.running and not _ORDINARY.fullmatch(self.reason) else ""

    def causes(self, reason: str) -> bool:
        """Return whether the reason of a failure around this resource repeats this one's.

        A reason is `ERROR: PATH: TEXT`; around it, the path is longer and other words may stand before the error.
        """
        own = self.reason.partition(": ")[2] or self.reason
        return self.state.endswith("FAILED") and bool(own) and reason.endswith(own)

    def took(self) -> str:
        """Return the duration; empty if it is not finished, or took less than the resolution of events (1 s)."""
        if self.began is None or self.ended is None or self.ended == self.began:
            return ""
        return duration((self.ended - self.began).total_seconds())


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
        self._paths: dict[str, tuple[str, ...]] = {stack.id: ()}
        self._named: dict[str, tuple[str, ...]] = {stack.name: ()}

    def take(self, event: Answer) -> None:
        """Apply an event. Raises Refused."""
        self.marker, self.event = event["id"], event
        path = self.path_of(event)
        node = self._node(path)
        if event["resource_status"].startswith("DELETE") and node.physical_id not in _ids(event):
            path = (*path[:-1], f"{path[-1]}{_REPLACED}")
            node = self._node(path)
        node.take(event, time.monotonic())
        self.latest = None if event["physical_resource_id"] == _linked(event, "stack") else (path, node)

    @property
    def count(self) -> str:
        """How many of the planned changes are finished, as `12 of 34`; empty if the plan is not known."""
        if not self.planned:
            return ""
        done = sum(not node.running and not path[-1].endswith(_REPLACED) for path, node in self.nodes() if node.state)
        return f"{min(done, self.planned)} of {self.planned}"

    def shows(self, cause: str) -> bool:
        """Return whether the tree names the cause of a failure: as the reason of the stack, or of a resource."""
        causes = [node for _, node in self.nodes() if node.note and node.causes(cause)]
        return bool(causes) or self.root.note == cause

    def nodes(self) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Yield the path and the node of each affected resource, parents first."""
        pending: list[tuple[tuple[str, ...], Node]] = [((), self.root)]
        while pending:
            path, node = pending.pop()
            if path:
                yield path, node
            pending += (((*path, name), child) for name, child in node.children.items())

    def path_of(self, event: Answer) -> tuple[str, ...]:
        """Return the path of an event's resource; a nested stack's own event belongs to its resource.

        Raises Refused.
        """
        stack_id = _linked(event, "stack")
        if stack_id not in self._paths:
            self._find_nested()
        if stack_id not in self._paths:
            self._paths[stack_id] = self._former(event)
        place = self._paths[stack_id]
        self._named[_stack_name(event)] = place
        return place if event["physical_resource_id"] == stack_id else (*place, event["resource_name"])

    def _find_nested(self) -> None:
        """Find the resources of nested stacks; parents are listed before their nested stacks."""
        for resource in self.stack.resources():
            nested = _linked(resource, "nested")
            above = self._paths.get(_linked(resource, "stack"))
            if nested and above is not None:
                self._paths[nested] = (*above, resource["resource_name"])

    def _former(self, event: Answer) -> tuple[str, ...]:
        """Return the path of a nested stack that is deleted, and so is no longer listed: its name is that of the stack
        around it, the resource's, and a random part. Where it is not, because it was too long, its name is the path.
        """
        name = _stack_name(event)
        around = max((known for known in self._named if name.startswith(f"{known}-")), key=len, default="")
        resource = name.removeprefix(f"{around}-").rpartition("-")[0]
        return (*self._named[around], resource) if around and resource else (name,)

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
    found: list[Answer] = []
    for event in stack.events(depth=depth):
        action, _, status = event["resource_status"].partition("_")
        if event["physical_resource_id"] == stack.id and status == "IN_PROGRESS" and action != "ROLLBACK":
            marker = found[-1]["id"] if found else marker
            found.clear()
        found.append(event)
    return marker, found


def hook_of(event: Answer) -> str | None:
    """Return the hook, such as `pre-create`, that pauses the event's resource from then on; None if there is none."""
    found = _HELD.fullmatch(event["resource_status_reason"] or "")
    return found[1] if found else None


def _ids(event: Answer) -> tuple[str, str]:
    """Return the physical IDs that the node of an event may have: none yet, or that of the event."""
    return ("", event["physical_resource_id"] or "")


def _linked(thing: Answer, relation: str) -> str:
    """Return the ID of the stack that a link refers to; empty if there is no such link."""
    found = [link["href"] for link in thing["links"] if link["rel"] == relation]
    return found[0].rpartition("/")[2] if found else ""


def _stack_name(event: Answer) -> str:
    """Return the name of an event's stack."""
    found = [link["href"] for link in event["links"] if link["rel"] == "stack"]
    return found[0].rpartition("/")[0].rpartition("/")[2] if found else ""
