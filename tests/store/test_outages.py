"""An outage of the database and its end are logged, without a flood of lines."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from stoker.store import database as database_module
from stoker.store.database import Database, Outage
from stoker.store.journal import Batch, Journal
from stoker_foundation.clock import ManualClock

FAILURE = OSError("connection refused")


def connection_error(*_arguments: Any) -> OperationalError:
    return OperationalError("a statement", None, FAILURE, connection_invalidated=True)


def test_one_failure_in_half_a_minute_is_logged_and_then_the_recovery(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = ManualClock()
    outage = Outage("read", clock.now)
    outage.succeeded()
    assert not caplog.messages
    for _ in range(150):
        outage.failed(FAILURE)
        clock.advance(0.5)
    outage.succeeded()
    outage.succeeded()
    away = "The database cannot be read, retrying: connection refused"
    assert caplog.messages == [*[away] * 3, "The database can be read again, after 75 seconds"]


def test_failures_between_successes_do_not_flood_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = ManualClock()
    outage = Outage("written", clock.now)
    for _ in range(50):
        outage.failed(FAILURE)
        outage.succeeded()
        clock.advance(0.5)
    assert len(caplog.messages) == 2


async def test_reads_and_writes_that_are_retried_are_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(database_module, "_RETRY_SECONDS", 0)
    database = Database(f"sqlite:///{tmp_path}/s.db")
    database.migrate()
    journal = Journal(database)
    failures = [connection_error() for _ in range(5)]

    def troubled(connection: Any) -> None:
        if failures:
            raise failures.pop()
        connection.execute(text("SELECT 1"))

    monkeypatch.setattr(journal, "pause", lambda: None)
    caplog.clear()
    await journal.commit(Batch().then(troubled))
    failures.extend(connection_error() for _ in range(5))
    await database.read(troubled)
    journal.close()
    database.close()
    assert caplog.messages == [
        "The database cannot be written, retrying: connection refused",
        "The database can be written again, after 0 seconds",
        "The database cannot be read, retrying: connection refused",
        "The database can be read again, after 0 seconds",
    ]
