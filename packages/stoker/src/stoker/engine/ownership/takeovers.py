"""Take over the operations of engines that died, in portions, beside the heartbeat.

A portion is claimed in one transaction. The next one follows when the operations of the last one are under way, so that
thousands of operations neither hold up heartbeats nor requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from contextlib import ExitStack
from typing import Any

from stoker.engine.ownership.isolation import IsolationSettings
from stoker.engine.ownership.resumption import Resumption
from stoker.engine.ownership.runs import Runs, until_planned
from stoker.engine.records.services import RecordingServices
from stoker.engine.running.run import OperationRun
from stoker.store import claimable, claims
from stoker.store.claimable import Orphan
from stoker.store.claims import Claimant, ClaimedOperations
from stoker.store.journal import Batch

LOG = logging.getLogger(__name__)

PORTION = 20
"""Number of operations that are claimed in one transaction."""

NOTED = 200
"""Number of operations from which on a takeover is logged."""


class Takeovers:
    """The takeovers by one engine. `waiting` is the number of operations that are still to be taken over."""

    def __init__(
        self, services: RecordingServices, runs: Runs, resumption: Resumption, suspects: IsolationSettings
    ) -> None:
        self._services = services
        self._runs = runs
        self.resumption = resumption
        self._suspects = suspects
        self._ended = asyncio.Event()
        self._ended.set()
        self._open = False
        self.total = self.waiting = 0

    async def open(self) -> None:
        """Begin to take over what no living engine owns, and again at each heartbeat from now on."""
        self._open = True
        await self._count()
        self.begin()

    def begin(self) -> None:
        """Start to take over what no living engine owns, unless that is in progress, or `open` was not called yet."""
        if self._open and self._ended.is_set() and not self._services.background.stopped:
            self._ended.clear()
            self._services.background.spawn(self._take_all())

    async def complete(self) -> None:
        """Return when the takeover in progress has ended."""
        await self._ended.wait()

    async def take_first(self, stack_id: str) -> None:
        """Take over the operation of a stack now if it is among those that are still to be taken over."""
        if self.waiting:
            found = await self._services.database.read(claims.current_of, stack_id)
            if found is not None:
                await until_planned(self._services, await self.take([found]))

    async def take(self, identifiers: Collection[str]) -> list[OperationRun]:
        """Claim those of these operations that no living engine owns, and run them; return their runs."""
        services, taken = self._services, [ClaimedOperations()]
        if self._services.background.stopped:
            return []

        def claim(connection: Any) -> None:
            taken[0] = claims.take(connection, identifiers, self._claimant())

        runs = []
        with ExitStack() as opened:
            for identifier in identifiers:
                opened.enter_context(self._runs.taking_on(identifier))
            await services.journal.commit(Batch().then(claim))
            for operation, former_owner in taken[0].claimed:
                runs.append(await self.resumption.resume(operation, former_owner))
        for root_id in sorted(taken[0].to_isolate):
            assert self._suspects.isolation is not None
            self._suspects.isolation.begin(root_id)
        return [run for run in runs if run is not None]

    def _claimant(self) -> Claimant:
        services = self._services
        return Claimant(
            services.id,
            services.clock.now(),
            services.settings.engine_deaths_limit,
            isolates=self._suspects.isolation is not None,
            trial=self._suspects.trial,
        )

    async def _take_all(self) -> None:
        try:
            await self._take_portions()
        except Exception:
            LOG.exception("cannot take operations over, will retry")
        finally:
            self.total = self.waiting = 0
            self._ended.set()

    async def _take_portions(self) -> None:
        services = self._services
        last: Orphan | None = None
        while not self._services.background.stopped:
            while (
                self._runs.lease.is_expired and not self._services.background.stopped
            ):  # what is claimed without a lease is claimed by others at once
                await self._runs.lease.next_renewal()
            orphans = await services.database.read(
                claimable.claimable, services.id, services.clock.now(), PORTION, last
            )
            if not orphans:
                return
            if last is None and len(orphans) == PORTION and not self.total:
                await self._count()
            last = orphans[-1]
            await until_planned(self._services, await self.take([orphan.id for orphan in orphans]))
            self.waiting = max(self.waiting - len(orphans), 0)

    async def _count(self) -> None:
        services = self._services
        self.total = self.waiting = await services.database.read(
            claimable.count_claimable, services.id, services.clock.now()
        )
        if self.total >= NOTED:
            LOG.info("taking over %d operations", self.total)
