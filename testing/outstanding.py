"""What an engine waits for that takes the time of the machine, not of its clock: statements and requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from stoker.cloud.auth import CloudPool
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal

Result = TypeVar("Result")


class CountedDatabase(Database):
    """A database that counts the reads `in_progress`."""

    in_progress = 0

    async def read_on(
        self,
        thread: Callable[[Callable[[], Result]], Awaitable[Result]],
        query: Callable[..., Result],
        *arguments: object,
    ) -> Result:
        self.in_progress += 1
        try:
            return await super().read_on(thread, query, *arguments)
        finally:
            self.in_progress -= 1


class CountedJournal(Journal):
    """A journal that counts the commits `in_progress`."""

    in_progress = 0

    async def commit(self, batch: Batch) -> None:
        self.in_progress += 1
        try:
            await super().commit(batch)
        finally:
            self.in_progress -= 1


def outstanding(database: CountedDatabase, journal: CountedJournal, pool: CloudPool) -> bool:
    """Whether an answer of the database or of a service is on its way, which the clock need not move for."""
    calls = pool.transport.usage().values()
    return bool(database.in_progress or journal.in_progress or any(usage.in_progress for usage in calls))
