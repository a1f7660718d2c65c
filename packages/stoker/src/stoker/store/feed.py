"""New events of watched stacks, read with one query for all watchers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from stoker.store.records import Event, Stack
from stoker.store.tables import events, stacks


@dataclass(frozen=True, slots=True)
class NewEvents:
    """Events, oldest first, with their stacks and the stacks above these, by ID. `last` is the last sequence number."""

    events: list[Event]
    stacks: dict[str, Stack]
    last: int


def new_events(connection: Connection, watched: Mapping[str, int], after: int | None, most: int) -> NewEvents:
    """Return the events of stacks, and of stacks nested in them down to a depth, after a sequence number.

    None means the current end of the sequence.
    """
    if after is None:
        return NewEvents([], {}, connection.execute(select(func.max(events.c.sequence))).scalar() or 0)
    found = _stacks(connection, watched)
    query = select(events).where(events.c.stack_id.in_(list(found)), events.c.sequence > after)
    rows = connection.execute(query.order_by(events.c.sequence).limit(most)).all()
    return NewEvents([Event.of(row) for row in rows], found, rows[-1].sequence if rows else after)


def _stacks(connection: Connection, watched: Mapping[str, int]) -> dict[str, Stack]:
    """Return the watched stacks, with the whole tree of those that are watched with their nested stacks."""
    direct = connection.execute(select(stacks).where(stacks.c.id.in_(list(watched))))
    found = {row.id: Stack.of(row) for row in direct}
    roots = {stack.root_id for stack in found.values() if watched[stack.id] > 0}
    if roots:
        trees = connection.execute(select(stacks).where(stacks.c.root_id.in_(list(roots))))
        found |= {row.id: Stack.of(row) for row in trees}
    return found


def above(stack: Stack, known: Mapping[str, Stack]) -> list[str]:
    """Return the IDs of the stacks above a nested one, the nearest first."""
    found: list[str] = []
    parent = known.get(stack.parent_id or "")
    while parent is not None:
        found.append(parent.id)
        parent = known.get(parent.parent_id or "")
    return found
