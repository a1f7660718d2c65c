"""Statements that look at a whole table: what SQLite says of each, on the database that engines have worked on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoker.store.database import Database

_SCAN = re.compile(r"^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
_PLANNED = ("SELECT", "UPDATE", "DELETE", "WITH")
MANY = 1000
"""So many rows of a table, or of an index that has only some of them, are many."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A statement that looks at all rows of a table, or of an index of it."""

    statement: str
    table: str
    index: str | None
    rows: int


def scans(database: Database, examples: Mapping[str, tuple[str, Any]]) -> list[Scan]:
    """The statements that look at many rows although they are not about them; `examples` as of `Recorder`."""
    found: dict[tuple[str, str, str | None], Scan] = {}
    sizes: dict[tuple[str, str | None], int] = {}
    with database.engine.connect() as connection:
        names = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())
        made = "SELECT name, sql FROM sqlite_master WHERE sql LIKE '%CREATE%INDEX%WHERE%'"
        partial: dict[str, str] = {row[0]: row[1] for row in connection.exec_driver_sql(made)}
        for statement, (text, parameters) in sorted(examples.items()):
            if not text.startswith(_PLANNED) or ("LIMIT" in text and "WHERE" not in text):
                continue
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", parameters).all()
            for row in plan:
                matched = _SCAN.match(row[3])
                table = _table_of(matched.group(1), text, names) if matched else None
                if matched is None or table is None:
                    continue
                index = matched.group(2)
                if (table, index) not in sizes:
                    where = partial.get(index or "", "").partition(" WHERE ")[2]
                    count = f"SELECT count(*) FROM {table}" + (f" WHERE {where}" if where else "")
                    sizes[table, index] = int(connection.exec_driver_sql(count).scalar_one())
                if sizes[table, index] >= MANY:
                    found[statement, table, index] = Scan(statement, table, index, sizes[table, index])
    return list(found.values())


def _table_of(name: str, text: str, tables: set[str]) -> str | None:
    """The table that a plan calls `name`; None for what is no table."""
    if name in tables:
        return name
    alias = re.search(rf"\b(\w+) AS {re.escape(name)}\b", text)
    return alias.group(1) if alias is not None and alias.group(1) in tables else None
