"""Which connections to SQLite write and read: a cache of pages is of use only to the one that writes alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, inspect

from stoker.base.errors import Invalid
from stoker.store import queries
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker_foundation.clock import SystemClock
from tests.store.rows import stack

COUNT = 30


async def test_one_connection_writes_and_others_read(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'stoker.db'}")
    database.migrate()
    journal = Journal(database)
    used: dict[str, set[int]] = {"INSERT": set(), "SELECT": set()}

    def began(connection: Any, _cursor: object, statement: str, *_others: object) -> None:
        used.setdefault(statement.split()[0], set()).add(id(connection.connection.driver_connection))

    event.listen(Engine, "before_cursor_execute", began)
    try:
        for number in range(COUNT):
            row = stack(f"s{number}")
            await asyncio.gather(
                journal.commit(Batch().add(row)),
                *(database.read(queries.stack_by_id, identifier) for identifier in ("a", "b", "c")),
            )
            assert await database.read(queries.stack_by_id, row.id) == row
    finally:
        event.remove(Engine, "before_cursor_execute", began)
    assert len(used["INSERT"]) == 1
    assert not used["INSERT"] & used["SELECT"]
    journal.close()
    database.close()


async def test_a_reader_leaves_no_transaction_open(tmp_path: Path) -> None:
    """A read that fails leaves nothing behind that would keep the next one from seeing later commits."""
    database = Database(f"sqlite:///{tmp_path / 'stoker.db'}")
    database.migrate()
    journal = Journal(database)
    row = stack("later")

    def failing(connection: Any) -> None:
        assert queries.stack_by_id(connection, row.id) is None
        raise LookupError

    await _fails(database, failing)
    await journal.commit(Batch().add(row))
    assert await database.read(queries.stack_by_id, row.id) == row
    journal.close()
    database.close()


def test_a_new_file_can_shrink_although_it_is_read_first(tmp_path: Path) -> None:
    """Whoever waits for the database reads it before its tables are made; the first who writes says what it is."""
    path = tmp_path / "stoker.db"
    database = Database(f"sqlite:///{path}")
    assert not database.read_now(lambda connection: inspect(connection).get_table_names())
    database.migrate()
    assert "stacks" in database.read_now(lambda connection: inspect(connection).get_table_names())
    database.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_file_that_is_no_database_cannot_be_reached(tmp_path: Path) -> None:
    path = tmp_path / "stoker.db"
    path.write_text("This is something else. " * 100)
    database = Database(f"sqlite:///{path}")
    with pytest.raises(Invalid, match="cannot be reached"):
        await database.wait_until_reachable(3, 1.0, SystemClock())
    database.close()


async def _fails(database: Database, read: Callable[[Any], None]) -> None:
    try:
        await database.read(read)
    except LookupError:
        return
    raise AssertionError("the read has not failed")
