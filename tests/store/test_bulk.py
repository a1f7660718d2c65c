"""Rows that are written with statements of the database's driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Boolean, Dialect, Double, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.mysql import pymysql
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from stoker.store.bulk import delete_rows, insert_rows, update_rows
from stoker.store.database import Database
from stoker.store.journal import TABLES
from stoker.store.records import Record, Stack
from stoker.store.tables import stacks
from tests.store.rows import stack


def recorded(database: Database) -> dict[str, Stack]:
    """The stacks by name, as all readers read them."""
    with database.engine.connect() as connection:
        return {each.name: each for each in Stack.all_of(connection.execute(select(stacks)))}


def test_rows_are_read_as_they_were_written(database: Database) -> None:
    text = "ä%s ?:name"
    rows = [stack("first", disable_rollback=True, changed_directly=False, updated_at=2.5)]
    rows += [stack("second", disable_rollback=False, changed_directly=True, description=text)]
    with database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [row.cells() for row in rows])
    assert recorded(database) == {row.name: row for row in rows}
    assert [type(row.disable_rollback) for row in recorded(database).values()] == [bool, bool]


def test_only_the_named_row_changes_and_all_of_its_columns_do(database: Database) -> None:
    kept, changed = stack("kept"), stack("changed")
    with database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [kept.cells(), changed.cells()])
        changed.status, changed.reason, changed.deleted_at, changed.changed_directly = "FAILED", "why", 3.0, True
        found = update_rows(connection, stacks, ("id",), Stack.columns[1:], [changed.cells(), stack("absent").cells()])
    assert found == 1
    assert recorded(database) == {"kept": kept, "changed": changed}


def test_many_large_rows_keep_every_character(database: Database) -> None:
    """Rows that are one value in JSON: quotes, escapes, other scripts, numbers to the last digit, long values."""
    difficult = "'\"\\\\n\n\t\r%s {}[],:\x7f\u2028ß漢😀 \\' -- ;"
    rows = [stack(f"{number}{difficult}", updated_at=1796024000.1234567 + number / 3) for number in range(40)]
    for number, row in enumerate(rows):
        row.description = f"{difficult}{number}" * 4000
    with database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [row.cells() for row in rows])
    assert recorded(database) == {row.name: row for row in rows}
    for row in rows:
        row.description, row.reason, row.created_at = difficult, row.description, (row.updated_at or 0.0) / 7
    with database.writing() as connection:
        assert update_rows(connection, stacks, ("id",), Stack.columns[1:], [row.cells() for row in rows]) == len(rows)
    assert recorded(database) == {row.name: row for row in rows}


def test_a_value_that_does_not_fit_is_refused(database: Database) -> None:
    """SQLite has no limits; a server does not shorten what it gets."""
    if database.url.get_backend_name() == "sqlite":
        return
    row = stack()
    with pytest.raises(DataError), database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [replace(row, name="x" * 300).cells()])
    with database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [row.cells()])
    with pytest.raises(DBAPIError), database.writing() as connection:
        update_rows(connection, stacks, ("id",), Stack.columns[1:], [replace(row, name="x" * 300).cells()])
    assert recorded(database) == {row.name: row}


def test_rows_are_removed_by_a_column(database: Database) -> None:
    rows = [stack(name) for name in ("one", "two", "three")]
    with database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [row.cells() for row in rows])
        delete_rows(connection, stacks, "id", [rows[0].id, rows[2].id, "unknown"])
    assert list(recorded(database)) == ["two"]


def test_a_row_that_exists_is_refused(database: Database) -> None:
    row = stack()
    with pytest.raises(IntegrityError), database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [row.cells(), row.cells()])
    with database.engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(stacks)).scalar() == 0


@pytest.mark.parametrize("driver", [sqlite.dialect, postgresql.dialect, pymysql.dialect], ids=lambda each: each.name)
@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
def test_drivers_convert_what_the_journal_writes(kind: type[Record], driver: Callable[[], Dialect]) -> None:
    """A column with a conversion of its own could not be written as it is; drivers convert truth values and numbers."""
    table, dialect = TABLES[kind], driver()
    assert kind.columns[0] in ("id", "uuid")
    for name in kind.columns:
        column: Any = table.c[name]
        converts = column.type.dialect_impl(dialect).bind_processor(dialect)
        assert converts is None or isinstance(column.type, Boolean | Double), name
