"""Connections whose packets are swallowed: the database answers again over new ones, and the log says so."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import make_url, text

from stoker.store import queries
from stoker.store.database import Database, Pool
from stoker.store.journal import Batch, Journal
from stoker.store.silence import CALM_SECONDS, MOST, ResponseDeadline
from testing.backends import SERVERS
from testing.network_link import Link, Mode
from testing.tables import with_tables
from tests.store.rows import stack

CONNECT_SECONDS = 10.0
"""How long opening a connection may take without a limit on the server's silence."""
LOST = "A connection to the database was lost"


@pytest.fixture(params=SERVERS)
def link(request: pytest.FixtureRequest) -> Iterator[tuple[Link, str]]:
    url = with_tables(request.getfixturevalue(request.param), f"silent{time.monotonic_ns()}")
    port = make_url(url).port
    assert port is not None
    with Link(port) as made:
        yield made, made.url(url)


@pytest.fixture
def database_behind(link: tuple[Link, str]) -> Iterator[Database]:
    database = Database(link[1], Pool(silence=1.0))
    yield database
    database.close()


@pytest.mark.parametrize("mode", [Mode.HOLE, Mode.DEAF])
async def test_a_journal_writes_again_after_its_connection_was_dropped(
    link: tuple[Link, str], database_behind: Database, mode: Mode, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(database_behind)
    made = stack()
    await journal.commit(Batch().add(made))
    link[0].treat(mode)
    link[0].treat(Mode.PASS)  # the existing connections stay as they are
    with caplog.at_level(logging.WARNING):
        await journal.commit(Batch().then(partial(queries.set_stack, stack_id=made.id, values={"reason": "written"})))
    found = await database_behind.read(queries.stack_by_id, made.id)
    assert found is not None and found.reason == "written"
    assert LOST in caplog.text
    journal.close()


async def test_commit_with_lost_response_is_not_repeated(link: tuple[Link, str], database_behind: Database) -> None:
    """The transaction was committed: a second insertion of the row would fail."""
    journal = Journal(database_behind)
    first, second = stack("first"), stack("second")
    await journal.commit(Batch().add(first))
    link[0].treat(Mode.DEAF)
    link[0].treat(Mode.PASS)
    await journal.commit(Batch().add(second))
    assert await database_behind.read(queries.stack_by_id, second.id) == second
    journal.close()


async def test_reads_continue_after_all_their_connections_were_dropped(
    link: tuple[Link, str], database_behind: Database
) -> None:
    for _ in range(3):
        assert await database_behind.read(queries.stack_by_id, "none") is None
    link[0].drop()
    for _ in range(3):
        assert await database_behind.read(queries.stack_by_id, "none") is None


async def test_connections_lost_while_opening(link: tuple[Link, str], database_behind: Database) -> None:
    """As long as nothing passes, attempts fail within the limit; then the next one succeeds."""
    link[0].treat(Mode.HOLE)
    began = time.monotonic()
    with pytest.raises(Exception, match=r"(?i)timeout|timed out|did not answer"):
        database_behind.read_now(queries.stack_by_id, "none")
    assert time.monotonic() - began < CONNECT_SECONDS
    link[0].treat(Mode.PASS)
    assert await database_behind.read(queries.stack_by_id, "none") is None


def test_a_statement_that_takes_long_succeeds_with_a_longer_timeout(
    link: tuple[Link, str], database_behind: Database
) -> None:
    """A server that is only slow is waited for longer and longer."""
    wait = "pg_sleep" if database_behind.url.get_backend_name() == "postgresql" else "SLEEP"

    def slow() -> bool:
        try:
            database_behind.read_now(lambda connection: connection.execute(text(f"SELECT {wait}(2.5)")).all())
        except Exception:
            return False
        return True

    assert [slow() for _ in range(3)] == [False, False, True]


def test_timeout_doubles_once_for_simultaneous_losses_and_recovers() -> None:
    now = 0.0
    deadline = ResponseDeadline(10.0, lambda: now)
    limits = [deadline.seconds]
    for _ in range(6):
        now += 200
        deadline.exhausted()
        deadline.exhausted()
        limits.append(deadline.seconds)
    assert limits == [10, 20, 40, 80, 160, 160, 160]
    assert limits[-1] == 10 * MOST
    now += CALM_SECONDS
    assert deadline.seconds == 10
