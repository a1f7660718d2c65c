"""The operations of stacks without their plans: what began when, and how it ended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from stoker.store.records import FAILED, REMOVE_SNAPSHOT, Operation, stack_action_of
from stoker.store.tables import change_sets
from stoker.store.tables import operations as table

_COLUMNS = (
    table.c.id,
    table.c.stack_id,
    table.c.action,
    table.c.status,
    table.c.reason,
    table.c.created_at,
    table.c.finished_at,
    table.c.client_request_token,
)
_ON_STACKS = table.c.action != REMOVE_SNAPSHOT
"""The others run beside those of the stack, and have no events."""


@dataclass(frozen=True, slots=True)
class PastOperation:
    """An operation of a stack. `continues` says that it continues a failed one of the same action."""

    id: str
    stack_id: str
    action: str
    status: str
    reason: str
    created_at: float
    finished_at: float | None
    client_request_token: str | None = None
    continues: bool = False

    @property
    def stack_action(self) -> str:
        """The action that the stack shows, and its events."""
        return stack_action_of(self.action)


def between(connection: Connection, stack_id: str, since: float, until: float) -> list[PastOperation]:
    """Return the operations of a stack that were in progress in a time, oldest first, and the one before these."""
    mine = (table.c.stack_id == stack_id, _ON_STACKS)
    latest = select(func.max(table.c.created_at)).where(*mine)
    first = connection.execute(latest.where(table.c.created_at <= since)).scalar_one()
    before = connection.execute(latest.where(table.c.created_at < first)).scalar_one() if first is not None else None
    query = select(*_COLUMNS).where(*mine, table.c.created_at <= until)
    if before is not None:
        query = query.where(table.c.created_at >= before)
    rows = connection.execute(query.order_by(table.c.created_at, table.c.id)).all()
    return _in_order([PastOperation(*row) for row in rows])


def last_event_time(connection: Connection, operation: Operation) -> float | None:
    """Return a time after all events of an operation; None if there may be further ones.

    It is the beginning of the second operation after it: a rollback begins before the failure of the operation before
    it is recorded.
    """
    later = select(table.c.created_at).where(
        table.c.stack_id == operation.stack_id, _ON_STACKS, table.c.created_at > operation.created_at
    )
    found: float | None = connection.execute(later.order_by(table.c.created_at).offset(1).limit(1)).scalar_one_or_none()
    return found


def latest(connection: Connection, stack_ids: Collection[str], most: int) -> dict[str, list[PastOperation]]:
    """Return the latest operations of stacks, oldest first."""
    place = func.row_number().over(
        partition_by=table.c.stack_id, order_by=(table.c.created_at.desc(), table.c.id.desc())
    )
    ranked = select(*_COLUMNS, place.label("place")).where(table.c.stack_id.in_(list(stack_ids)), _ON_STACKS).subquery()
    query = select(*(ranked.c[column.name] for column in _COLUMNS)).where(ranked.c.place <= most)
    rows = connection.execute(query.order_by(ranked.c.created_at, ranked.c.id)).all()
    found: dict[str, list[PastOperation]] = {}
    for row in rows:
        found.setdefault(row.stack_id, []).append(PastOperation(*row))
    return {stack_id: _in_order(operations) for stack_id, operations in found.items()}


def latest_change_sets(connection: Connection, stack_ids: Collection[str]) -> dict[str, tuple[str, float]]:
    """Return the ID of the latest change set of each stack, and when it was made."""
    columns = change_sets.c
    query = select(columns.stack_id, columns.id, columns.created_at).where(columns.stack_id.in_(list(stack_ids)))
    rows = connection.execute(query.order_by(columns.created_at, columns.id)).all()
    return {row.stack_id: (row.id, row.created_at) for row in rows}


def _in_order(operations: list[PastOperation]) -> list[PastOperation]:
    """Return operations, oldest first, with what each continues."""
    before = [None, *operations]
    return [
        replace(each, continues=last is not None and (last.action, last.status) == (each.action, FAILED))
        for last, each in zip(before, operations, strict=False)
    ]
