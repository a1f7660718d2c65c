"""Removes the records of stacks that were deleted long ago, and old events, a few at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from stoker.engine.records.services import RecordingServices
from stoker.store import purging
from stoker.store.journal import Batch

LOG = logging.getLogger(__name__)

INTERVAL_SECONDS = 3600.0
_DAY = 86400.0


class Cleaner:
    """Cleans up once in an hour; one engine of a cluster does it."""

    def __init__(self, services: RecordingServices) -> None:
        self._services = services
        self._due = 0.0
        self._busy = False

    async def look(self) -> None:
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

    async def _clean(self, now: float) -> None:
        settings = self._services.settings
        stacks = events = 0
        if settings.deleted_stacks_days > 0:
            before = now - settings.deleted_stacks_days * _DAY
            stacks += await self._repeated(partial(purging.purge, before=before))
        if settings.deleted_stacks_kept > 0:
            stacks += await self._repeated(partial(purging.purge_above, kept=settings.deleted_stacks_kept))
        if settings.events_days > 0:
            events += await self._repeated(partial(purging.purge_events, before=now - settings.events_days * _DAY))
        if stacks or events:
            LOG.info("removed %d deleted stacks and %d events from the database", stacks, events)
            await self._repeated(purging.shrink)

    async def _repeated(self, step: Callable[[Connection], int]) -> int:
        """Run a step, each time in a transaction of its own, until it finds nothing more; return the total."""
        total = 0
        while not self._services.background.stopped:
            found = [0]

            def run(connection: Connection, found: list[int] = found) -> None:
                found[0] = step(connection)

            await self._services.journal.commit(Batch().then(run))
            total += found[0]
            if not found[0]:
                break
        return total
