"""How groups of equal members change: sizes of batches, and who changes in each (facts: heat.yaml, group_algorithms).

Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from stoker.base import budget

Definitions = dict[str, Any]
"""Members' entries in the resources section of their nested template, by name."""


class Batch(NamedTuple):
    """One step of a change: the group's size after it, and how many members may get the new definition.

    `pause` is the time in seconds to let pass before it begins.
    """

    size: int
    changes: int
    pause: float = 0.0


class Rolling(NamedTuple):
    """How a group is changed in batches: members per batch, members that stay untouched, seconds between batches."""

    max_batch_size: int
    min_in_service: int
    pause: float


Counted = Callable[[Batch, int, int], int]
"""`(batch, current size, target)` → how many of the members that have to change are changed after the batch."""


def every_change(batch: Batch, current: int, target: int) -> int:
    """Each change counts: groups that scale, whose members are all alike."""
    return batch.changes


def lasting_changes(batch: Batch, current: int, target: int) -> int:
    """Members that are only there for the time of the change do not count: groups whose members have fixed names."""
    return batch.changes - max(batch.size - max(current, target), 0)


def batches(target: int, current: int, rolling: Rolling, counted: Counted) -> Iterator[Batch]:
    """The batches in which a group of `current` members gets a new definition and `target` members."""
    updated, pause = 0, 0.0
    while updated < current or current != target:
        batch = _next_batch(target, current, updated, rolling)._replace(pause=pause)
        yield batch
        updated += counted(batch, current, target)
        current, pause = batch.size, rolling.pause


def _next_batch(target: int, current: int, updated: int, rolling: Rolling) -> Batch:
    in_service = min(rolling.min_in_service, target, current)
    changes = min(rolling.max_batch_size, max(target - updated, 0))
    return Batch(changes + max(min(current, target - changes), in_service), changes)


def member_definitions(
    former: Iterable[tuple[str, Any]], batch: Batch, new_names: Iterator[str], define: Callable[[str], Any]
) -> Definitions:
    """The members after a batch.

    `former` are the members' names and definitions, those that shall go first at the front; `new_names` are taken for
    members that are added, and `define` makes the new definition for a name.
    """
    budget.members(batch.size)
    listed = list(former)
    kept = listed[max(len(listed) - batch.size, 0) :]
    added = batch.size - len(kept)
    allowance = batch.changes - added
    result: Definitions = {}
    for name, definition in kept:
        wanted = define(name)
        if definition != wanted and allowance > 0:
            allowance -= 1
            definition = wanted
        result[name] = definition
    for _ in range(added):
        name = next(new_names)
        result[name] = define(name)
    return result
