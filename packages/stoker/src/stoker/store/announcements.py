"""Pending notifications: recorded in the same transaction as the event, removed once they have been sent."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, select, update

from stoker.store.records import Announcement
from stoker.store.tables import announcements as table

_ENGINES = select(table.c.engine).distinct()


def waiting(connection: Connection, engine_id: str, kind: str, most: int) -> list[Announcement]:
    """Return the next notifications that an engine has to send, in the order of the events."""
    query = (
        select(table).where(table.c.engine == engine_id, table.c.kind == kind).order_by(table.c.sequence).limit(most)
    )
    return Announcement.all_of(connection.execute(query))


def remove(connection: Connection, identifiers: Collection[str]) -> None:
    """Delete notifications that have been sent."""
    connection.execute(delete(table).where(table.c.id.in_(list(identifiers))))


def engines_with_pending(connection: Connection) -> set[str]:
    """Return the IDs of the engines with pending notifications."""
    return set(connection.execute(_ENGINES).scalars())


def reassign(connection: Connection, engine_id: str, others: Collection[str]) -> None:
    """Assign the pending notifications of other engines to this engine."""
    connection.execute(update(table).where(table.c.engine.in_(list(others))).values(engine=engine_id))
