"""Snapshots of stacks, the copies of contents that belong to them, and documents that stacks are adopted from.

Each function takes an open connection first, so that `Database.read` or a journal `step` can run it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, func, insert, select, update

from stoker.store.records import UNFINISHED, StackSnapshot
from stoker.store.tables import operations, property_sets, resources, snapshots, stack_documents


def snapshot_by_id(connection: Connection, identifier: str) -> StackSnapshot | None:
    """One snapshot."""
    row = connection.execute(select(snapshots).where(snapshots.c.id == identifier)).one_or_none()
    return StackSnapshot.of(row) if row else None


def snapshots_of(connection: Connection, stack_id: str) -> list[StackSnapshot]:
    """A stack's snapshots, oldest first."""
    query = select(snapshots).where(snapshots.c.stack_id == stack_id).order_by(snapshots.c.created_at, snapshots.c.id)
    return StackSnapshot.all_of(connection.execute(query))


def count_snapshots(connection: Connection, stack_id: str) -> int:
    """How many snapshots a stack has."""
    query = select(func.count()).select_from(snapshots).where(snapshots.c.stack_id == stack_id)
    return connection.execute(query).scalar_one()


def worked_on(connection: Connection, identifiers: Iterable[str], besides: str) -> bool:
    """Whether an operation on anything but `besides`, a stack or a snapshot, may still change what snapshots hold."""
    others = operations.c.snapshot.in_(list(identifiers)) & (operations.c.stack_id != besides)
    query = select(operations.c.id).where(others, operations.c.status.in_(UNFINISHED)).limit(1)
    return connection.execute(query).first() is not None


def end_snapshot(connection: Connection, identifier: str, status: str, reason: str, body: str | None = None) -> None:
    """Record how a snapshot's running action has ended; the document stays as it is unless there is a new one."""
    values = {"status": status, "reason": reason, **({} if body is None else {"body": body})}
    connection.execute(update(snapshots).where(snapshots.c.id == identifier).values(**values))


def forget_snapshot(connection: Connection, identifier: str) -> None:
    """Remove a snapshot with all that is recorded of its copies."""
    _forget(connection, [identifier])


def forget_snapshots_of(connection: Connection, stack_id: str) -> None:
    """Remove the snapshots of a stack that is gone."""
    _forget(connection, connection.execute(select(snapshots.c.id).where(snapshots.c.stack_id == stack_id)).scalars())


def _forget(connection: Connection, identifiers: Iterable[str]) -> None:
    gone = list(identifiers)
    for table in (resources, property_sets, operations):
        connection.execute(delete(table).where(table.c.stack_id.in_(gone)))
    connection.execute(delete(snapshots).where(snapshots.c.id.in_(gone)))


def stack_document(connection: Connection, stack_id: str) -> str | None:
    """The sealed document that a stack is adopted from, or that was made of it when it was abandoned."""
    query = select(stack_documents.c.body).where(stack_documents.c.stack_id == stack_id)
    return connection.execute(query).scalar_one_or_none()


def keep_stack_document(connection: Connection, stack_id: str, body: str) -> None:
    """Store a stack's sealed document in the place of any other."""
    drop_stack_document(connection, stack_id)
    connection.execute(insert(stack_documents).values(stack_id=stack_id, body=body))


def drop_stack_document(connection: Connection, stack_id: str) -> None:
    """Forget a stack's document; harmless when there is none."""
    connection.execute(delete(stack_documents).where(stack_documents.c.stack_id == stack_id))
