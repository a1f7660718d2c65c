"""How operations end: the effects on the stack, its snapshots and documents, the rollback, and who is notified."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import Fenced, StokerError
from stoker.base.ids import new_id
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import AwaitedOperations, StackContext
from stoker.engine.notifications.announcer import Announcer
from stoker.engine.records.actions import DEFINES, NOTHING, REMOVES, ROLLS_BACK
from stoker.engine.records.failure import Failure
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import RecordingServices
from stoker.engine.records.state import ResourceState, attribute_key, attribute_text
from stoker.engine.running.operation_context import OperationContext, acting_on
from stoker.engine.running.operation_log import lines_about, log_end
from stoker.engine.running.outputs import exchanged
from stoker.engine.running.stopping import CANCELLED, Stop
from stoker.engine.settings import EngineSettings, time_limit
from stoker.plugins import capabilities
from stoker.store import announcements, deaths, queries, snapshots, trusts
from stoker.store.journal import Batch, Claim, ClaimedWriter
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, REMOVE_SNAPSHOT, RUNNING, SUPERSEDED, Operation, Stack

LOG = logging.getLogger(__name__)


def rollback_target(stack: Stack, operation: Operation) -> str:
    """Return the inputs to which an operation on a stack is rolled back.

    They are those of the last complete operation; if there is none, those before an update, and none before a creation.
    """
    if operation.action == "ROLLBACK":
        return operation.inputs
    before = operation.former_inputs if operation.action in ("UPDATE", "RESTORE") else None
    return stack.good_inputs or before or NOTHING


def rollback_of(stack: Stack, operation: Operation, settings: EngineSettings, now: float) -> Operation | None:
    """Return the operation that rolls a failed root stack back; nested stacks are rolled back by their parent.

    An operation that was set aside is not rolled back automatically: the rollback could crash engines, too.
    """
    if (
        operation.reason_code is not None
        or stack.disable_rollback
        or stack.parent_id is not None
        or operation.action not in ROLLS_BACK
    ):
        return None
    return replace(
        operation,
        id=new_id(),
        action="ROLLBACK",
        inputs=rollback_target(stack, operation),
        reason="",
        created_at=now,
        finished_at=None,
        deadline=now + time_limit(settings, stack.timeout_minutes),
        claimed_at=None,
        plan=None,
        failure=None,
        snapshot=None,
        retention=None,
    )


def outcome(operation: Operation, inputs: LoadedInputs | None, now: float) -> dict[str, object]:
    """Return the columns of a stack that an operation's success changes; `inputs` are those of the operation."""
    if operation.action in REMOVES:
        return {"deleted_at": now, "live_name": None}
    if operation.action == "ROLLBACK" and operation.inputs != NOTHING and inputs is not None:
        return {"inputs": operation.inputs, "description": inputs.template.description}
    return {}


def conclusion(
    operation: Operation, status: str, reason: str, document: str | None = None
) -> Iterator[Callable[[Connection], None]]:
    """Yield the journal steps for an operation's end; `document` is the sealed document of a complete snapshot."""
    complete = status == COMPLETE
    outcome = COMPLETE if complete else FAILED
    if operation.snapshot is not None and operation.action == "SNAPSHOT" and operation.parent_operation is None:
        yield partial(
            snapshots.end_snapshot, identifier=operation.snapshot, status=outcome, reason=reason, body=document
        )
    elif operation.snapshot is not None and operation.action == REMOVE_SNAPSHOT:
        if complete:
            yield partial(snapshots.forget_snapshot, identifier=operation.snapshot)
        else:
            yield partial(snapshots.end_snapshot, identifier=operation.snapshot, status=outcome, reason=reason)
    elif complete and operation.action in REMOVES:
        yield partial(snapshots.forget_snapshots_of, stack_id=operation.stack_id)
    if complete and operation.action in ("ADOPT", "DELETE"):
        yield partial(snapshots.drop_stack_document, stack_id=operation.stack_id)


def is_started_by_parent_resource(operation: Operation) -> bool:
    """Return whether a resource started the operation on its nested stack outside of its own actions."""
    return operation.parent_operation is None and operation.parent_resource is not None


async def notify_parent_resource(run: OperationContext, status: str) -> Batch:
    """Return the changes of the resource that started the run's operation, after it was notified of the result."""
    stack = run.stack
    if not is_started_by_parent_resource(run.operation) or stack.parent_id is None:
        return Batch()
    parent = await run.services.database.read(queries.stack_by_id, stack.parent_id)
    if parent is None or parent.deleted_at is not None:
        return Batch()
    try:
        context = await acting_on(run.parts, parent, run.writer)
        state = context.states.get(stack.parent_resource or "")
        return Batch() if state is None else await _parent_notified(context, state, status == COMPLETE)
    except StokerError as error:
        LOG.warning("cannot notify the parent resource of stack %s of its %s: %s", stack.name, status, error.message)
        return Batch()


async def _parent_notified(context: StackContext, state: ResourceState, succeeded: bool) -> Batch:
    call = await make_call(context, state)
    await capabilities.child_ended(state.type, call, succeeded)
    state.stored.metadata = call.metadata
    keys = {attribute_key(text) for text in state.stored.attributes}
    if keys:
        state.stored.attributes = {}
        with suppress(StokerError):  # they are read again when they are needed
            values = await state.type.read_attributes(await make_call(context, state), keys)
            state.stored.attributes = {attribute_text(key): value for key, value in values.items()}
    announced = context.parts.announcer.about_scaling(context.stack, call.announced)
    return Batch().change(state.seal()).add(*announced)


def own(operation: Operation, engine_id: str, now: float) -> None:
    """Make a new operation that of an engine, which is about to run it."""
    operation.owner, operation.epoch, operation.status = engine_id, 1, RUNNING
    operation.started_at = operation.claimed_at = now


class Endings:
    """Records the ends of operations. `handed_over` are the ids of those that were released for other engines.

    `tell_others` notifies other engines of an end.
    """

    def __init__(
        self,
        services: RecordingServices,
        announcer: Announcer,
        awaited: AwaitedOperations,
        tell_others: Callable[[Operation], None],
    ) -> None:
        self._services = services
        self._announcer = announcer
        self._awaited = awaited
        self._tell_others = tell_others
        self.handed_over: list[str] = []

    async def end(self, run: OperationContext, status: str, reason: str) -> None:
        """Record the end of an operation; roll a failed one back if that was requested.

        The order has these reasons:

        1. The parent's resource is notified before the commit, so that what it has learned is recorded in the same
           transaction as the end: an engine that dies in between notifies it again.
        2. The operation's own row, snapshots and exports are changed even if a newer operation decides about the stack;
           the stack's state, its events and the rollback only if none does. `settle` learns that in the transaction,
           under the lock on the stack's row, so it comes after what does not depend on it.
        3. The credential is given up last, when the state says that the stack is deleted: until then it is used. If
           event sinks are to be notified, their last notification gives it up, since it is needed to send it.
        4. The run gets the ended operation, waiters are woken, and other engines are notified only after the commit:
           whoever reacts to the end must find it recorded. Likewise the rollback is started only if it is recorded.
        """
        stack, now = run.stack, self._services.clock.now()
        failure = (run.progress.failure or Failure.of_operation(reason)) if status == FAILED else None
        operation = replace(  # others see the end only after its commit
            run.operation,
            status=status,
            reason=reason,
            finished_at=now,
            reason_code=run.nested.reason_code if status == FAILED else None,
            failure=failure.to_json() if failure is not None else None,
        )
        values: dict[str, Any] = {"status": status, "reason": reason}
        cause = failure.path_json() if failure is not None else None
        events = [self._announcer.stack_event(stack, operation.stack_action, status, reason, cause)]
        batch = await notify_parent_resource(run, status)
        batch.change(operation)
        batch.steps.extend(conclusion(operation, status, reason, run.progress.document))
        if operation.epoch > 1 and operation.reason_code is None:
            batch.then(partial(deaths.forget, operation_id=operation.id))
        if status == COMPLETE:
            values |= outcome(operation, run.inputs, now)
            if operation.action in DEFINES:
                batch.then(partial(queries.set_stack, stack_id=stack.id, values={"good_inputs": operation.inputs}))
            if (step := exchanged(run)) is not None:
                batch.then(step)
        rollback = (
            rollback_of(stack, operation, self._services.settings, now)
            if status == FAILED and not run.progress.refused
            else None
        )
        if rollback is not None:
            own(rollback, self._services.id, now)
            values |= {"action": "ROLLBACK", "status": IN_PROGRESS, "reason": reason, "operation": rollback.id}
            events.append(self._announcer.stack_event(stack, "ROLLBACK", IN_PROGRESS, "Stack ROLLBACK started"))
        current = [False]
        gone = status == COMPLETE and operation.action in REMOVES and stack.parent_id is None
        rows = self._announcer.about(events, run.sinks)
        if run.sinks and gone:
            rows.append(self._announcer.last_notification(stack))

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
        settings = self._services.settings
        if settings.max_events_per_stack > 0 and settings.archive_directory is None:  # otherwise archived before
            keep, at_once = settings.max_events_per_stack, settings.event_purge_batch_size
            batch.then(partial(queries.purge_events, stack_id=stack.id, keep=keep, batch=at_once))
        await run.writer.commit(batch)
        run.operation = operation
        self._announcer.send([*batch.added, *rows])
        self._notify_finished(operation)
        log_end(operation, stack)
        if gone and not run.sinks:
            self._services.background.spawn(self._services.credentials.remove_given_up())
        if rollback is not None and current[0]:
            run.progress.follow_up = rollback, replace(stack, **values)

    async def close(self, operation: Operation, stack: Stack | None, status: str, reason: str) -> None:
        """Record the end of an operation that has no effect on its stack's state."""
        operation.status, operation.reason, operation.finished_at = status, reason, self._services.clock.now()
        operation.failure = Failure.of_operation(reason).to_json() if status == FAILED else None
        with lines_about(operation, stack):
            try:
                batch = Batch().change(operation)
                batch.steps.extend(conclusion(operation, status, reason))
                await ClaimedWriter(self._services.journal, Claim(operation.id, operation.epoch)).commit(batch)
            except Fenced:
                LOG.info("operation %s was taken over by another engine", operation.id)
            else:
                log_end(operation, stack)
        self._notify_finished(operation)

    async def end_superseded(self, operation: Operation, stack: Stack) -> None:
        """Record that a newer operation continues from the current state."""
        await self.close(operation, stack, SUPERSEDED, Stop.SUPERSEDED.value)

    async def end_cancelled(self, operation: Operation, stack: Stack | None) -> None:
        """Record that all steps in progress at the time of the cancellation have ended."""
        await self.close(operation, stack, FAILED, CANCELLED)

    async def hand_over(self, run: OperationContext) -> None:
        """Release an unfinished operation for another engine."""
        run.operation.owner, run.operation.claimed_at = None, self._services.clock.now()
        await run.commit(Batch().change(run.operation))
        self.handed_over.append(run.operation.id)
        LOG.info("handing over %s of stack %s", run.operation.action, run.stack.name)

    def _notify_finished(self, operation: Operation) -> None:
        self._awaited.ended(operation.id)
        self._tell_others(operation)
