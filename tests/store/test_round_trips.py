"""How often a process waits for a database server: once for each statement, and for a transaction at its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event, make_url

from stoker.store import queries
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from testing.backends import SERVERS
from testing.network_link import Link
from testing.tables import with_tables
from tests.store.rows import operation, stack

OF_TRANSACTIONS = {"postgresql": 2, "mariadb": 1}
"""PostgreSQL answers to the beginning of a transaction and to its end, MariaDB to the end only."""


@pytest.fixture(params=SERVERS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def link(request: pytest.FixtureRequest, backend: str) -> Iterator[tuple[Link, Database]]:
    url = with_tables(request.getfixturevalue(backend), f"trips{time.monotonic_ns()}")
    port = make_url(url).port
    assert port is not None
    with Link(port) as made:
        database = Database(made.url(url))
        yield made, database
        database.close()


def test_a_read_waits_for_its_statements_only(link: tuple[Link, Database]) -> None:
    for _ in range(2):
        before = link[0].round_trips
        link[1].read_now(lambda connection: [queries.stack_by_id(connection, name) for name in ("one", "two")])
    assert link[0].round_trips - before == 2


async def test_a_commit_waits_for_its_statements_and_its_end(link: tuple[Link, Database], backend: str) -> None:
    journal, statements = Journal(link[1]), list[str]()

    def note(_connection: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        statements.append(text)

    for name in ("first", "second"):
        made = stack(name)
        await journal.commit(Batch().add(made, operation(made.id)))
    event.listen(link[1].engine, "before_cursor_execute", note)
    before, made = link[0].round_trips, stack("third")
    await journal.commit(Batch().add(made, operation(made.id)))
    assert len(statements) >= 3
    assert link[0].round_trips - before == len(statements) + OF_TRANSACTIONS[backend]
    event.remove(link[1].engine, "before_cursor_execute", note)
    journal.close()
