"""Fixtures that run tests on every supported database."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.store.database import Database
from stoker.store.journal import Journal

_numbers = itertools.count()
BACKENDS = [
    "sqlite",
    pytest.param("postgresql", marks=[pytest.mark.slow, pytest.mark.xdist_group("servers")]),
    pytest.param("mariadb", marks=[pytest.mark.slow, pytest.mark.xdist_group("servers")]),
]


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    made: str = request.getfixturevalue(request.param).new_database(f"store{next(_numbers)}")
    return made


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    database.migrate()
    yield database
    database.close()


@pytest.fixture
def journal(database: Database) -> Iterator[Journal]:
    journal = Journal(database)
    yield journal
    journal.close()
