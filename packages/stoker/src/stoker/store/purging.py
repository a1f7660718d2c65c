"""Purge deleted stacks, with all records that only they used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import Connection, and_, delete, select, union
from sqlalchemy.exc import OperationalError

from stoker.store import documents, tables
from stoker.store.archive import Line
from stoker.store.database import Database
from stoker.store.removal import Removal, lines_of

_DEPENDENT = [
    table for table in reversed(tables.metadata.sorted_tables) if "stack_id" in table.c and table is not tables.stacks
]

_INCREMENTAL = 2
"""The value of SQLite's pragma auto_vacuum with which a file can shrink in parts."""


def deleted_stacks(
    connection: Connection, archived: bool, before: float | None, project_id: str | None = None, most: int = 20
) -> Removal | None:
    """Find up to `most` stacks that were deleted before a time, of one project or of all; None for no time.

    Call it until it finds none: small transactions do not block the engines that use the database.
    """
    if before is None:
        return None
    deleted = tables.stacks.c.deleted_at < before
    if project_id is not None:
        deleted = and_(deleted, tables.stacks.c.project_id == project_id)
    query = select(tables.stacks.c.id).where(deleted).order_by(tables.stacks.c.deleted_at).limit(most)
    identifiers = list(connection.execute(query).scalars())
    if not identifiers:
        return None
    lines = list(_lines_of_stacks(connection, identifiers)) if archived else []

    def carry_out(connection: Connection) -> int:
        forget_stacks(connection, identifiers)
        return len(identifiers)

    return Removal(lines, carry_out)


def oldest_kept(connection: Connection, count: int) -> float | None:
    """Return when the earliest of the `count` stacks was deleted that were deleted last; None if there are fewer."""
    deleted_at = tables.stacks.c.deleted_at
    query = select(deleted_at).where(deleted_at.is_not(None)).order_by(deleted_at.desc()).offset(count - 1).limit(1)
    found: float | None = connection.execute(query).scalar()
    return found


def shrink(connection: Connection, most: int = 1000) -> int:
    """Return up to `most` pages that SQLite has freed to the file system; return their number.

    There are none in a file that was not created for it, nor in databases on servers.
    """
    if connection.dialect.name != "sqlite" or connection.exec_driver_sql("PRAGMA auto_vacuum").scalar() != _INCREMENTAL:
        return 0
    free = min(int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()), most)
    for _ in range(free):  # Python's driver makes one step of the statement, which frees one page
        connection.exec_driver_sql("PRAGMA incremental_vacuum")
    return free


def compact(database: Database) -> bool:
    """Rewrite an SQLite file without free pages, and let it shrink by itself from now on; False while it is in use.

    Does nothing for databases on servers, which reuse the space themselves.
    """
    if database.url.get_backend_name() != "sqlite":
        return True
    with database.engine.connect() as connection:
        try:
            connection.exec_driver_sql("PRAGMA busy_timeout=1000")
            connection.exec_driver_sql("PRAGMA auto_vacuum=INCREMENTAL")
            connection.exec_driver_sql("VACUUM")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
        except OperationalError:
            return False
    return True


def forget_stacks(connection: Connection, identifiers: Sequence[str]) -> None:
    """Delete the records of stacks, and what only they used. No engine may work on one of them."""
    stacks = tables.stacks
    used = _inputs_of(connection, identifiers)
    for table in _DEPENDENT:
        connection.execute(delete(table).where(table.c.stack_id.in_(identifiers)))
    connection.execute(delete(stacks).where(stacks.c.id.in_(identifiers)))
    forget_inputs(connection, sorted(used))


def _inputs_of(connection: Connection, identifiers: Sequence[str]) -> set[str]:
    operations, snapshots, stacks = tables.operations, tables.snapshots, tables.stacks
    used: set[str] = set()
    for columns, where in (
        ((operations.c.inputs, operations.c.former_inputs), operations.c.stack_id.in_(identifiers)),
        ((snapshots.c.inputs,), snapshots.c.stack_id.in_(identifiers)),
        ((stacks.c.inputs, stacks.c.good_inputs), stacks.c.id.in_(identifiers)),
    ):
        used.update(name for row in connection.execute(select(*columns).where(where)) for name in row if name)
    return used


def _lines_of_stacks(connection: Connection, identifiers: Sequence[str]) -> Iterator[Line]:
    yield from lines_of(connection, tables.stacks, tables.stacks.c.id, identifiers)
    for table in _DEPENDENT:
        yield from lines_of(connection, table, table.c.stack_id, identifiers)
    yield from lines_of_inputs(connection, _inputs_of(connection, identifiers))


def lines_of_inputs(connection: Connection, identifiers: Collection[str]) -> Iterator[Line]:
    """Yield inputs, and the documents that they refer to, also those that others use."""
    inputs, parts = tables.inputs, tables.document_parts
    digests: set[str] = set()
    for line in lines_of(connection, inputs, inputs.c.id, identifiers):
        yield line
        digests.update(line[1][name] for name in ("template", "environment", "files"))
    inside = {row["part"] for _, row in lines_of(connection, parts, parts.c.whole, digests)}
    yield from lines_of(connection, tables.documents, tables.documents.c.digest, digests | inside)


def forget_inputs(connection: Connection, identifiers: Sequence[str]) -> None:
    """Delete inputs that no other stack refers to, and the documents that only they referred to."""
    stacks, inputs = tables.stacks, tables.inputs
    for start in range(0, len(identifiers), 400):
        page = identifiers[start : start + 400]
        living = (select(column).where(column.in_(page)) for column in (stacks.c.inputs, stacks.c.good_inputs))
        in_use = set(connection.execute(union(*living)).scalars())
        unused = inputs.c.id.in_([name for name in page if name not in in_use])
        query = select(inputs.c.template, inputs.c.environment, inputs.c.files).where(unused)
        digests = {digest for row in connection.execute(query) for digest in row}
        connection.execute(delete(inputs).where(unused))
        documents.forget_unused(connection, digests)


def forget_writers(connection: Connection, before: float) -> int:
    """Delete the counters of writers that have written nothing since `before`; return their number."""
    return connection.execute(delete(tables.writers).where(tables.writers.c.time < before)).rowcount
