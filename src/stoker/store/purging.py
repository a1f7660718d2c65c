"""Purge deleted stacks, with all records that only they used."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, delete, select, union

from stoker.store import documents, tables

_DEPENDENT = [
    table for table in reversed(tables.metadata.sorted_tables) if "stack_id" in table.c and table is not tables.stacks
]


def purge(connection: Connection, before: float, project_id: str | None = None, most: int = 20) -> int:
    """Purge up to `most` stacks that were deleted before a time, of one project or of all; return their number.

    Call it until it returns 0: small transactions do not block the engines that use the database.
    """
    deleted = tables.stacks.c.deleted_at < before
    if project_id is not None:
        deleted = and_(deleted, tables.stacks.c.project_id == project_id)
    query = select(tables.stacks.c.id).where(deleted).order_by(tables.stacks.c.deleted_at).limit(most)
    identifiers = list(connection.execute(query).scalars())
    if identifiers:
        forget_stacks(connection, identifiers)
    return len(identifiers)


def forget_stacks(connection: Connection, identifiers: Sequence[str]) -> None:
    """Delete the records of stacks, and what only they used. No engine may work on one of them."""
    operations, snapshots, stacks = tables.operations, tables.snapshots, tables.stacks
    used: set[str] = set()
    for columns, where in (
        ((operations.c.inputs, operations.c.former_inputs), operations.c.stack_id.in_(identifiers)),
        ((snapshots.c.inputs,), snapshots.c.stack_id.in_(identifiers)),
        ((stacks.c.inputs, stacks.c.good_inputs), stacks.c.id.in_(identifiers)),
    ):
        used.update(name for row in connection.execute(select(*columns).where(where)) for name in row if name)
    for table in _DEPENDENT:
        connection.execute(delete(table).where(table.c.stack_id.in_(identifiers)))
    connection.execute(delete(stacks).where(stacks.c.id.in_(identifiers)))
    _forget_inputs(connection, sorted(used))


def _forget_inputs(connection: Connection, identifiers: list[str]) -> None:
    """Delete inputs that no other stack refers to, and the documents that only they referred to."""
    stacks, inputs = tables.stacks, tables.inputs
    for start in range(0, len(identifiers), 400):
        page = identifiers[start : start + 400]
        living = (select(column).where(column.in_(page)) for column in (stacks.c.inputs, stacks.c.good_inputs))
        kept = set(connection.execute(union(*living)).scalars())
        unused = inputs.c.id.in_([name for name in page if name not in kept])
        query = select(inputs.c.template, inputs.c.environment, inputs.c.files).where(unused)
        digests = {digest for row in connection.execute(query) for digest in row}
        connection.execute(delete(inputs).where(unused))
        documents.forget_unused(connection, digests)


def forget_writers(connection: Connection, before: float) -> int:
    """Delete the counters of writers that have written nothing since `before`; return their number."""
    return connection.execute(delete(tables.writers).where(tables.writers.c.time < before)).rowcount
