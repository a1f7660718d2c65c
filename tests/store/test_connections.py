"""Which connections to SQLite write and read: a cache of pages is of use only to the one that writes alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from stoker.store import queries
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
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


async def _fails(database: Database, read: Callable[[Any], None]) -> None:
    try:
        await database.read(read)
    except LookupError:
        return
    raise AssertionError("the read has not failed")
