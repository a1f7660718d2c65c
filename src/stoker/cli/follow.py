"""Follow an action on a stack: a live tree on a terminal, otherwise a line for each finished step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from stoker.cli.errors import LookedAway
from stoker.cli.formats import console, state_style
from stoker.cli.service import Answer, Stack

_ORDINARY = re.compile(r"(state changed|Stack \w+ started)?")
"""Reasons of steps in progress that add nothing to the state."""
_MARKS = {"COMPLETE": "✓", "FAILED": "✗"}


@dataclass(slots=True)
class Node:
    """A resource as reported by its events; `began` is None if its start was not seen. Times are the service's."""

    state: str = ""
    reason: str = ""
    physical_id: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        """Whether an action on it is in progress."""
        return self.state.endswith("IN_PROGRESS")

    def take(self, event: Answer) -> None:
        """Apply an event."""
        self.state, self.reason = event["resource_status"], event["resource_status_reason"] or ""
        self.physical_id = event["physical_resource_id"] or ""
        when = datetime.fromisoformat(event["event_time"])
        if self.running:
            self.began, self.ended = when, None
        else:
            self.ended = when

    @property
    def note(self) -> str:
        """The reason of its last event, if it adds to the state: why it failed, or what it waits for."""
        is_shown = self.state.endswith("FAILED") or (self.running and not _ORDINARY.fullmatch(self.reason))
        return self.reason if is_shown else ""

    def took(self) -> str:
        """Return the duration; empty if it is not finished, or took less than the resolution of events (1 s)."""
        if self.began is None or self.ended is None or self.ended == self.began:
            return ""
        return f"{(self.ended - self.began).total_seconds():.0f}s"


class Progress:
    """The tree of resources that an action has affected, built from events."""

    def __init__(self, stack: Stack, marker: str | None) -> None:
        """`marker` is the last event to skip; `latest` is the resource of the latest event, if any (path, node)."""
        self.stack = stack
        self.root = Node()
        self.marker = marker
        self.latest: tuple[tuple[str, ...], Node] | None = None
        self._paths: dict[str, tuple[str, ...]] = {stack.id: ()}

    def take(self, event: Answer) -> None:
        """Apply an event. Raises Refused."""
        self.marker = event["id"]
        path = self._path(event)
        node = self._node(path)
        if event["resource_status"].startswith("DELETE") and node.physical_id not in _ids(event):
            path = (*path[:-1], f"{path[-1]} (replaced)")
            node = self._node(path)
        node.take(event)
        self.latest = None if event["physical_resource_id"] == _linked(event, "stack") else (path, node)

    def _path(self, event: Answer) -> tuple[str, ...]:
        """Return the path of an event's resource; a nested stack's own event belongs to its resource."""
        stack_id = _linked(event, "stack")
        if stack_id not in self._paths:
            self._find_nested()
        place = self._paths.get(stack_id, (stack_id,))
        return place if event["physical_resource_id"] == stack_id else (*place, event["resource_name"])

    def _find_nested(self) -> None:
        """Find the resources of nested stacks; parents are listed before their nested stacks."""
        for resource in self.stack.resources():
            nested = _linked(resource, "nested")
            above = self._paths.get(_linked(resource, "stack"))
            if nested and above is not None:
                self._paths[nested] = (*above, resource["resource_name"])

    def _node(self, path: tuple[str, ...]) -> Node:
        node = self.root
        for name in path:
            node = node.children.setdefault(name, Node())
        return node


def _ids(event: Answer) -> tuple[str, str]:
    """Return the physical IDs that the node of an event may have: none yet, or that of the event."""
    return ("", event["physical_resource_id"] or "")


def _linked(thing: Answer, relation: str) -> str:
    """Return the ID of the stack that a link refers to; empty if there is no such link."""
    found = [link["href"] for link in thing["links"] if link["rel"] == relation]
    return found[0].rpartition("/")[2] if found else ""


class View(Protocol):
    """Displays progress to the user."""

    def show(self, progress: Progress) -> None:
        """Display the change by the latest event."""


class Lines:
    """Prints a line for every resource whose step ended or waits."""

    def __init__(self, out: Console) -> None:
        self._out = out

    def show(self, progress: Progress) -> None:
        if progress.latest is None:
            return
        path, node = progress.latest
        if not node.running or node.note:
            self._out.print(_line(".".join(path), node))


class LiveTree:
    """The whole tree, redrawn in place."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, progress: Progress) -> None:
        self._live.update(tree(progress))


def whole_tree(stack: Stack) -> Tree:
    """Return the tree of all events of a stack."""
    progress = Progress(stack, None)
    for event in stack.events():
        progress.take(event)
    return tree(progress)


def tree(progress: Progress) -> Tree:
    """Return the tree of affected resources, with nested stacks as branches."""
    drawn = Tree(_line(progress.stack.name, progress.root, bold=True), guide_style="dim")
    pending = [(drawn, progress.root)]
    while pending:
        branch, node = pending.pop()
        for name, child in node.children.items():
            label: Text | Table = _line(name, child)
            pending.append((branch.add(_spinning(name, child) if child.running else label), child))
    return drawn


def _line(name: str, node: Node, *, bold: bool = False) -> Text:
    style = state_style(node.state)
    mark = _MARKS.get(node.state.rpartition("_")[2], "…")
    text = Text.assemble((mark, style), " ", (name, "bold" if bold else ""), "  ", (node.state, style))
    if took := node.took():
        text.append(f"  {took}", "dim")
    if node.note:
        text.append(f"  {node.note}", "" if node.running else "red")
    return text


def _spinning(name: str, node: Node) -> Table:
    row = Table.grid(padding=(0, 1))
    state = Text(f" {node.state}", style="yellow")
    row.add_row(Spinner("dots", style="yellow"), Text(name), state, Text(node.note))
    return row


@contextmanager
def _view(out: Console) -> Iterator[View]:
    if not out.is_terminal:
        yield Lines(out)
        return
    with Live(console=out, refresh_per_second=8) as live:
        yield LiveTree(live)


def follow(stack: Stack, marker: str | None = None) -> Stack:
    """Show the progress of an action until it ends; return the stack in its final state.

    `marker` is the last event before the action. Raises LookedAway if the user interrupts the command.
    """
    try:
        return _followed(stack, marker)
    except KeyboardInterrupt:
        raise LookedAway(
            f"The operation on {stack.name} continues. `stoker stack events {stack.name} --follow` shows its events, "
            f"`stoker stack cancel {stack.name}` cancels an update."
        ) from None


def _followed(stack: Stack, marker: str | None) -> Stack:
    progress = Progress(stack, marker)
    with _view(console()) as view, closing(stack.watch(marker)) as watched:
        for event in watched:
            if event is not None:
                progress.take(event)
                view.show(progress)
            if (event is None or _may_be_last(event, stack)) and not (now := stack.again()).busy:
                break
        for event in stack.events(progress.marker):
            progress.take(event)
            view.show(progress)
    return now


def _may_be_last(event: Answer, stack: Stack) -> bool:
    """Return whether an event reports the end of an action on the stack itself."""
    return event["physical_resource_id"] == stack.id and not event["resource_status"].endswith("_IN_PROGRESS")


WANTED = ("CREATE", "UPDATE", "DELETE")
"""Actions that users request. A complete rollback does not mean that the requested action succeeded."""


def succeeded(stack: Stack, actions: tuple[str, ...] = WANTED) -> bool:
    """Return whether the last action was one of `actions`, and is complete."""
    action, _, status = stack.state.partition("_")
    return action in actions and status == "COMPLETE"
