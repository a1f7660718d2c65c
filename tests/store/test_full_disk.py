"""A database that cannot store anything for a while: operations wait for it, requests are answered with the error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from stoker.store import journal as journal_module
from stoker.store.database import Database
from stoker.store.failures import passes, unusable
from stoker.store.journal import Batch, Claim, Journal
from stoker.store.tables import events
from testing.tables import with_tables
from tests.limited_disk import LimitedDisk
from tests.store.rows import event, operation, stack

LARGE = "x" * 200_000


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    database = Database(f"sqlite:///{tmp_path}/s.db")
    database.migrate()
    yield database
    database.close()


async def test_writes_of_operations_wait_for_disk_space(database: Database) -> None:
    journal, disk = Journal(database), LimitedDisk(database.engine)
    made = stack()
    running = operation(made.id)
    await journal.commit(Batch().add(made, running))
    disk.full = True
    claim = Claim(running.id, 1)
    first = asyncio.ensure_future(journal.commit(Batch(claim).add(event(made.id, "first" + LARGE))))
    with pytest.raises(OperationalError, match="full"):
        await journal.commit(Batch().add(event(made.id, "request" + LARGE)))
    second = asyncio.ensure_future(journal.commit(Batch(claim).add(event(made.id, "second" + LARGE, 2.0))))
    with pytest.raises(OperationalError, match="full"):
        await journal.commit(Batch().add(event(made.id, "request" + LARGE)))
    assert not first.done()
    assert not second.done()
    disk.full = False
    await asyncio.gather(first, second)
    journal.close()
    found = database.read_now(lambda connection: connection.execute(select(events.c.reason)).scalars().all())
    assert sorted(found) == ["first" + LARGE, "second" + LARGE]


FULL_ON_POSTGRESQL = """
CREATE TABLE full_disk (full_disk boolean);
CREATE FUNCTION no_space() RETURNS trigger AS $$ BEGIN
  IF EXISTS (SELECT FROM full_disk) THEN
    RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
  END IF;
  RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER full_disk BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION no_space();
"""
"""PostgreSQL's error for a full disk, as long as a table has rows."""


@pytest.mark.slow
@pytest.mark.xdist_group("postgresql")
async def test_a_full_disk_of_postgresql_does_not_keep_requests_waiting(
    postgresql: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "RETRY_SECONDS", 0.01)
    database = Database(with_tables(postgresql, "full_disk"))
    with database.writing() as connection:
        connection.exec_driver_sql(FULL_ON_POSTGRESQL)
    journal = Journal(database)
    made = stack()
    running = operation(made.id)
    await journal.commit(Batch().add(made, running))
    with database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO full_disk VALUES (true)")

    waiting = asyncio.ensure_future(journal.commit(Batch(Claim(running.id, 1)).add(event(made.id, "operation"))))
    with pytest.raises(OperationalError, match="No space left") as refused:
        await asyncio.wait_for(journal.commit(Batch().add(event(made.id, "request"))), 30)

    assert unusable(refused.value)
    assert not passes(refused.value)
    assert not waiting.done()
    with database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM full_disk")
    await waiting
    journal.close()
    database.close()


async def test_a_journal_that_is_closed_waits_no_longer(database: Database, monkeypatch: Any) -> None:
    journal, disk, tried = Journal(database), LimitedDisk(database.engine), threading.Event()
    made = stack()
    running = operation(made.id)
    await journal.commit(Batch().add(made, running))
    disk.full = True
    monkeypatch.setattr(journal, "pause", tried.set)
    waiting = asyncio.ensure_future(journal.commit(Batch(Claim(running.id, 1)).add(event(made.id, LARGE))))
    assert await asyncio.to_thread(tried.wait, 10)
    await asyncio.to_thread(journal.close)
    with pytest.raises(OperationalError, match="full"):
        await waiting
