"""The engine of one process: accepts operations, runs them, and takes over orphaned ones."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import Fenced
from stoker.cloud.auth import CloudPool
from stoker.engine.calls.awaited import Awaited
from stoker.engine.credentials import hold
from stoker.engine.inspection.reading import Reader, ReaderForRuns
from stoker.engine.notifications.announcer import Announcer, Bus
from stoker.engine.ownership.healing import replace_on_signal
from stoker.engine.ownership.membership import Membership
from stoker.engine.ownership.operation_start import OperationStart, start_columns
from stoker.engine.ownership.owner_host import Isolation, OwnerHost
from stoker.engine.ownership.peers import NoPeers, Peers
from stoker.engine.records.actions import DEFINES, REMOVES
from stoker.engine.records.failure import Failure
from stoker.engine.records.loader import Prepared
from stoker.engine.records.state import ResourceState
from stoker.engine.running.conclusion import conclusion, outcome, rollback_of
from stoker.engine.running.exports import exchanged
from stoker.engine.running.operation_log import lines_about, log_end, log_start
from stoker.engine.running.parent_resource import notify_parent_resource
from stoker.engine.running.polling import ObjectPoller
from stoker.engine.running.run import OperationRun
from stoker.engine.running.stopping import CANCELLED, SET_ASIDE_REASON, Stop, is_superseded
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.store import announcements, deaths, queries, snapshots, trusts
from stoker.store.database import Database
from stoker.store.expiry import outside_request
from stoker.store.journal import Batch, Claim, ClaimedWriter, Journal, Statement, Writer, waits_for_space
from stoker.store.records import (
    COMPLETE,
    FAILED,
    IN_PROGRESS,
    REMOVE_SNAPSHOT,
    RUNNING,
    SET_ASIDE,
    SUPERSEDED,
    Operation,
    Record,
    Stack,
    StackSnapshot,
)
from stoker.store.sealing import Sealer
from stoker_foundation.clock import Clock, SteadyClock

LOG = logging.getLogger(__name__)


class Engine(OwnerHost):
    """The running operations of this process, and everything that they need.

    Use it on one event loop: `await start()`, `await take_over()`, then `submit`; `await stop()` hands unfinished
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
        self.steady_clock = SteadyClock(clock)
        super().__init__(
            database=database,
            journal=journal,
            sealer=sealer,
            registry=registry,
            pool=pool,
            clock=self.steady_clock,
            settings=settings,
            cloud_name=cloud_name,
        )
        self.reader = Reader(self)
        self.reader_for_runs = ReaderForRuns(self)
        self.runs: dict[str, OperationRun] = {}
        self.searching = asyncio.Lock()
        self.sending = asyncio.Lock()
        self.object_poller = ObjectPoller(clock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._next: dict[str, OperationRun] = {}
        self._taken_on: set[str] = set()
        self._handed_over: list[str] = []
        self.awaited = Awaited()
        self.isolation = isolation
        self.trial = trial
        self.peers = peers or NoPeers()
        self.membership = Membership(self, self.peers)
        self.announcer = Announcer(self, bus)
        pool.transport.before_change = self.membership.hold

    # -- starting and stopping ---------------------------------------------------------------------------------

    async def start(self, *, alone: bool = False, killed: Collection[int] = ()) -> None:
        """Register this engine, which may submit operations from now on; it takes none over yet.

        `alone` states that no other engine can be alive on this database, so that no lease has to expire first.
        `killed` are processes of engines on this host that were killed on purpose, which is no death (see `deaths`).
        """
        await self.membership.join(alone=alone, killed=killed)

    async def take_over(self) -> None:
        """Begin to take over the operations of dead engines, in the background, until the engine stops."""
        await self.membership.takeovers.open()

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
            waiting = {leaving, *self._tasks}
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        self.evaluator.stop()
        self.values.close()
        return left

    async def _leave(self) -> None:
        waits_for_space.set(True)
        self.membership.leave()
        await self.membership.clock_followed()
        waiting = [run.operation.id for run in self._next.values()]
        self._next.clear()
        for run in list(self.runs.values()):
            run.stop(Stop.SHUTDOWN)
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.announcer.stop()
        await self.membership.deregister()
        for operation_id in (*waiting, *self._handed_over):
            self.peers.offer(operation_id)

    @property
    def stopped(self) -> bool:
        """Return whether this engine is being stopped."""
        return self.membership.stopped

    def writer_for(self, claim: Claim) -> Writer:
        """Return what the run with this claim writes with."""
        return ClaimedWriter(self.journal, claim)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the background, independently of the current request; `stop` waits for it."""
        with outside_request():
            task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def resume(self, operation: Operation, former_owner: str | None) -> OperationRun | None:
        """Resume an operation that this engine has just claimed and return its run, or close it if it has ended.

        `former_owner` is the engine that ran it before, unless that engine handed the operation over.
        """
        stack = await self._stack_as_it_is(operation)
        beside = operation.action == REMOVE_SNAPSHOT
        if stack is None or not (beside or stack.status == IN_PROGRESS):
            await self._close(operation, stack, FAILED, CANCELLED)
            return None
        if not beside and stack.operation != operation.id:
            await self._close(operation, stack, SUPERSEDED, Stop.SUPERSEDED.value)
            return None
        run = OperationRun(self, operation, stack, former_owner)
        if operation.reason_code == SET_ASIDE:
            await self._set_aside(run)
        else:
            self._launch(run)
        return run

    async def _set_aside(self, run: OperationRun) -> None:
        """Fail an operation that has crashed engines, without loading, planning or starting anything of it."""
        LOG.error("operation %s of stack %s is set aside: it has crashed engines", run.operation.id, run.stack.name)
        run.reason_code = SET_ASIDE
        try:
            await self.end(run, FAILED, SET_ASIDE_REASON)
        except Fenced:
            LOG.info("operation %s was taken over by another engine", run.operation.id)
        run.planned.set()
        run.done.set()

    async def _stack_as_it_is(self, operation: Operation) -> Stack | None:
        """Return the stack of an operation as recorded, before anything was started on it here."""
        while True:
            before = self.runs.get(operation.stack_id), self._next.get(operation.stack_id)
            stack = await self._stack_of(operation)
            if before == (self.runs.get(operation.stack_id), self._next.get(operation.stack_id)):
                return stack

    async def _stack_of(self, operation: Operation) -> Stack | None:
        """Return the stack of an operation."""
        identifier: str | None = operation.stack_id
        if operation.action == REMOVE_SNAPSHOT:
            snapshot = await self.database.read(snapshots.snapshot_by_id, operation.stack_id)
            identifier = snapshot.stack_id if snapshot is not None else None
        return await self.database.read(queries.stack_by_id, identifier) if identifier is not None else None

    def all_runs(self) -> list[OperationRun]:
        """Return the operations that run here, and those that wait for them to stop."""
        return [*self.runs.values(), *self._next.values()]

    @contextmanager
    def taking_on(self, operation_id: str) -> Iterator[None]:
        """Mark an operation that is recorded as this engine's until a run processes it or waits for its turn."""
        self._taken_on.add(operation_id)
        try:
            yield
        finally:
            self._taken_on.discard(operation_id)

    def has_no_run(self, operation_id: str, key: str) -> bool:
        """Return whether an operation of this engine has no run, and will not get one when the current run has ended.

        `key` is its target, as in `OperationRun.key`.
        """
        return operation_id not in self._taken_on and key not in self.runs

    # -- taking work on ----------------------------------------------------------------------------------------

    async def submit_new(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared,
        *,
        steps: Sequence[Statement] = (),
        writer: Writer | None = None,
    ) -> None:
        """Record a new stack with its first operation, and start it. Raises IntegrityError if the name is in use, and
        GivenUp if its credential is about to be removed.

        `steps` are further statements of the same transaction, which follow the others. `writer` is that of the
        parent's run, for a nested stack: Fenced is raised if its claim has been lost.
        """
        stack.operation = operation.id
        if operation.parent_operation is None or not self.membership.others:
            self._own(operation)
        batch = Batch().then(prepared.save).add(prepared.row, stack, operation)
        if stack.parent_id is None:
            batch.then(partial(hold, text=stack.credential))
        else:
            batch.then(partial(trusts.inherit, stack_id=stack.id, parent_id=stack.parent_id))
        batch.steps.extend(steps)
        batch.add(self.announcer.stack_event(stack, operation.action, IN_PROGRESS, stack.reason))
        with self.taking_on(operation.id):
            await self.announcer.commit(writer or self.journal, batch, prepared.loaded.environment.event_sinks)
            if operation.owner == self.id:
                self._launch(OperationRun(self, operation, stack))
            else:
                self.peers.offer(operation.id)

    async def submit(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared | None = None,
        *,
        values: dict[str, Any] | None = None,
        credential: str | None = None,
        guard: Callable[[Stack], object] | None = None,
        fresh: Callable[[Connection], object] | None = None,
        steps: Sequence[Statement] = (),
        rows: Sequence[Record] = (),
        new: Sequence[Record] = (),
        writer: Writer | None = None,
    ) -> None:
        """Record an operation on an existing stack and start it; an operation in progress is superseded.

        `values` are further columns of the stack to set, `rows` other rows to change, `new` rows to add. `credential`
        becomes the credential of its tree; GivenUp is raised if that is about to be removed. `guard` receives the stack
        as it is when the operation is recorded; if it raises an error, nothing is recorded, and the error is raised
        here. `fresh` is a guard that reads more of the record. `steps` and `writer` as for `submit_new`. If another
        engine runs an operation on the stack, the new operation waits until that has ended.
        """
        changes = {**start_columns(operation, prepared, self.clock.now()), **(values or {})}
        batch = Batch().change(*rows)
        if prepared is not None:
            batch.then(prepared.save).add(prepared.row)
        operation.former_inputs = operation.former_inputs or stack.inputs
        start = OperationStart(stack, operation, self.id, self.clock.now(), changes, credential, guard, fresh)
        batch.then(start)
        batch.steps.extend(steps)
        batch.add(*new, self.announcer.stack_event(stack, operation.stack_action, IN_PROGRESS, str(changes["reason"])))
        sinks = (
            prepared.loaded.environment.event_sinks if prepared is not None else await self.announcer.sinks_of(stack)
        )
        with self.taking_on(operation.id):
            await self.announcer.commit(writer or self.journal, batch, sinks)
            if start.busy is None:
                self._launch(OperationRun(self, operation, replace(start.stack, **changes)))
            else:
                self.peers.alert(start.busy)

    def _own(self, operation: Operation) -> None:
        operation.owner, operation.epoch, operation.status = self.id, 1, RUNNING
        operation.started_at = operation.claimed_at = self.clock.now()

    def _launch(self, run: OperationRun) -> None:
        """Start a run, as soon as the one on the same stack has stopped.

        Operations claimed while this engine is being stopped are handed over like all others.
        """
        if self.membership.stopped:
            run.stop(Stop.SHUTDOWN)
        running = self.runs.get(run.key)
        if running is not None:
            if is_superseded(running.operation.action, run.operation.action):
                running.stop(Stop.SUPERSEDED)
            overtaken = self._next.get(run.key)
            self._next[run.key] = run
            if overtaken is not None:
                self.spawn(self._close(overtaken.operation, overtaken.stack, SUPERSEDED, Stop.SUPERSEDED.value))
            return
        self.runs[run.key] = run
        self.spawn(self.turns.taken(run.turn, partial(self._drive, run)))

    async def _drive(self, run: OperationRun) -> None:
        with lines_about(run.operation, run.stack):
            log_start(run.operation, run.stack, run.former_owner)
            await run.run()
        try:
            now = await self.database.read(queries.stack_by_id, run.stack.id) if run.key in self._next else None
        finally:
            if self.runs.get(run.key) is run:
                del self.runs[run.key]
            following = self._next.pop(run.key, None)
            self.freed_memory.ended(run.release())
        if following is not None and not self.membership.stopped:
            following.stack = now or following.stack
            self._launch(following)
        elif run.follow_up is not None and not self.membership.stopped:
            self._launch(run.follow_up)
        elif self.membership.others:
            self.spawn(self.membership.take_next(run.stack.id))

    async def replace(self, stack: Stack, state: ResourceState, reason: str) -> str:
        """Begin an update that replaces a resource; return the result. Raises NoActionRequired."""
        return await replace_on_signal(self, stack, state, reason)

    async def remove_snapshot(self, snapshot: StackSnapshot, stack: Stack, operation: Operation) -> None:
        """Record the deletion of a snapshot and start it, in parallel with other operations on the stack."""
        snapshot.action, snapshot.status, snapshot.reason = "DELETE", IN_PROGRESS, "Snapshot DELETE started"
        self._own(operation)
        with self.taking_on(operation.id):
            await self.journal.commit(Batch().change(snapshot).add(operation))
            self._launch(OperationRun(self, operation, stack))

    # -- how operations end --------------------------------------------------------------------------------------

    async def end(self, run: OperationRun, status: str, reason: str) -> None:
        """Record the end of an operation; roll a failed one back if that was requested."""
        stack, now = run.stack, self.clock.now()
        failure = (run.failure or Failure.of_operation(reason)) if status == FAILED else None
        operation = replace(  # others see the end only after its commit
            run.operation,
            status=status,
            reason=reason,
            finished_at=now,
            reason_code=run.reason_code if status == FAILED else None,
            failure=failure.to_json() if failure is not None else None,
        )
        values: dict[str, Any] = {"status": status, "reason": reason}
        cause = failure.path_json() if failure is not None else None
        events = [self.announcer.stack_event(stack, operation.stack_action, status, reason, cause)]
        batch = await notify_parent_resource(run, status)
        batch.change(operation)
        batch.steps.extend(conclusion(operation, status, reason, run.document))
        if operation.epoch > 1 and operation.reason_code is None:
            batch.then(partial(deaths.forget, operation_id=operation.id))
        if status == COMPLETE:
            values |= outcome(operation, run.inputs, now)
            if operation.action in DEFINES:
                batch.then(partial(queries.set_stack, stack_id=stack.id, values={"good_inputs": operation.inputs}))
            if (step := exchanged(run)) is not None:
                batch.then(step)
        rollback = rollback_of(stack, operation, self.settings, now) if status == FAILED and not run.refused else None
        if rollback is not None:
            self._own(rollback)
            values |= {"action": "ROLLBACK", "status": IN_PROGRESS, "reason": reason, "operation": rollback.id}
            events.append(self.announcer.stack_event(stack, "ROLLBACK", IN_PROGRESS, "Stack ROLLBACK started"))
        current = [False]
        gone = status == COMPLETE and operation.action in REMOVES and stack.parent_id is None
        rows = self.announcer.about(events, run.sinks)
        if run.sinks and gone:
            rows.append(self.announcer.last_notification(stack))

        def settle(connection: Connection) -> None:
            """Set the state and the next operation of the stack, unless a newer operation decides about them."""
            current[0] = queries.set_stack_of(connection, operation.id, stack.id, values)
            if current[0]:
                queries.add_events(connection, events)
                announcements.put(connection, rows)
                if rollback is not None:
                    queries.add_operation(connection, rollback)

        batch.then(settle)
        if gone and not run.sinks:
            batch.then(partial(trusts.give_up_unused, credential=stack.credential))
        if self.settings.max_events_per_stack > 0:
            keep, at_once = self.settings.max_events_per_stack, self.settings.event_purge_batch_size
            batch.then(partial(queries.purge_events, stack_id=stack.id, keep=keep, batch=at_once))
        await run.writer.commit(batch)
        run.operation = operation
        self.announcer.send([*batch.added, *rows])
        self._tell_finished(operation)
        log_end(operation, stack)
        if gone and not run.sinks:
            self.spawn(self.credentials.remove_given_up())
        if rollback is not None and current[0]:
            run.follow_up = OperationRun(self, rollback, replace(stack, **values))

    async def _close(self, operation: Operation, stack: Stack | None, status: str, reason: str) -> None:
        operation.status, operation.reason, operation.finished_at = status, reason, self.clock.now()
        operation.failure = Failure.of_operation(reason).to_json() if status == FAILED else None
        with lines_about(operation, stack):
            try:
                batch = Batch().change(operation)
                batch.steps.extend(conclusion(operation, status, reason))
                await self.writer_for(Claim(operation.id, operation.epoch)).commit(batch)
            except Fenced:
                LOG.info("operation %s was taken over by another engine", operation.id)
            else:
                log_end(operation, stack)
        self._tell_finished(operation)

    async def end_superseded(self, run: OperationRun) -> None:
        """Record that a newer operation continues from the current state."""
        await self._close(run.operation, run.stack, SUPERSEDED, Stop.SUPERSEDED.value)

    async def end_cancelled(self, run: OperationRun) -> None:
        """Record that all steps in progress at the time of the cancellation have ended."""
        await self._close(run.operation, run.stack, FAILED, CANCELLED)

    async def hand_over(self, run: OperationRun) -> None:
        """Release an unfinished operation for another engine."""
        run.operation.owner, run.operation.claimed_at = None, self.clock.now()
        await run.commit(Batch().change(run.operation))
        self._handed_over.append(run.operation.id)
        LOG.info("handing over %s of stack %s", run.operation.action, run.stack.name)

    # -- parents and children --------------------------------------------------------------------------------------

    async def refreshed(self, operation: Operation) -> Operation:
        """Return the current state of the operation."""
        run = self.runs.get(operation.stack_id)
        if run is not None and run.operation.id == operation.id:
            return run.operation
        following = self._next.get(operation.stack_id)
        if following is not None and following.operation.id == operation.id:
            return following.operation
        return await self.database.read(queries.operation_by_id, operation.id) or operation

    def _tell_finished(self, operation: Operation) -> None:
        self.awaited.ended(operation.id)
        if operation.parent_operation is not None and self.membership.others:
            self.peers.finished(operation.id)

    async def cancel(self, stack: Stack, guard: Callable[[Stack], object]) -> None:
        """Cancel the operation on a stack: it fails immediately, starts no more steps, and is not rolled back.

        Steps in progress, also in nested stacks, are finished. `guard` as for `submit`.
        """
        await self._fail_cancelled(stack, guard)
        level = [stack]
        while level:
            for item in level:
                for run in (self.runs.get(item.id), self._next.get(item.id)):
                    if run is not None:
                        run.cancel()
            children = await self.database.read(queries.child_stacks, [item.id for item in level])
            level = [child for child in children if child.status == IN_PROGRESS]
            for child in level:
                await self._fail_cancelled(child, lambda _: None)

    async def _fail_cancelled(self, stack: Stack, guard: Callable[[Stack], object]) -> None:
        def fail(connection: Connection) -> None:
            guard(queries.lock_stack(connection, stack.id) or stack)
            queries.set_stack(connection, stack.id, {"status": FAILED, "reason": CANCELLED})

        batch = Batch().then(fail).add(self.announcer.stack_event(stack, stack.action, FAILED, CANCELLED))
        await self.announcer.commit(self.journal, batch, await self.announcer.sinks_of(stack))
