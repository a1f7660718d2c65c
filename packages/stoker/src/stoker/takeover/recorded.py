"""What is recorded here of trees of stacks that were taken over, and whether it was changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, func, select

from stoker.store import tables
from stoker.takeover.mapped import taken_over_event
from stoker.takeover.writing import MARK


@dataclass(frozen=True, slots=True)
class RecordedTree:
    """A tree that is recorded. `digest` identifies its state in Heat when it was taken over; it is None if it was not.

    `changed`: a stack of the tree was changed here since, by an operation or a signal.
    """

    digest: str | None
    changed: bool


def recorded_trees(connection: Connection, roots: Sequence[str]) -> dict[str, RecordedTree]:
    """Return those of these trees that are recorded, by the IDs of their root stacks."""
    stacks, operations = tables.stacks, tables.operations
    marked = operations.c.request_id.startswith(MARK, autoescape=True)
    query = select(operations.c.stack_id, operations.c.request_id).where(operations.c.stack_id.in_(roots), marked)
    digests = {row.stack_id: row.request_id.removeprefix(MARK) for row in connection.execute(query)}
    changed = _changed(connection, roots)
    stack_ids = connection.execute(select(stacks.c.id).where(stacks.c.id.in_(roots))).scalars()
    return {root: RecordedTree(digests.get(root), root in changed or root not in digests) for root in stack_ids}


def _changed(connection: Connection, roots: Sequence[str]) -> set[str]:
    """Return the roots of trees with a stack whose latest operation or event is another than that of the takeover.

    Every operation writes events, but only once it runs; a signal writes an event without an operation. What scales a
    group or continues a nested stack is recorded with the nested stack only.
    """
    stacks, operations, events = tables.stacks, tables.operations, tables.events
    later = events.alias()
    latest = select(func.max(later.c.sequence)).where(later.c.stack_id == stacks.c.id).scalar_subquery()
    query = (
        select(stacks.c.id, stacks.c.root_id, operations.c.request_id, events.c.id.label("event"))
        .outerjoin(operations, operations.c.id == stacks.c.operation)
        .outerjoin(events, and_(events.c.stack_id == stacks.c.id, events.c.sequence == latest))
        .where(stacks.c.root_id.in_(roots))
    )
    return {
        row.root_id
        for row in connection.execute(query)
        if not str(row.request_id).startswith(MARK) or row.event != taken_over_event(row.id)
    }
