"""Rows that are read by many keys with statements that are compiled once for each number of keys."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event

from stoker.store import statements
from stoker.store.bulk import insert_rows
from stoker.store.database import Database
from stoker.store.records import Stack
from stoker.store.tables import stacks
from tests.store.rows import stack

STACKS = 900
NAMES = statements.where_among(stacks, "id").with_only_columns(stacks.c.id, stacks.c.name).order_by(stacks.c.name)


@pytest.fixture
def named(database: Database) -> dict[str, str]:
    """Recorded stacks: their names by ID, in the order of the names."""
    rows = [stack(f"{number:03d}%s ?:name") for number in range(STACKS)]
    with database.writing() as connection:
        insert_rows(connection, stacks, Stack.columns, [row.cells() for row in rows])
    return {row.id: row.name for row in rows}


def test_the_rows_of_the_keys_are_read_each_once(database: Database, named: dict[str, str]) -> None:
    with database.engine.connect() as connection:
        for count in (0, 1, 2, 3, 5, 400, 401, STACKS):
            keys = list(named)[:count]
            found = [(row.id, row.name) for row in statements.rows_among(connection, NAMES, [*keys, "absent"])]
            assert found == [(identifier, named[identifier]) for identifier in keys]


def test_rows_can_be_streamed(database: Database, named: dict[str, str]) -> None:
    options = {"stream_results": True, "max_row_buffer": 16}
    with database.engine.connect() as connection:
        found = {row.id: row.name for row in statements.rows_among(connection, NAMES, named, options)}
    assert found == named


def test_numbers_of_keys_that_are_close_share_a_statement(database: Database, named: dict[str, str]) -> None:
    texts = set[str]()

    def note(_connection: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        texts.add(text)

    event.listen(database.engine, "before_cursor_execute", note)
    with database.engine.connect() as connection:
        for count in range(1, 40):
            assert len(list(statements.rows_among(connection, NAMES, list(named)[:count]))) == count
    assert len(texts) == len((1, 2, 4, 8, 16, 32, 64))
