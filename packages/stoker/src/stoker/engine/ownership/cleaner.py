"""Removes records that are older or more than the operator keeps, a few at a time, and archives them before."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from stoker.engine.records.services import RecordingServices
from stoker.store import history, purging
from stoker.store.archive import Archive
from stoker.store.journal import Batch
from stoker.store.removal import Finder, Removal

LOG = logging.getLogger(__name__)

_OVERLAP_SECONDS = 60.0
"""How far back a look begins before the last one: an operation's end is recorded some time after its date."""

INTERVAL_SECONDS = 3600.0
_DAY = 86400.0
_MOST_ARCHIVED = 2
"""Stacks that are removed at once if they are archived: their records are in memory meanwhile."""


class Cleaner:
    """Cleans up once in an hour; one engine of a cluster does it.

    The history of a stack is cut when an operation on it has ended, since it does not grow otherwise: an engine looks
    at those that have ended since it started, and from then on since it looked.
    """

    def __init__(self, services: RecordingServices) -> None:
        self._services = services
        self._due = 0.0
        self._looked_at = services.clock.now()
        self._busy = False
        directory, host = services.settings.archive_directory, services.settings.host
        self._archive = Archive(Path(directory), host, services.clock) if directory else None

    async def run_if_due(self) -> None:
        """Clean up if it is due. Errors of the database end the attempt; the next one follows an hour later."""
        services, now = self._services, self._services.clock.now()
        if self._busy or now < self._due:
            return
        self._busy, self._due = True, now + INTERVAL_SECONDS
        try:
            await self._clean(now)
        except Exception:
            LOG.exception("cannot remove old records, will try again in an hour")
        finally:
            self._busy = False
        if services.clock.now() < now:  # the clock was set back
            self._due = services.clock.now() + INTERVAL_SECONDS
            self._looked_at = min(self._looked_at, services.clock.now())

    async def _clean(self, now: float) -> None:
        settings, removed = self._services.settings, Counter[str]()
        for before in await self._deletions_to_forget(now):
            most = 20 if self._archive is None else _MOST_ARCHIVED
            find: Finder = partial(purging.deleted_stacks, before=before, most=most)
            removed["deleted stacks"] += await self._repeated(find)
        if settings.events_days > 0:
            oldest = now - settings.events_days * _DAY
            removed["events"] += await self._repeated(partial(history.old_events, before=oldest))
        if settings.operations_days > 0:
            oldest = now - settings.operations_days * _DAY
            for table in history.REQUESTS:
                find = partial(history.old_requests, table=table, before=oldest, now=now)
                removed[table.name.replace("_", " ")] += await self._repeated(find)
        removed += await self._cut_histories(now)
        if +removed:
            counts = ", ".join(f"{number} {what}" for what, number in (+removed).items())
            LOG.info("removed from the database: %s", counts)
            while not self._services.background.stopped and await self._committed(purging.shrink):
                pass

    async def _deletions_to_forget(self, now: float) -> list[float]:
        """Return the times before which deleted stacks are forgotten: by their age, and by their number."""
        settings, found = self._services.settings, list[float | None]()
        if settings.deleted_stacks_days > 0:
            found.append(now - settings.deleted_stacks_days * _DAY)
        if settings.deleted_stacks_kept > 0:
            found.append(await self._services.database.read(purging.oldest_kept, settings.deleted_stacks_kept))
        return [each for each in found if each is not None]

    async def _cut_histories(self, now: float) -> Counter[str]:
        """Cut the histories of stacks on which operations have ended since the last time; return what was removed."""
        settings, removed = self._services.settings, Counter[str]()
        limits = history.Limits(
            now - settings.operations_days * _DAY if settings.operations_days > 0 else None,
            settings.max_operations_per_stack or None,
            None if self._archive is None else settings.max_events_per_stack or None,
        )
        for stack_id in await self._services.database.read(history.grown_stacks, self._looked_at, now):
            find: dict[str, Finder] = {
                "events": partial(history.excess_events, stack_id=stack_id, limits=limits),
                "operations": partial(history.old_operations, stack_id=stack_id, limits=limits),
                "sets of values": partial(history.unused_values, stack_id=stack_id),
            }
            for what, finder in find.items():
                removed[what] += await self._repeated(finder)
        self._looked_at = now - _OVERLAP_SECONDS
        return removed

    async def _repeated(self, find: Finder) -> int:
        """Remove what is found, each time in a transaction of its own, until nothing more is; return the total."""
        total = 0
        while not self._services.background.stopped:
            removal: Removal | None = await self._services.database.read(find, self._archive is not None)
            if removal is None:
                break
            if self._archive is not None:
                await asyncio.to_thread(self._archive.write, removal.lines)
            removed = await self._committed(removal.carry_out)
            total += removed
            if not removed:
                break
        return total

    async def _committed(self, step: Callable[[Connection], int]) -> int:
        """Run a step in a transaction; return what it returns."""
        found = [0]

        def run(connection: Connection) -> None:
            found[0] = step(connection)

        await self._services.journal.commit(Batch().then(run))
        return found[0]
