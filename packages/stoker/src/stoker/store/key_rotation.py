"""Key rotation: seal stored values again with the first of the configured keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, and_, literal, select, tuple_, update

from stoker.store import tables
from stoker.store.columns import SEALED
from stoker.store.sealing import Sealer

Key = tuple[Any, ...]


def sealed_columns() -> Iterator[Column[object]]:
    """Return every column with sealed values."""
    for table in tables.metadata.sorted_tables:
        yield from (column for column in table.columns if column.info == SEALED)


def reseal(
    connection: Connection, sealer: Sealer, column: Column[object], after: Key | None = None, most: int = 200
) -> tuple[int, Key | None]:
    """Seal up to `most` values of a column again, in the order of their primary keys, starting after `after`.

    Returns how many were sealed with an older key, and the last primary key; None when there are no more. A value that
    an engine writes concurrently is kept. Raises Bug for a value that no configured key can open.
    """
    key = list(column.table.primary_key.columns)
    query = select(*key, column).where(column.is_not(None)).order_by(*key).limit(most)
    if after is not None:
        last = (literal(value, part.type) for value, part in zip(after, key, strict=True))
        query = query.where(tuple_(*key) > tuple_(*last))
    rows = [(tuple(row[:-1]), row[-1]) for row in connection.execute(query)]
    changed = 0
    for identity, text in rows:
        renewed = sealer.renew(text)
        if renewed != text:
            same = and_(column == text, *(part == value for part, value in zip(key, identity, strict=True)))
            changed += connection.execute(update(column.table).where(same).values({column: renewed})).rowcount
    return changed, rows[-1][0] if len(rows) == most else None
