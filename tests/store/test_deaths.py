"""Several engines notice the death of another one at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from stoker.store import deaths
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from tests.store.rows import engine, operation, stack

NOW = 1000.0


async def test_the_death_of_an_engine_is_recorded_once_by_two_engines_at_a_time(
    url: str, database: Database, journal: Journal
) -> None:
    """The second one waits for the rows that the first one has locked, and finds them judged."""
    if url.startswith("sqlite"):
        pytest.skip("engines do not share a file")
    made = stack()
    owned = operation(made.id, owner="dead")
    await journal.commit(Batch().add(made, owned, engine("dead", NOW - 100)))

    def record() -> None:
        with database.writing() as connection:
            deaths.record_deaths(connection, NOW, 3)

    with ThreadPoolExecutor() as pool:
        with database.writing() as connection:
            deaths.record_deaths(connection, NOW, 3)
            second = pool.submit(record)
            wait([second], timeout=1.0)  # it is blocked by now, or at least begun
        second.result()
    assert len(database.read_now(deaths.deaths_of, owned.id)) == 1
