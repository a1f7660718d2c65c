"""One engine among several: its lease, its takeovers, and other engines' decisions about its operations.

All of it is read from the database at every heartbeat; messages of other engines only make that happen earlier.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Collection
from functools import partial

from stoker import __version__
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.ownership.cleaner import Cleaner
from stoker.engine.ownership.drift_watch import DriftWatch
from stoker.engine.ownership.healing import Healer
from stoker.engine.ownership.isolation import IsolationSettings
from stoker.engine.ownership.late_requests import LateObjects
from stoker.engine.ownership.offers import Offers
from stoker.engine.ownership.peers import OtherEngines
from stoker.engine.ownership.resumption import Resumption
from stoker.engine.ownership.runs import Runs
from stoker.engine.ownership.set_aside import SetAsideOperations
from stoker.engine.ownership.shared_work import SharedWork
from stoker.engine.ownership.takeovers import Takeovers
from stoker.engine.running.completion import lines_about
from stoker.engine.running.run import OperationRun
from stoker.engine.running.stop import Stop, is_superseded
from stoker.store import claims, deaths
from stoker.store.claims import ActionStart, OperationState
from stoker.store.journal import Batch
from stoker.store.records import IN_PROGRESS, REMOVE_SNAPSHOT, UNFINISHED, EngineRecord
from stoker.store.time_of_day import time_of_day
from stoker_foundation.clock import SteadyClock, Timer, sleep

LOG = logging.getLogger(__name__)

CLOCK_STEP = 2.0
"""The smallest step of the clock, in seconds, with which deadlines are changed."""


class Membership:
    """The lease of an engine. `clock` is the clock of its services, which is set here."""

    def __init__(
        self,
        components: RecordingComponents,
        runs: Runs,
        others: OtherEngines,
        resumption: Resumption,
        suspects: IsolationSettings,
        offers: Offers,
        clock: SteadyClock,
    ) -> None:
        self._components = components
        self._services = services = components.services
        self._runs = runs
        self.lease = runs.lease
        self._others = others
        self._clock = clock
        self._healer = Healer(components)
        self.drift_watch = DriftWatch(components)
        self._cleaner = Cleaner(services)
        self._set_aside = SetAsideOperations(services)
        self.takeovers = Takeovers(services, runs, resumption, suspects)
        is_trial = suspects.trial is not None
        self.shared_work = SharedWork(components, runs, resumption, offers, is_trial=is_trial)
        self._late_objects = LateObjects(components)
        self._leaving_at: float | None = None
        self._gone = False
        self._timer: Timer | None = None
        self._started_at = clock.now()
        self._trusts_from = clock.monotonic()
        self._following = asyncio.Lock()

    # -- the lease -------------------------------------------------------------------------------------------

    async def join(self, *, alone: bool, killed: Collection[int]) -> None:
        """Register this engine; `alone` and `killed` as for `Engine.start`.

        Every start adds a row for the engine: those of engines that died long ago are removed here.
        """
        services = self._services
        await self._follow_clock()
        now = self._started_at = services.clock.now()
        batch = Batch().then(partial(claims.forget_engines, before=now - claims.REMEMBERED_SECONDS))
        if killed:
            host = services.settings.host
            batch.then(partial(claims.record_planned_kills, processes=killed, host=host, now=now))
        if alone:
            limit = services.settings.engine_deaths_limit
            batch.then(partial(deaths.record_deaths, now=now, limit=limit, alone=True))
            batch.then(partial(claims.stop_others, engine_id=services.id, now=now))
        await services.journal.commit(batch)
        await self.beat()
        self._schedule()

    def leave(self) -> None:
        """Take over no more operations; the lease is renewed until the end, since calls in progress may need it.

        It is recorded that the engine was asked to stop, so that it does not count as a death if it is killed because
        it takes too long. A database that does not respond does not hold up the stop.
        """
        self._services.background.stopped = True
        self._leaving_at = self._services.clock.now()
        record = Batch().then(partial(claims.report, engine=self._record(self._leaving_at)))
        self._services.journal.submit(record, lambda error: None)

    async def deregister(self) -> None:
        """End the lease, so that others can take over unfinished operations immediately."""
        self._gone = True
        if self._timer is not None:
            self._timer.cancel()
        deregistration = partial(claims.deregister, engine_id=self._services.id, now=self._services.clock.now())
        await self._services.journal.commit(Batch().then(deregistration))

    async def expiry(self) -> None:
        """Return when the lease has not been renewed for its whole length, counted from now at the earliest."""
        clock, lease = self._clock, self._services.settings.lease_seconds
        began = clock.now()
        while (left := max(self.lease.renewed_at, began) + lease - clock.now()) > 0:
            await sleep(clock, left)

    def _schedule(self) -> None:
        services = self._services
        if not self._gone:
            self._timer = services.clock.call_later(
                services.settings.heartbeat_seconds, lambda: services.background.spawn(self._heartbeat())
            )

    async def _heartbeat(self) -> None:
        try:
            await self.beat()
            self._begin_maintenance()
        except Exception:
            LOG.exception("the heartbeat failed, will retry")
        self._schedule()

    def _begin_maintenance(self) -> None:
        """Begin what is done from time to time, most of it by one engine of a cluster.

        An engine that has just started has more urgent work.
        """
        background = self._services.background
        background.spawn(self._services.credentials.remove_given_up())
        if self._others.is_first:
            background.spawn(self._healer.run_if_due())
            background.spawn(self.drift_watch.run_if_due())
            background.spawn(self._cleaner.run_if_due())
            background.spawn(self._set_aside.run_if_due())
            background.spawn(self._late_objects.run_if_due())

    async def beat(self) -> None:
        """Renew the lease, then read the decisions of other engines."""
        services = self._services
        now = services.clock.now()
        batch = Batch().then(partial(claims.report, engine=self._record(now)))
        self._note_activity(batch)
        if self.lease.renewed_at and self.lease.is_expired:
            batch.then(partial(deaths.forget_deaths_of, engine_id=services.id))
        if any(run.operation.epoch > 1 for run in self._runs.values()):
            heartbeat = services.settings.heartbeat_seconds
            batch.then(partial(deaths.clear_survivors, engine_id=services.id, now=now, heartbeat=heartbeat))
        await services.journal.commit(batch)
        await self.reconcile()
        await self.release_without_run()
        self.lease.renew(now)
        await self._follow_clock()
        self._others.update_hosts(await services.database.read(claims.living_hosts, services.clock.now()))
        if services.clock.monotonic() >= self._trusts_from:
            self.takeovers.begin()
        if self._others.alive:
            self.shared_work.begin()
        await self._components.announcer.send_orphaned()
        await services.return_memory(idle=not self._runs)

    def _note_activity(self, batch: Batch) -> None:
        """Record which operations only wait now, and which do not any more: deaths are charged to those that work."""
        waiting, working = set[str](), set[str]()
        for run in self._runs.all():
            if run.operation.owner is not None and run.note_activity():
                (working if run.working else waiting).add(run.operation.id)
        if waiting or working:
            engine_id = self._services.id
            batch.then(partial(claims.note_activity, engine_id=engine_id, waiting=waiting, working=working))

    async def _follow_clock(self) -> None:
        """Adopt the time of day, and correct by a step of it what was recorded before.

        It is that of the database server, which all engines share: where the clock of one machine is wrong, its engine
        neither believes that the others are dead nor seems so. Until others have followed a step of that clock, their
        reports do not tell whether they are alive, so that this engine takes over nothing for a lease.
        """
        async with self._following:
            services = self._services
            asked_at = services.clock.monotonic()
            shown = await services.database.read(time_of_day)
            if (
                services.background.stopped
            ):  # operations may have been handed over; who takes them over corrects their times
                return
            step = self._clock.follow(shown, asked_at)
            if abs(step) < CLOCK_STEP or not self.lease.renewed_at:
                return
            LOG.warning("the clock was set by %+.0f seconds; timeouts are not affected", step)
            self.lease.renewed_at += step
            self._trusts_from = services.clock.monotonic() + services.settings.lease_seconds
            correction = partial(claims.follow_clock, engine_id=services.id, seconds=step, begun=self._moved(step))
            report = partial(claims.report, engine=self._record(services.clock.now()))
            await services.journal.commit(Batch().then(report).then(correction))

    async def clock_followed(self) -> None:
        """Return when no correction is being recorded: it applies only to operations that this engine still owns."""
        async with self._following:
            return

    def _moved(self, step: float) -> list[ActionStart]:
        """Correct the times in memory by a step of the clock: what timeouts count from, and the deadlines."""
        begun = []
        for run in self._runs.all():
            if run.operation.deadline is not None:
                run.operation.deadline += step
            for state in run.states.values():
                row = state.row
                if row.status == IN_PROGRESS and row.started_at is not None:
                    before, row.started_at = row.started_at, row.started_at + step
                    begun.append(ActionStart(row.uuid, before, row.started_at))
        return begun

    def _record(self, now: float) -> EngineRecord:
        settings = self._services.settings
        return EngineRecord(
            id=self._services.id,
            host=settings.host,
            process=os.getpid(),
            version=__version__,
            started_at=self._started_at,
            seen_at=now,
            lease=settings.lease_seconds,
            stopped_at=None,
            leaving_at=self._leaving_at,
        )

    # -- new operations ----------------------------------------------------------------------------------------

    async def release_without_run(self) -> None:
        """Release operations that this engine owns but does not run, so that they are claimed again.

        This happens if a run could not record its end.
        """
        services = self._services
        held = await services.database.read(claims.held, services.id)
        unattended = {identifier for identifier, key in held.items() if self._runs.is_missing(identifier, key)}
        if unattended:
            LOG.warning(
                "releasing operations that this engine owns but does not run: %s", ", ".join(sorted(unattended))
            )
            await services.journal.commit(
                Batch().then(partial(claims.release, engine_id=services.id, identifiers=unattended))
            )

    async def take_next(self, stack_id: str) -> None:
        """Take over the operation that waited until this engine had finished with the stack."""
        waiting = await self._services.database.read(claims.waiting_on, stack_id)
        if waiting is not None:
            await self.takeovers.take([waiting])

    # -- decisions of other engines ----------------------------------------------------------------------------

    async def reconcile(self) -> None:
        """Stop superseded, cancelled and lost operations, and wake the waiters of operations that ended elsewhere."""
        services = self._services
        runs = {run.operation.id: run for run in self._runs.all()}
        waited_for = self._components.awaited.running_elsewhere(runs)
        if not runs and not waited_for:
            return
        found = await services.database.read(claims.current_states, {*runs, *waited_for})
        for identifier, run in runs.items():
            self._stop_if_replaced(run, found.get(identifier))
        for identifier in waited_for:
            if identifier not in found or found[identifier].status not in UNFINISHED:
                self._components.awaited.ended(identifier)

    def _stop_if_replaced(self, run: OperationRun, recorded: OperationState | None) -> None:
        if run.operation.owner is None:  # handed over during the query
            return
        if recorded is None or (recorded.owner, recorded.epoch) != (self._services.id, run.assignment.claim.epoch):
            with lines_about(run.operation, run.stack):
                LOG.warning(
                    "operation %s of stack %s was taken over by another engine", run.operation.id, run.stack.name
                )
            run.abandon()
        elif recorded.status not in UNFINISHED or run.operation.action == REMOVE_SNAPSHOT:
            return
        elif recorded.current != run.operation.id:
            if is_superseded(run.operation.action, recorded.current_action or "DELETE"):
                run.stop(Stop.SUPERSEDED)
        elif recorded.stack_status != IN_PROGRESS:
            run.cancel()

    # -- messages of peers ---------------------------------------------------------------------------------------

    async def offered(self, operation_id: str) -> None:
        """Handle the message that an operation needs an owner, and maybe others, too."""
        await self.takeovers.take([operation_id])
        self.shared_work.begin()

    async def alerted(self) -> None:
        """Handle the message that the operations of this engine must be compared with the record."""
        await self.reconcile()

    async def ended(self, operation_id: str) -> None:
        """Handle the message that an operation has finished."""
        self._components.awaited.ended(operation_id)

    async def owner_elsewhere(self, stack_id: str) -> str | None:
        """Return the other living engine that runs an operation on the stack."""
        if not self._others.alive:
            return None
        owner = await self._services.database.read(claims.owner_of, stack_id, self._services.clock.now())
        return None if owner == self._services.id else owner
