"""Snapshots of stacks, the copies of contents that belong to them, and documents that stacks are adopted from.

The first argument of each function is an open connection, so that `Database.read` or a journal step can run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from stoker.store import statements
from stoker.store.bulk import delete_rows
from stoker.store.records import UNFINISHED, StackSnapshot
from stoker.store.tables import operations, property_sets, resources, snapshots, stack_documents

_OF_STACK = statements.where(snapshots, "stack_id").order_by(snapshots.c.created_at, snapshots.c.id)
_IDS_OF_STACK = select(snapshots.c.id).where(snapshots.c.stack_id == bindparam("stack_id"))
_IDS_OF_STACKS = statements.where_among(snapshots, "stack_id").with_only_columns(snapshots.c.id)


def snapshot_by_id(connection: Connection, identifier: str) -> StackSnapshot | None:
    """Return a snapshot by ID."""
    row = connection.execute(select(snapshots).where(snapshots.c.id == identifier)).one_or_none()
    return StackSnapshot.of(row) if row else None


def ids_of_snapshots(connection: Connection, stack_id: str) -> list[str]:
    """Return the IDs of a stack's snapshots."""
    return list(connection.execute(_IDS_OF_STACK, {"stack_id": stack_id}).scalars())


def snapshots_of(connection: Connection, stack_id: str) -> list[StackSnapshot]:
    """Return a stack's snapshots, oldest first."""
    return StackSnapshot.all_of(connection.execute(_OF_STACK, {"stack_id": stack_id}))


def count_snapshots(connection: Connection, stack_id: str) -> int:
    """Count the snapshots of a stack."""
    query = select(func.count()).select_from(snapshots).where(snapshots.c.stack_id == stack_id)
    return connection.execute(query).scalar_one()


def worked_on(connection: Connection, identifiers: Iterable[str], besides: str) -> bool:
    """Return whether an operation other than on `besides` (a stack or snapshot) may still change these snapshots."""
    others = operations.c.snapshot.in_(list(identifiers)) & (operations.c.stack_id != besides)
    query = select(operations.c.id).where(others, operations.c.status.in_(UNFINISHED)).limit(1)
    return connection.execute(query).first() is not None


def end_snapshot(connection: Connection, identifier: str, status: str, reason: str, body: str | None = None) -> None:
    """Record the result of a snapshot's running action; the document is kept unless `body` is given."""
    values = {"status": status, "reason": reason, **({} if body is None else {"body": body})}
    connection.execute(update(snapshots).where(snapshots.c.id == identifier).values(**values))


def forget_snapshot(connection: Connection, identifier: str) -> None:
    """Delete a snapshot with all records of its copies."""
    _forget(connection, [identifier])


def forget_snapshots_of(connection: Connection, stack_ids: Sequence[str]) -> None:
    """Delete the snapshots of removed stacks (a joint statement of the journal)."""
    found = [row.id for row in statements.rows_among(connection, _IDS_OF_STACKS, stack_ids)]
    for page in statements.pages(found):
        _forget(connection, page)


def _forget(connection: Connection, gone: Sequence[str]) -> None:
    if not gone:
        return
    for table in (resources, property_sets, operations):
        connection.execute(delete(table).where(table.c.stack_id.in_(gone)))
    connection.execute(delete(snapshots).where(snapshots.c.id.in_(gone)))


def stack_document(connection: Connection, stack_id: str) -> str | None:
    """Return the sealed document that a stack is adopted from, or that was created when it was abandoned."""
    query = select(stack_documents.c.body).where(stack_documents.c.stack_id == stack_id)
    return connection.execute(query).scalar_one_or_none()


def keep_stack_document(connection: Connection, stack_id: str, body: str) -> None:
    """Store a stack's sealed document, replacing any other."""
    drop_stack_document(connection, stack_id)
    connection.execute(insert(stack_documents).values(stack_id=stack_id, body=body))


def drop_stack_document(connection: Connection, stack_id: str) -> None:
    """Delete a stack's document; no effect when there is none."""
    drop_stack_documents(connection, [stack_id])


def drop_stack_documents(connection: Connection, stack_ids: Sequence[str]) -> None:
    """Delete the documents of stacks (a joint statement of the journal)."""
    delete_rows(connection, stack_documents, "stack_id", stack_ids)
