"""A step of the removal of old records: what is removed, so that it can be archived first, and how."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, Connection, Table, select

from stoker.store import statements
from stoker.store.archive import Line


@dataclass(frozen=True, slots=True)
class Removal:
    """Records that can be removed: the `lines` for the archive, and the step that removes them.

    `carry_out` runs in a transaction of its own, after the lines were written, and returns how many it has removed. It
    checks again what may have changed, and returns 0 if nothing can be removed any more.
    """

    lines: Sequence[Line]
    carry_out: Callable[[Connection], int]


Finder = Callable[[Connection, bool], Removal | None]
"""Finds the next records to remove, with their lines if they are archived (the second argument); None for none."""


def lines_of(connection: Connection, table: Table, column: Column[str], values: Collection[str]) -> Iterator[Line]:
    """Yield the rows whose `column` has one of the values."""
    for page in statements.pages(sorted(values)):
        query = select(table).where(column.in_(page))
        for row in connection.execute(query):
            yield table.name, dict(row._mapping)
