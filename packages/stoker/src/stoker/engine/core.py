"""The engine of one process: it accepts operations, runs them, and takes over orphaned ones."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from stoker.cloud.auth import CloudPool
from stoker.engine.calls.context import AwaitedOperations
from stoker.engine.notifications.announcer import Announcer, Bus
from stoker.engine.ownership.isolation import Isolation, IsolationSettings
from stoker.engine.ownership.membership import Membership
from stoker.engine.ownership.offers import Offers
from stoker.engine.ownership.peers import NoPeers, OtherEngines, Peers
from stoker.engine.ownership.resumption import Resumption
from stoker.engine.ownership.runs import Runs
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.records.object_owners import examine_earlier_records
from stoker.engine.records.services import RecordingServices
from stoker.engine.running.completion import OperationCompletion
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.store.database import Database
from stoker.store.journal import Journal, waits_for_space
from stoker.store.sealing import Sealer
from stoker_foundation.clock import Clock, SteadyClock

LOG = logging.getLogger(__name__)


class Engine:
    """The parts of which an engine consists, put together; callers use the part that does what they need.

    `services` are used by all others, `submissions` accepts operations, `runs` are those that run here, and
    `membership` decides which ones these are, together with `others`, the other engines.

    Use it on one event loop: `await start()`, `await take_over()`, then `submissions`; `await stop()` hands unfinished
    operations over.
    """

    def __init__(
        self,
        *,
        database: Database,
        journal: Journal,
        sealer: Sealer,
        registry: Registry,
        pool: CloudPool,
        clock: Clock,
        settings: EngineSettings,
        cloud_name: str | None = None,
        peers: Peers | None = None,
        bus: Bus | None = None,
        isolation: Isolation | None = None,
        trial: str | None = None,
    ) -> None:
        steady_clock = SteadyClock(clock)
        self.services = services = RecordingServices(
            database=database,
            journal=journal,
            sealer=sealer,
            registry=registry,
            pool=pool,
            clock=steady_clock,
            settings=settings,
            cloud_name=cloud_name,
        )
        self.others = others = OtherEngines(peers or NoPeers(), services)
        self._announcer = Announcer(services, bus)
        awaited = AwaitedOperations()
        self._endings = OperationCompletion(services, self._announcer, awaited, others.finished)
        self.runs = Runs(services, self._endings, others)
        offers = Offers(self.runs, others, settings.nested_at_once, is_trial=trial is not None)
        self.submissions = Submissions(services, self._announcer, awaited, self.runs, others, offers)
        components = self.submissions.components
        resumption = Resumption(components, self.runs, self._endings)
        suspects = IsolationSettings(isolation, trial)
        self.membership = Membership(components, self.runs, others, resumption, suspects, offers, steady_clock)
        self.runs.freed = self.membership.take_next
        offers.take = self.membership.shared_work.begin

    async def start(self, *, alone: bool = False, killed: Collection[int] = ()) -> None:
        """Register this engine, which may submit operations from now on; it takes none over yet.

        `alone` states that no other engine can be alive on this database, so that no lease has to expire first.
        `killed` are processes of engines on this host that were killed on purpose, which is no death (see `deaths`).
        """
        self.services.credentials.pool.transport.before_change = self.runs.lease.wait_until_valid
        await examine_earlier_records(self.services)
        await self.membership.join(alone=alone, killed=killed)

    async def take_over(self) -> None:
        """Begin to take over the operations of dead engines, in the background, until the engine stops."""
        await self.membership.takeovers.open()
        self.membership.shared_work.begin()

    async def stop(self) -> bool:
        """Finish calls in progress, hand all operations over, and deregister the engine.

        Return False if the lease has expired before that was recorded, because the database cannot be used: then others
        take the operations over, as those of an engine that died.
        """
        leaving = asyncio.ensure_future(self._leave())
        expiry = asyncio.ensure_future(self.membership.expiry())
        await asyncio.wait({leaving, expiry}, return_when=asyncio.FIRST_COMPLETED)
        expiry.cancel()
        if left := leaving.done():
            await leaving
        else:
            LOG.error(
                "The database cannot be used, and the lease has expired: %d operations are not handed over; they are "
                "resumed from what is recorded",
                len(self.runs),
            )
            waiting = {leaving, *self.services.background.tasks}
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        self.services.evaluator.stop()
        self.services.memory.values.close()
        return left

    async def _leave(self) -> None:
        waits_for_space.set(True)
        self.membership.leave()
        await self.membership.clock_followed()
        waiting = self.runs.stop()
        await self.services.background.ended()
        await self._announcer.stop()
        await self.membership.deregister()
        for operation_id in (*waiting, *self._endings.handed_over):
            self.others.peers.offer(operation_id)
