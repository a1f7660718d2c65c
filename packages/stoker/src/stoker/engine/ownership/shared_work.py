"""Take operations of nested stacks that are offered to all engines, a portion at a time.

The next portion follows when the operations of the last one have made their plans, and when few calls of their project
wait for others to end: an engine that is busy takes less. The engine that has offered the operations learns of their
ends as of those that were taken over.
"""

from __future__ import annotations

import logging

from sqlalchemy import Connection

from stoker.engine.calls.context import RecordingComponents
from stoker.engine.ownership.offers import PORTION, Offers
from stoker.engine.ownership.resumption import Resumption
from stoker.engine.ownership.runs import Runs
from stoker.store.journal import Batch
from stoker.store.offered import claim_offered
from stoker.store.records import IN_PROGRESS, Operation, Stack
from stoker_foundation.clock import Timer

LOG = logging.getLogger(__name__)

_CROWDED_SECONDS = 0.5
"""After which an engine looks again that left operations to others, since calls of their projects waited."""


class SharedWork:
    """The share of one engine; `is_trial` states that it must only run what it has been started for."""

    def __init__(
        self, components: RecordingComponents, runs: Runs, resumption: Resumption, offers: Offers, *, is_trial: bool
    ) -> None:
        self._components = components
        self._services = components.services
        self._runs = runs
        self._resumption = resumption
        self._offers = offers
        self._is_trial = is_trial
        self._taking = self._again = False
        self._timer: Timer | None = None

    def begin(self) -> None:
        """Take what is offered, in the background; if that is in progress, look again before it ends."""
        self._again = not self._is_trial
        if self._again and not self._taking and not self._services.background.stopped:
            self._taking = True
            self._services.background.spawn(self._take_all())

    async def _take_all(self) -> None:
        try:
            while self._again:
                self._again = False
                while await self._take_portion() == PORTION:
                    continue
            self._offers.none_left()
            self._schedule_next()
        except Exception:
            LOG.exception("cannot take operations that are offered, will retry")
        finally:
            self._taking = False

    async def _take_portion(self) -> int:
        """Claim and run a portion when what runs here is under way, and return its size."""
        services = self._services
        await self._runs.until_planned()
        while self._runs.lease.is_expired and not services.background.stopped:
            await self._runs.lease.next_renewal()
        if services.background.stopped:
            return 0
        claimed: list[tuple[Operation, Stack]] = []
        crowded = self._saturated_projects()

        def claim(connection: Connection) -> None:
            claimed[:] = claim_offered(connection, services.id, services.clock.now(), PORTION, crowded)

        with self._runs.claiming():
            await services.journal.commit(Batch().then(claim))
            changed = [each for each in claimed if not self._launched(*each)]
            for operation, _ in changed:
                await self._resumption.resume(operation, None)
        return len(claimed)

    def _saturated_projects(self) -> set[str]:
        """Return the projects for which this engine has enough to do."""
        return (
            set()
            if self._offers.is_only_engine
            else self._services.credentials.pool.transport.saturated_projects(PORTION)
        )

    def _schedule_next(self) -> None:
        """Look again soon if something may have been left only because calls wait here."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            self._services.clock.call_later(_CROWDED_SECONDS, self.begin) if self._saturated_projects() else None
        )

    def _launched(self, operation: Operation, stack: Stack) -> bool:
        """Run an operation unless something has happened to its stack."""
        is_free = stack.status == IN_PROGRESS and self._runs.of(stack.id) == (None, None)
        if is_free:
            self._runs.launch(self._runs.run_of(self._components, operation, stack))
        return is_free
