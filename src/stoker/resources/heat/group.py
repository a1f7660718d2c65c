"""How groups of equal members change: sizes of batches, and who changes in each (facts: heat.yaml, group_algorithms).

Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Definitions = dict[str, Any]
"""Members' entries in the resources section of their nested template, by name."""


class Batch(NamedTuple):
    """One step of a rolling change: the group's size after it, and how many members may get the new definition."""

    size: int
    changes: int


Counted = Callable[[Batch, int, int], int]
"""`(batch, current size, target)` → how many of the members that have to change are changed after the batch."""


def every_change(batch: Batch, current: int, target: int) -> int:
    """Each change counts: groups that scale, whose members are all alike."""
    return batch.changes


def lasting_changes(batch: Batch, current: int, target: int) -> int:
    """Members that are only there for the time of the change do not count: groups whose members have fixed names."""
    return batch.changes - max(batch.size - max(current, target), 0)


def batches(target: int, current: int, max_batch: int, min_in_service: int, counted: Counted) -> Iterator[Batch]:
    """The batches in which a group of `current` members gets a new definition and `target` members."""
    updated = 0
    while updated < current or current != target:
        batch = _next_batch(target, current, updated, max_batch, min_in_service)
        yield batch
        updated += counted(batch, current, target)
        current = batch.size


def _next_batch(target: int, current: int, updated: int, max_batch: int, min_in_service: int) -> Batch:
    in_service = min(min_in_service, target, current)
    changes = min(max_batch, max(target - updated, 0))
    return Batch(changes + max(min(current, target - changes), in_service), changes)


def member_definitions(
    former: Iterable[tuple[str, Any]], batch: Batch, new_names: Iterator[str], define: Callable[[str], Any]
) -> Definitions:
    """The members after a batch.

    `former` are the members' names and definitions, those that shall go first at the front; `new_names` are taken for
    members that are added, and `define` makes the new definition for a name.
    """
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


def group_template(members: Mapping[str, Any]) -> dict[str, Any]:
    """The nested template that holds the members."""
    return {"heat_template_version": "2015-04-30", "resources": dict(members)}
