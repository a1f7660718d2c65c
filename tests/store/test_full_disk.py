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
from stoker.store.journal import Batch, Claim, Journal
from stoker.store.tables import events
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


async def test_what_belongs_to_an_operation_waits_for_space(database: Database) -> None:
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
