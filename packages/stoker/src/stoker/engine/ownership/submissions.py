"""Record new operations with the checks in the transaction, and start them; cancel those that run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.engine.calls.context import AwaitedOperations, RecordingComponents
from stoker.engine.calls.polling import ObjectPoller
from stoker.engine.credentials import lock_credentials, move
from stoker.engine.inspection.stack_reader import ReaderForRuns
from stoker.engine.notifications.announcer import Announcer
from stoker.engine.ownership.healing import replace_on_signal
from stoker.engine.ownership.offers import Offers
from stoker.engine.ownership.peers import OtherEngines
from stoker.engine.ownership.runs import Runs
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.loader import Prepared, save_documents
from stoker.engine.records.services import RecordingServices
from stoker.engine.records.state import ResourceState
from stoker.engine.running.completion import own
from stoker.engine.running.stop import CANCELLED
from stoker.store import claims, queries, trusts
from stoker.store.journal import Batch, ClaimedWriter, Statement, Writer
from stoker.store.locks import refuse_locked
from stoker.store.records import FAILED, IN_PROGRESS, UNFINISHED, Operation, Record, Stack, StackSnapshot


def start_columns(operation: Operation, prepared: Prepared | None, now: float) -> dict[str, Any]:
    """Return the columns of a stack with which an operation on it begins, with the ids of new inputs."""
    changes: dict[str, Any] = {
        "action": operation.stack_action,
        "status": IN_PROGRESS,
        "reason": f"Stack {operation.stack_action} started",
        "operation": operation.id,
    }
    if prepared is not None:
        changes["inputs"] = prepared.row.id
        changes["description"] = prepared.loaded.template.description
    if operation.action in ("UPDATE", "RESTORE"):
        changes["updated_at"] = now
    return changes


@dataclass(slots=True)
class OperationStart:
    """A journal step that records an operation, started by an engine at a time, and sets columns of its stack.

    An operation that `is_offered` is left for any engine (see `store.offered`). `changes` are those columns,
    `credential` becomes that of the stack's tree (None: unchanged). `guard` receives the current stack with its row
    locked, `fresh` the connection; if they raise an error, nothing is recorded. Nor is it if a user has locked the tree
    of stacks, unless the operation is a part of one that runs: StackLocked is raised.
    """

    stack: Stack
    operation: Operation
    engine_id: str
    now: float
    is_offered: bool
    changes: dict[str, Any]
    credential: str | None = None
    guard: Callable[[Stack], object] | None = None
    fresh: Callable[[Connection], object] | None = None
    busy: str | None = field(default=None, init=False)
    """The engine with a running operation on the stack, which this operation waits for."""

    def __call__(self, connection: Connection) -> None:
        stack = self.stack = queries.lock_stack(connection, self.stack.id) or self.stack
        if self.guard is not None:
            self.guard(stack)
        if self.operation.parent_operation is None and (stack.locked or stack.parent_id):
            refuse_locked(connection, stack)
        if self.fresh is not None:
            self.fresh(connection)
        self.busy = claims.begin(connection, self.operation, self.engine_id, self.now, is_offered=self.is_offered)
        if self.credential is not None and self.credential != stack.credential:
            move(connection, stack, self.credential)
            self.changes["credential"] = self.credential
        self._note_direct_change(connection)
        queries.set_stack(connection, stack.id, self.changes)

    def _note_direct_change(self, connection: Connection) -> None:
        """Record that a nested stack differs from its parent's definition, until the parent's update restores it."""
        if self.operation.parent_resource is None:
            queries.note_direct_change(connection, self.stack)
        elif self.operation.parent_operation is not None and self.operation.action in FORWARD:
            self.changes["changed_directly"] = False


_WITHOUT_NEWS = 1.0
"""Seconds between two looks at an operation that another engine may be running."""


def _set(event: asyncio.Event, _: Operation | None) -> None:
    event.set()


class Submissions:
    """Accepts operations for this engine. `components` are the parts with which the operations run, itself among
    them."""

    def __init__(
        self,
        services: RecordingServices,
        announcer: Announcer,
        awaited: AwaitedOperations,
        runs: Runs,
        others: OtherEngines,
        offers: Offers,
    ) -> None:
        self.services = services
        self._announcer = announcer
        self._runs = runs
        self._others = others
        self._offers = offers
        self.components = RecordingComponents(
            services=services,
            announcer=announcer,
            awaited=awaited,
            runs=runs,
            submissions=self,
            reader=ReaderForRuns(services),
            object_poller=ObjectPoller(services.clock),
            writer_for=partial(ClaimedWriter, services.journal),
        )

    async def submit_new(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared,
        *,
        steps: Sequence[Statement] = (),
        writer: Writer | None = None,
        policies: Mapping[str, str] | None = None,
    ) -> None:
        """Record a new stack with its first operation, and start it. Raises IntegrityError if the name is in use, and
        CredentialRemoved if its credential is about to be removed.

        `steps` are further statements of the same transaction, which follow the others. `writer` is that of the
        parent's run, for a nested stack: Fenced is raised if its claim has been lost. `policies` are those on the
        operation's plan, as `written_policies` returns them, if the request has read them.
        """
        stack.operation = operation.id
        if not self._is_offered(operation):
            self._own(operation)
        batch = Batch().jointly(save_documents, prepared).add(prepared.row, stack, operation)
        if stack.parent_id is None:
            batch.jointly(lock_credentials, stack.credential)
        else:
            batch.jointly(trusts.inherit, stack)
        batch.steps.extend(steps)
        batch.add(self._announcer.stack_event(stack, operation.action, IN_PROGRESS, stack.reason))
        with self._runs.taking_on(operation.id):
            await self._announcer.commit(
                writer or self.services.journal, batch, prepared.loaded.environment.event_sinks
            )
            if operation.owner == self.services.id:
                self._launch(operation, stack, policies)
            else:
                self._offers.left(operation.id)

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
        becomes the credential of its tree; CredentialRemoved is raised if that is about to be removed. `guard`
        receives the stack when the operation is recorded; if it raises an error, nothing is recorded, and it is raised
        here. `fresh` is a guard that reads more of the record. `steps` and `writer` as for `submit_new`. If another
        engine runs an operation on the stack, the new operation waits until that has ended.
        """
        batch = Batch().change(*rows)
        if prepared is not None:
            batch.jointly(save_documents, prepared).add(prepared.row)
        operation.former_inputs = operation.former_inputs or stack.inputs
        start = self.start_of(stack, operation, prepared, values, credential, guard, fresh)
        changes = start.changes
        batch.then(start)
        batch.steps.extend(steps)
        batch.add(*new, self._announcer.stack_event(stack, operation.stack_action, IN_PROGRESS, str(changes["reason"])))
        with self._runs.taking_on(operation.id):
            event_sinks = prepared.loaded.environment.event_sinks if prepared is not None else None
            sinks = await self._announcer.sinks_of(stack) if event_sinks is None else event_sinks
            await self._announcer.commit(writer or self.services.journal, batch, sinks)
            self._started(start)

    def start_of(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared | None = None,
        values: dict[str, Any] | None = None,
        credential: str | None = None,
        guard: Callable[[Stack], object] | None = None,
        fresh: Callable[[Connection], object] | None = None,
    ) -> OperationStart:
        """Return the statement that records an operation; the arguments are those of `submit`."""
        now = self.services.clock.now()
        changes = {**start_columns(operation, prepared, now), **(values or {})}
        is_offered = self._is_offered(operation)
        return OperationStart(stack, operation, self.services.id, now, is_offered, changes, credential, guard, fresh)

    async def commit_starts(self, batch: Batch, starts: Sequence[OperationStart]) -> None:
        """Commit a batch that has the statements of these starts, and run their operations. Raises as the journal."""
        with ExitStack() as taken:
            for start in starts:
                taken.enter_context(self._runs.taking_on(start.operation.id))
            await self.services.journal.commit(batch)
            self._announcer.send(batch.added)
            for start in starts:
                self._started(start)

    def _started(self, start: OperationStart) -> None:
        if start.busy is not None:
            self._others.peers.alert(start.busy)
        elif start.operation.owner is None:
            self._offers.left(start.operation.id)
        else:
            self._launch(start.operation, replace(start.stack, **start.changes))

    def _launch(self, operation: Operation, stack: Stack, policies: Mapping[str, str] | None = None) -> None:
        run = self._runs.run_of(self.components, operation, stack)
        run.planning.written = policies
        self._runs.launch(run)

    def _is_offered(self, operation: Operation) -> bool:
        """Return whether a new operation is recorded without an owner, for whichever engine is free."""
        return operation.parent_operation is not None and self._offers.is_offered(operation)

    def _own(self, operation: Operation) -> None:
        own(operation, self.services.id, self.services.clock.now())

    async def replace(self, stack: Stack, state: ResourceState, reason: str) -> str:
        """Begin an update that replaces a resource; return the result. Raises NoActionRequired."""
        return await replace_on_signal(self.components, stack, state, reason)

    async def remove_snapshot(self, snapshot: StackSnapshot, stack: Stack, operation: Operation) -> None:
        """Record the deletion of a snapshot and start it, in parallel with other operations on the stack."""
        snapshot.action, snapshot.status, snapshot.reason = "DELETE", IN_PROGRESS, "Snapshot DELETE started"
        self._own(operation)
        with self._runs.taking_on(operation.id):
            await self.services.journal.commit(Batch().change(snapshot).add(operation))
            self._launch(operation, stack)

    async def ended(self, operation: Operation) -> Operation:
        """Return the operation once it has finished, in whichever engine it runs."""
        while (operation := await self._runs.refreshed(operation)).status in UNFINISHED:
            finished = asyncio.Event()
            self.components.awaited.wait(operation.id, f"end of {operation.id}", partial(_set, finished))
            timer = self.services.clock.call_later(_WITHOUT_NEWS, finished.set)
            if (await self._runs.refreshed(operation)).status in UNFINISHED:
                await finished.wait()
            timer.cancel()
        return operation

    async def cancel(self, stack: Stack, guard: Callable[[Stack], object]) -> None:
        """Cancel the operation on a stack: it fails immediately, starts no more steps, and is not rolled back.

        Steps in progress, also in nested stacks, are finished. `guard` as for `submit`.
        """
        await self._fail_cancelled(stack, guard)
        level = [stack]
        while level:
            for item in level:
                for run in self._runs.of(item.id):
                    if run is not None:
                        run.cancel()
            children = await self.services.database.read(queries.child_stacks, [item.id for item in level])
            level = [child for child in children if child.status == IN_PROGRESS]
            for child in level:
                await self._fail_cancelled(child, lambda _: None)

    async def _fail_cancelled(self, stack: Stack, guard: Callable[[Stack], object]) -> None:
        def fail(connection: Connection) -> None:
            guard(queries.lock_stack(connection, stack.id) or stack)
            queries.set_stack(connection, stack.id, {"status": FAILED, "reason": CANCELLED})

        batch = Batch().then(fail).add(self._announcer.stack_event(stack, stack.action, FAILED, CANCELLED))
        await self._announcer.commit(self.services.journal, batch, await self._announcer.sinks_of(stack))
