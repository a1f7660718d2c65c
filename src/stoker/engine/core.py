"""The engine of one process: takes operations on, runs them, finds those that nobody owns any more."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker import __version__
from stoker.base.clock import Clock, Timer
from stoker.base.errors import Fenced
from stoker.base.ids import new_id
from stoker.cloud.auth import CloudPool
from stoker.engine.credentials import Credentials
from stoker.engine.loader import LoadedInputs, Loader, Prepared
from stoker.engine.planner import Wanted
from stoker.engine.reading import Reader
from stoker.engine.run import NOTHING, OperationRun
from stoker.engine.settings import EngineSettings
from stoker.engine.stopping import CANCELLED, Stop, gives_way
from stoker.engine.types import MissingType, TypeTable
from stoker.engine.watching import Watchtower
from stoker.plugins.registry import Registry
from stoker.store import queries
from stoker.store.database import Database
from stoker.store.journal import Batch, Claim, Journal
from stoker.store.records import (
    COMPLETE,
    FAILED,
    IN_PROGRESS,
    RUNNING,
    SUPERSEDED,
    EngineRecord,
    Event,
    Operation,
    Stack,
)
from stoker.store.sealing import Sealer
from stoker.template.definition import Definition

LOG = logging.getLogger(__name__)

ROLLS_BACK = ("CREATE", "UPDATE", "ADOPT", "RESTORE")


def rollback_target(stack: Stack, operation: Operation) -> str:
    """The inputs that undoing an operation on a stack leads to.

    Those that it was last brought to completely; where it never was, those from before a change, and nothing from
    before a creation.
    """
    if operation.action == "ROLLBACK":
        return operation.inputs
    before = operation.former_inputs if operation.action in ("UPDATE", "RESTORE") else None
    return stack.good_inputs or before or NOTHING


class Engine:
    """Everything that running operations need, and the operations that run here.

    Use it on one event loop: `await start()`, then `submit`; `await stop()` hands unfinished work over.
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
    ) -> None:
        self.id = new_id()
        self.database = database
        self.journal = journal
        self.sealer = sealer
        self.registry = registry
        self.pool = pool
        self.clock = clock
        self.settings = settings
        self.loader = Loader(database, sealer, settings)
        self.types = TypeTable(registry, self.loader)
        self.unknown_type = MissingType()
        self.credentials = Credentials(pool, database, cloud_name)
        self.reader = Reader(self)
        self.runs: dict[str, OperationRun] = {}
        self.searching = asyncio.Lock()
        self.telling = asyncio.Lock()
        self.watchtower = Watchtower(clock)
        self.pushing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._next: dict[str, OperationRun] = {}
        self._handed_over: list[str] = []
        self._watchers: dict[str, dict[str, Callable[[], None]]] = {}
        self.peers = peers or NoPeers()
        self.membership = Membership(self, self.peers)
        pool.transport.before_change = self.membership.hold

    # -- starting and stopping ---------------------------------------------------------------------------------

    async def start(self, *, alone: bool = False) -> None:
        """Report this engine and take on what nobody owns.

        `alone` says that no other engine can be alive on this database, so that nothing has to be waited for.
        """
        now = self.clock.now()
        record = EngineRecord(
            id=self.id,
            host=self.settings.host,
            process=os.getpid(),
            version=__version__,
            started_at=now,
            seen_at=now,
            lease=self.settings.lease_seconds,
            stopped_at=None,
        )
        batch = Batch().add(record)
        if alone:
            batch.then(partial(queries.stop_other_engines, engine_id=self.id, now=now))
        await self.journal.commit(batch)
        await self.adopt_orphans()
        self._schedule_beat()

    async def stop(self) -> None:
        """Let steps in the middle of a call end, hand all operations over, and say goodbye."""
        self._stopped = True
        if self._beat is not None:
            self._beat.cancel()
        self._next.clear()
        for run in list(self.runs.values()):
            run.stop(Stop.SHUTDOWN)
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        farewell = partial(queries.say_goodbye, engine_id=self.id, now=self.clock.now())
        await self.journal.commit(Batch().then(farewell))

    def _schedule_beat(self) -> None:
        if not self._stopped:
            self._beat = self.clock.call_later(self.settings.heartbeat_seconds, lambda: self._spawn(self._heartbeat()))

    async def _heartbeat(self) -> None:
        try:
            beat = partial(queries.touch_engine, engine_id=self.id, now=self.clock.now())
            await self.journal.commit(Batch().then(beat))
            await self.adopt_orphans()
        except Exception:
            LOG.exception("the heartbeat failed; it will be tried again")
        self._schedule_beat()

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def adopt_orphans(self) -> None:
        """Claim unfinished operations that no living engine owns, and go on with them."""
        orphans = await self.database.read(queries.claimable, self.id, self.clock.now())
        for operation in orphans:
            if not await self._claim(operation):
                continue
            stack = await self.database.read(queries.stack_by_id, operation.stack_id)
            if stack is None or stack.operation != operation.id:
                await self._close(operation, SUPERSEDED, Stop.SUPERSEDED.value)
                continue
            if stack.status != IN_PROGRESS:
                await self._close(operation, FAILED, CANCELLED)
                continue
            LOG.info("going on with %s of stack %s (operation %s)", operation.action, stack.name, operation.id)
            self._launch(OperationRun(self, operation, stack))

    async def _claim(self, operation: Operation) -> bool:
        taken: list[bool] = []

        def take(connection: Any) -> None:
            taken.append(queries.take(connection, operation.id, operation.epoch, self.id, self.clock.now()))

        await self.journal.commit(Batch().then(take))
        if taken[-1]:
            operation.owner, operation.epoch, operation.status = self.id, operation.epoch + 1, RUNNING
        return taken[-1]

    # -- taking work on ----------------------------------------------------------------------------------------

    async def submit_new(
        self, stack: Stack, operation: Operation, prepared: Prepared, tags: tuple[str, ...] = ()
    ) -> None:
        """Record a new stack with its first operation, and begin. Raises IntegrityError when the name is taken."""
        stack.operation = operation.id
        self._own(operation)
        batch = Batch().then(prepared.save).add(prepared.row, stack, operation)
        batch.add(self._stack_event(stack, operation.action, IN_PROGRESS, f"Stack {operation.action} started"))
        if tags:
            batch.then(partial(queries.set_tags, stack_id=stack.id, tags=tags))
        await self.journal.commit(batch)
        self._launch(OperationRun(self, operation, stack))

    async def submit(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared | None = None,
        *,
        values: dict[str, Any] | None = None,
        tags: tuple[str, ...] | None = None,
        guard: Callable[[Stack], object] | None = None,
    ) -> None:
        """Record an operation on an existing stack and begin; one that is running there gives way first.

        `values` are further columns of the stack to set. `guard` sees the stack as it is when the operation is
        recorded; what it raises is raised here, and nothing has been recorded.
        """
        self._own(operation)
        operation.former_inputs = operation.former_inputs or stack.inputs
        changes: dict[str, Any] = {
            "action": operation.action,
            "status": IN_PROGRESS,
            "reason": f"Stack {operation.action} started",
            "operation": operation.id,
            **(values or {}),
        }
        if prepared is not None:
            changes["inputs"] = prepared.row.id
            changes["description"] = prepared.loaded.template.description or ""
        if operation.action in ("UPDATE", "RESTORE"):
            changes["updated_at"] = self.clock.now()
        batch = Batch().add(operation)
        if prepared is not None:
            batch.then(prepared.save).add(prepared.row)
        recorded = [stack]

        def take_over(connection: Connection) -> None:
            recorded[0] = queries.lock_stack(connection, stack.id) or stack
            if guard is not None:
                guard(recorded[0])
            queries.set_stack(connection, stack.id, changes)

        batch.then(take_over)
        if tags is not None:
            batch.then(partial(queries.set_tags, stack_id=stack.id, tags=tags))
        batch.add(self._stack_event(stack, operation.action, IN_PROGRESS, str(changes["reason"])))
        await self.journal.commit(batch)
        if operation.parent_operation is None:
            await self.outdate_holders(stack)
        self._launch(OperationRun(self, operation, replace(recorded[0], **changes)))

    async def outdate_holders(self, stack: Stack) -> None:
        """Have the next update of the stacks above look into a nested one that was changed behind their back."""
        if stack.parent_resource is None:
            return
        holders: list[str] = []

        def outdate(connection: Connection) -> None:
            holders[:] = queries.outdate_holders(connection, stack)

        await self.journal.commit(Batch().then(outdate))
        for run in self.runs.values():
            for state in (run.states[uuid] for uuid in holders if uuid in run.states):
                state.row.fingerprint = ""

    def _own(self, operation: Operation) -> None:
        operation.owner, operation.epoch, operation.status = self.id, 1, RUNNING
        operation.started_at = self.clock.now()

    def _launch(self, run: OperationRun) -> None:
        """Begin a run, as soon as the one that is running on the same stack has stopped."""
        running = self.runs.get(run.stack.id)
        if running is not None:
            if gives_way(running.operation.action, run.operation.action):
                running.stop(Stop.SUPERSEDED)
            overtaken = self._next.get(run.stack.id)
            self._next[run.stack.id] = run
            if overtaken is not None:
                self._spawn(self._close(overtaken.operation, SUPERSEDED, Stop.SUPERSEDED.value))
            return
        self.runs[run.stack.id] = run
        self._spawn(self._drive(run))

    async def _drive(self, run: OperationRun) -> None:
        await run.run()
        if self.runs.get(run.stack.id) is run:
            del self.runs[run.stack.id]
        following = self._next.pop(run.stack.id, None)
        if following is not None and not self._stopped:
            now: Stack | None = await self.database.read(queries.stack_by_id, following.stack.id)
            following.stack = now or following.stack
            self._launch(following)
        elif run.follow_up is not None and not self._stopped:
            self._launch(run.follow_up)

    # -- how operations end --------------------------------------------------------------------------------------

    async def end(self, run: OperationRun, status: str, reason: str) -> None:
        """Record how an operation ended; a failed one is rolled back where that was asked for."""
        operation, stack, now = run.operation, run.stack, self.clock.now()
        operation.status, operation.reason, operation.finished_at = status, reason, now
        values: dict[str, Any] = {"status": status, "reason": reason}
        events = [self._stack_event(stack, operation.action, status, reason)]
        batch = Batch(claim=Claim(operation.id, operation.epoch)).change(operation)
        if status == COMPLETE:
            values |= self._success(run, now)
            if operation.action in ROLLS_BACK:
                good = {"good_inputs": operation.inputs}
                batch.then(partial(queries.set_stack, stack_id=stack.id, values=good))
            if (exchanged := run.exchange()) is not None:
                batch.then(exchanged)
        rollback = self._rollback(stack, operation) if status == FAILED else None
        if rollback is not None:
            values |= {
                "action": "ROLLBACK",
                "status": IN_PROGRESS,
                "reason": reason,
                "operation": rollback.id,
            }
            events.append(self._stack_event(stack, "ROLLBACK", IN_PROGRESS, "Stack ROLLBACK started"))
        current = [False]

        def settle(connection: Connection) -> None:
            """What the stack is and does next is for a newer operation to say, where there is one."""
            current[0] = queries.set_stack_of(connection, operation.id, stack.id, values)
            if current[0]:
                queries.add_events(connection, events)
                if rollback is not None:
                    queries.add_operation(connection, rollback)

        batch.then(settle)
        if self.settings.max_events_per_stack > 0:
            keep, at_once = self.settings.max_events_per_stack, self.settings.event_purge_batch_size
            batch.then(partial(queries.purge_events, stack_id=stack.id, keep=keep, batch=at_once))
        await self.journal.commit(batch)
        self._tell_finished(operation)
        if rollback is not None and current[0]:
            run.follow_up = OperationRun(self, rollback, replace(stack, **values))

    def _success(self, run: OperationRun, now: float) -> dict[str, Any]:
        operation = run.operation
        if operation.action == "DELETE":
            return {"deleted_at": now, "live_name": None}
        if operation.action == "ROLLBACK" and operation.inputs != NOTHING and run.inputs is not None:
            return {"inputs": operation.inputs, "description": run.inputs.template.description or ""}
        return {}

    def _rollback(self, stack: Stack, operation: Operation) -> Operation | None:
        """The operation that takes a failed root stack back to what it was; nested ones are led by their parent."""
        if stack.disable_rollback or stack.parent_id is not None or operation.action not in ROLLS_BACK:
            return None
        now = self.clock.now()
        minutes = stack.timeout_minutes
        limit = minutes * 60.0 if minutes else float(self.settings.stack_action_timeout)
        rollback = replace(
            operation,
            id=new_id(),
            action="ROLLBACK",
            inputs=rollback_target(stack, operation),
            reason="",
            created_at=now,
            finished_at=None,
            deadline=now + limit,
            plan=None,
        )
        self._own(rollback)
        return rollback

    async def _close(self, operation: Operation, status: str, reason: str) -> None:
        operation.status, operation.reason, operation.finished_at = status, reason, self.clock.now()
        try:
            await self.journal.commit(Batch(claim=Claim(operation.id, operation.epoch)).change(operation))
        except Fenced:
            LOG.info("operation %s has another owner now", operation.id)
        self._tell_finished(operation)

    async def end_superseded(self, run: OperationRun) -> None:
        """Record that a newer operation goes on from where this one is."""
        await self._close(run.operation, SUPERSEDED, Stop.SUPERSEDED.value)

    async def end_cancelled(self, run: OperationRun) -> None:
        """Record that everything which was under way when the operation was cancelled has ended."""
        await self._close(run.operation, FAILED, CANCELLED)

    async def hand_over(self, run: OperationRun) -> None:
        """Leave an unfinished operation to whoever comes next."""
        run.operation.owner = None
        await run.commit(Batch().change(run.operation))

    async def release(self, stack: Stack) -> None:
        """Give up what a stack that is about to be gone held outside its resources."""
        if stack.parent_id is not None:
            return
        recorded = await self.database.read(queries.stack_by_id, stack.id)
        if recorded is not None and recorded.user_project_id is not None:
            await self.credentials.remove_user_project(stack, recorded.user_project_id)
        await self.credentials.release(stack)

    def _stack_event(self, stack: Stack, action: str, status: str, reason: str) -> Event:
        return Event(
            id=new_id(),
            stack_id=stack.id,
            resource_name=stack.name,
            resource_type="OS::Heat::Stack",
            physical_id=stack.id,
            action=action,
            status=status,
            reason=reason,
            properties=None,
            time=self.clock.now(),
        )

    # -- parents and children --------------------------------------------------------------------------------------

    async def refreshed(self, operation: Operation) -> Operation:
        """The operation as it stands now."""
        run = self.runs.get(operation.stack_id)
        if run is not None and run.operation.id == operation.id:
            return run.operation
        following = self._next.get(operation.stack_id)
        if following is not None and following.operation.id == operation.id:
            return following.operation
        return await self.database.read(queries.operation_by_id, operation.id) or operation

    def tell_when_finished(self, operation_id: str, wake: Callable[[], None]) -> None:
        """Call `wake` when an operation that runs here ends."""
        self._watchers.setdefault(operation_id, []).append(wake)

    def _tell_finished(self, operation: Operation) -> None:
        for wake in self._watchers.pop(operation.id, ()):
            wake()

    async def cancel(self, stack: Stack, guard: Callable[[Stack], object]) -> None:
        """Call what runs on a stack off: it has failed at once, nothing is begun any more, and nothing is rolled back.

        What is under way in it, and in stacks nested in it, goes on to its end. `guard` as for `submit`.
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

        batch = Batch().then(fail).add(self._stack_event(stack, stack.action, FAILED, CANCELLED))
        await self.journal.commit(batch)

    # -- definitions ---------------------------------------------------------------------------------------------

    def wanted(self, definition: Definition, inputs: LoadedInputs) -> Wanted:
        """A definition made ready for planning. Raises TemplateInvalid."""

        def lookup(type_name: str, resource_name: str) -> Any:
            return self.types.lookup(inputs.environment, inputs.files, type_name, resource_name)

        return Wanted.of(definition, inputs, lookup, self.sealer.digest)
