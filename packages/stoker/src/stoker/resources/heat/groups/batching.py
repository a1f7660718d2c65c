"""Batches in which groups of identical members change: their sizes, and the members that each one changes.

Every function here is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from stoker.base import budget

Definitions = dict[str, Any]
"""Members' entries in the resources section of their nested template, by name."""


class Batch(NamedTuple):
    """One step of an update: the group's size after it, and how many members may get the new definition.

    `pause` is the time in seconds to wait before it begins.
    """

    size: int
    changes: int
    pause: float = 0.0


class RollingUpdate(NamedTuple):
    """Settings of a rolling update: members per batch, members that remain in service, seconds between batches."""

    max_batch_size: int
    min_in_service: int
    pause: float


Counted = Callable[[Batch, int, int], int]
"""Called with (batch, current size, target): how many outdated members are up to date after the batch."""


def every_change(batch: Batch, current: int, target: int) -> int:
    """Count every change: for groups that scale, whose members are interchangeable."""
    return batch.changes


def lasting_changes(batch: Batch, current: int, target: int) -> int:
    """Do not count members that exist only during the update: for groups whose members have fixed names."""
    return batch.changes - max(batch.size - max(current, target), 0)


def batches(target: int, current: int, rolling: RollingUpdate, counted: Counted, updated: int = 0) -> Iterator[Batch]:
    """Yield the batches that bring a group of `current` members to a new definition and to `target` members.

    `updated` is the number of members that have the new definition already, all of which remain.
    """
    pause = 0.0
    while updated < current or current != target:
        batch = _next_batch(target, current, updated, rolling)._replace(pause=pause)
        yield batch
        updated += counted(batch, current, target)
        current, pause = batch.size, rolling.pause


def _next_batch(target: int, current: int, updated: int, rolling: RollingUpdate) -> Batch:
    in_service = min(rolling.min_in_service, target, current)
    changes = min(rolling.max_batch_size, max(target - updated, 0))
    return Batch(changes + max(min(current, target - changes), in_service), changes)


def member_definitions(
    former: Iterable[tuple[str, object]], batch: Batch, new_names: Iterator[str], define: Callable[[str], object]
) -> Definitions:
    """Return the members after a batch.

    `former` are the members' names and definitions, those to remove first at the front; `new_names` supplies names for
    added members, and `define` returns the new definition for a name.
    """
    budget.members(batch.size)
    listed = list(former)
    kept = listed[max(len(listed) - batch.size, 0) :]
    added = batch.size - len(kept)
    allowance = batch.changes - added
    result: Definitions = {}
    for name, definition in kept:
        new_definition = define(name)
        if definition != new_definition and allowance > 0:
            allowance -= 1
            definition = new_definition
        result[name] = definition
    for _ in range(added):
        name = next(new_names)
        result[name] = define(name)
    return result
