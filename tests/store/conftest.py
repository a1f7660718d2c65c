"""Fixtures that run tests on every supported database."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.store.database import Database
from stoker.store.journal import Journal
from testing.backends import BACKENDS
from testing.servers import DatabaseServer
from testing.tables import emptied

_numbers = itertools.count()


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database; on a server, it has the tables of this release if the test uses `database`."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    server: DatabaseServer = request.getfixturevalue(request.param)
    return emptied(server) if "database" in request.fixturenames else server.new_database(f"store{next(_numbers)}")


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    if database.engine.dialect.name == "sqlite":
        database.migrate()
    yield database
    database.close()


@pytest.fixture
def journal(database: Database) -> Iterator[Journal]:
    journal = Journal(database)
    yield journal
    journal.close()
