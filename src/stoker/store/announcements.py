"""What others are still to be told of: recorded together with what happened, removed once they have been told."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, insert, select, update

from stoker.store.records import Announcement
from stoker.store.tables import announcements as table


def put(connection: Connection, rows: Iterable[Announcement]) -> None:
    """Record what is to be told."""
    values = [row.values() for row in rows]
    if values:
        connection.execute(insert(table), values)


def waiting(connection: Connection, engine_id: str, kind: str, most: int) -> list[Announcement]:
    """What an engine has to tell next, in the order in which it happened."""
    query = (
        select(table).where(table.c.engine == engine_id, table.c.kind == kind).order_by(table.c.sequence).limit(most)
    )
    return Announcement.all_of(connection.execute(query))


def remove(connection: Connection, identifiers: Collection[str]) -> None:
    """Forget what has been told."""
    connection.execute(delete(table).where(table.c.id.in_(list(identifiers))))


def tellers(connection: Connection) -> set[str]:
    """Ids of the engines that have something to tell."""
    return set(connection.execute(select(table.c.engine).distinct()).scalars())


def take_over(connection: Connection, engine_id: str, others: Collection[str]) -> None:
    """Have an engine tell what is left of others."""
    connection.execute(update(table).where(table.c.engine.in_(list(others))).values(engine=engine_id))
