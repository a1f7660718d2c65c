"""How operations end: outputs and exports, the effects on the stack and its documents, the rollback, who is notified.

Exports must not change while other stacks import them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import Fenced, StackValidationFailed, StokerError
from stoker.base.ids import new_id
from stoker.base.logging import operation_scope
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import AwaitedOperations, StackContext
from stoker.engine.notifications.announcer import Announcer
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.actions import DEFINES, FORWARD, NOTHING, REMOVES, ROLLS_BACK
from stoker.engine.records.beginnings import time_limit
from stoker.engine.records.failure import Failure
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.records.state import ResourceState, attribute_key, attribute_text
from stoker.engine.running.operation_context import OperationContext, acting_on
from stoker.engine.running.performer import Performer
from stoker.engine.running.stop import CANCELLED, Stop, Stopped
from stoker.engine.scheduling import all_of
from stoker.engine.settings import EngineSettings
from stoker.plugins import capabilities
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import has_unknown
from stoker.store import claims, deaths, exchange, interruptions, queries, snapshots, trusts
from stoker.store.journal import Batch, Claim, ClaimedWriter, Statement
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, REMOVE_SNAPSHOT, RUNNING, SUPERSEDED, Operation, Stack
from stoker.template.definition import Definition
from stoker.template.expressions import Scope

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
    if complete and operation.action == "ADOPT":
        yield partial(snapshots.drop_stack_document, stack_id=operation.stack_id)


def forgetting(batch: Batch, operation: Operation) -> None:
    """Add to the batch that ends a removal what is forgotten together with the stack's resources."""
    gone = operation.stack_id
    batch.jointly(exchange.forget, gone).jointly(snapshots.forget_snapshots_of, gone)
    if operation.action == "DELETE":  # an abandoned stack keeps its document
        batch.jointly(snapshots.drop_stack_documents, gone)


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
        context = await acting_on(run.components, parent, run.writer)
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
    announced = context.components.announcer.about_scaling(context.stack, call.report.announced)
    return Batch().change(state.seal()).add(*announced)


def own(operation: Operation, engine_id: str, now: float) -> None:
    """Make a new operation that of an engine, which is about to run it."""
    operation.owner, operation.epoch, operation.status = engine_id, 1, RUNNING
    operation.started_at = operation.claimed_at = now


class OperationCompletion:
    """Records the ends of operations. `handed_over` are the ids of those that were released for other engines.

    `tell_others` notifies other engines of the end of an operation (an ID) that is part of another one (its ID), and
    for which nothing waits here.
    """

    def __init__(
        self,
        services: RecordingServices,
        announcer: Announcer,
        awaited: AwaitedOperations,
        tell_others: Callable[[str, str], None],
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
        2. The operation's own row, snapshots, exports, and what is `lasting` of the stack are changed even if a newer
           operation decides about it; the stack's state, its events and the rollback only if none does. That is learned
           in the transaction, under the lock on the stack's row.
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
        lasting: dict[str, Any] = {}
        cause = failure.path_json() if failure is not None else None
        events = [self._announcer.stack_event(stack, operation.stack_action, status, reason, cause)]
        batch = await notify_parent_resource(run, status)
        batch.change(operation, *(state.seal() for state in run.progress.unsaved_outputs))
        batch.steps.extend(conclusion(operation, status, reason, run.progress.document))
        if operation.epoch > 1 and operation.reason_code is None:
            batch.then(partial(deaths.forget, operation_id=operation.id))
        if status == COMPLETE:
            values |= outcome(operation, run.inputs, now)
            if operation.action in DEFINES:
                lasting["good_inputs"] = operation.inputs
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
        gone = status == COMPLETE and operation.action in REMOVES and stack.parent_id is None
        rows = self._announcer.about(events, run.sinks)
        if run.sinks and gone:
            rows.append(self._announcer.last_notification(stack))
        effect = claims.StackEnd(operation.id, stack.id, values, lasting, events, rows, rollback)
        batch.jointly(claims.record_ends, effect)
        if status == COMPLETE and operation.action in REMOVES:
            forgetting(batch, operation)
        if gone and not run.sinks:
            batch.then(partial(trusts.release_unused, credential=stack.credential))
        settings = self._services.settings
        keep, at_once = settings.max_events_per_stack, settings.event_purge_batch_size
        if keep > 0 and settings.archive_directory is None and may_have_more(run, keep):  # otherwise archived before
            batch.jointly(queries.purge_events, queries.EventLimit(stack.id, keep, at_once))
        await run.writer.commit(batch)
        run.operation = operation
        self._announcer.send([*batch.added, *rows])
        self._notify_finished(operation, operation)
        log_end(operation, stack)
        if gone and not run.sinks:
            self._services.background.spawn(self._services.credentials.remove_given_up())
        if rollback is not None and effect.is_current:
            run.progress.follow_up = rollback, replace(stack, **values)

    async def close(
        self, operation: Operation, stack: Stack | None, status: str, reason: str, *steps: Statement
    ) -> None:
        """Record the end of an operation that has no effect on its stack's state; run `steps` in its transaction."""
        operation.status, operation.reason, operation.finished_at = status, reason, self._services.clock.now()
        operation.failure = Failure.of_operation(reason).to_json() if status == FAILED else None
        with lines_about(operation, stack):
            try:
                batch = Batch().change(operation)
                batch.steps.extend([*conclusion(operation, status, reason), *steps])
                await ClaimedWriter(self._services.journal, Claim(operation.id, operation.epoch)).commit(batch)
            except Fenced:
                LOG.info("operation %s was taken over by another engine", operation.id)
                self._notify_finished(operation, None)
            else:
                log_end(operation, stack)
                self._notify_finished(operation, operation)

    async def end_superseded(self, operation: Operation, stack: Stack) -> None:
        """Record that a newer operation continues from the current state."""
        await self.close(operation, stack, SUPERSEDED, Stop.SUPERSEDED.value)

    async def end_cancelled(self, operation: Operation, stack: Stack | None) -> None:
        """Record that all steps in progress at the time of the cancellation have ended.

        Those that have not, since the engine that ran them has died or has stopped, fail.
        """
        rows = await self._services.database.read(interruptions.resources_in_progress, operation.stack_id)
        if stack is None or stack.operation != operation.id or not rows:
            return await self.close(operation, stack, FAILED, CANCELLED)
        now, actions, events = self._services.clock.now(), [], []
        for row in rows:
            failed = Failure("Aborted", (row.name,), f"{row.action} aborted ({CANCELLED})")
            action = interruptions.InterruptedAction(row, failed.text(), failed.with_reason(failed.text()))
            actions.append(action)
            events.append(action.event(now, failed.path_json()))
        notifications = self._announcer.about(events, await self._announcer.sinks_of(stack))
        interruption = interruptions.Interruption(operation.id, stack.id, actions, events, notifications)
        step = partial(interruptions.fail, interruption=interruption, now=now)
        await self.close(operation, stack, FAILED, CANCELLED, step)
        self._announcer.send(notifications)

    async def hand_over(self, run: OperationContext) -> None:
        """Release an unfinished operation for another engine."""
        run.operation.owner, run.operation.claimed_at = None, self._services.clock.now()
        await run.commit(Batch().change(run.operation))
        self.handed_over.append(run.operation.id)
        LOG.info("handing over %s of stack %s", run.operation.action, run.stack.name)

    def _notify_finished(self, operation: Operation, recorded: Operation | None) -> None:
        """Wake the run that waits for the operation; if none does in this process, notify the engine that has it.

        `recorded` is the operation as its end was recorded, None if that was not done here.
        """
        if not self._awaited.ended(operation.id, recorded) and operation.parent_operation is not None:
            self._tell_others(operation.id, operation.parent_operation)


def lines_about(operation: Operation, stack: Stack | None) -> AbstractContextManager[None]:
    """Add the operation, and if recorded the request that started it, to all log lines inside the context."""
    requester = None
    if operation.request_id is not None:
        user, name = operation.user_id or "", operation.user_name or ""
        requester = RequestContext(operation.request_id, user, name, stack.project_id if stack is not None else "")
    return operation_scope(operation.id, requester)


def may_have_more(run: OperationContext, events: int) -> bool:
    """Return whether the stack may have more than these events. A new one has those of this run, of its beginning and
    of its end, and those of what users have sent meanwhile, which are counted when its next operation ends.
    """
    return not run.begins_stack or run.progress.events + 2 > events


def log_start(operation: Operation, stack: Stack, former_owner: str | None) -> None:
    """Log the start; `former_owner` is the engine that ran it before, unless that engine handed it over."""
    if operation.epoch == 1:
        LOG.info("starting %s of stack %s", operation.action, stack.name)
    elif former_owner is None:
        LOG.info("resuming %s of stack %s: another engine handed it over", operation.action, stack.name)
    else:
        LOG.info("resuming %s of stack %s: taken over from engine %s", operation.action, stack.name, former_owner)


def log_end(operation: Operation, stack: Stack | None) -> None:
    """Log the end with the recorded reason, in which hidden values are redacted, on one line."""
    name = stack.name if stack is not None else operation.stack_id
    seconds = (operation.finished_at or 0.0) - (operation.started_at or operation.created_at)
    reason = " ".join(operation.reason.split())
    LOG.info(
        "%s of stack %s has ended: %s after %.1f seconds: %s",
        operation.action, name, operation.status, seconds, reason,
    )  # fmt: skip


_MOST_NAMED = 10
"""How many stacks that use an export are named."""


def exported_values(definition: Definition, scope: Scope) -> dict[str, object]:
    """Return the values of a stack's exports by name; unknown if the scope does not know them."""
    return {name: definition.resolve(definition.outputs[key].value, scope) for name, key in definition.exports()}


def named_users(names: Sequence[str]) -> str:
    """Return the names of the stacks that use an export, at most some of them."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def refuse_changes(connection: Connection, services: EngineServices, stack: Stack, values: Mapping[str, Any]) -> None:
    """Raise StackValidationFailed if an export that another stack imports would change.

    `values` are the future values of the exports, by name; unknown values are skipped.
    """
    digest = services.sealer.digest
    changed = [
        name
        for name, recorded in exchange.exported_by(connection, stack.id).items()
        if name in values
        and not has_unknown(values[name])
        and digest(values[name]) != digest(services.sealer.open(recorded))
    ]
    used = exchange.importers(connection, stack.project_id, changed)
    if used:
        by = {name: named_users(used[name]) for name in sorted(used)}
        messages = (f"Export {name} cannot be updated as it is in use by {users}." for name, users in by.items())
        raise StackValidationFailed(" ".join(messages))


def reached_values(run: OperationContext, desired: DesiredState) -> dict[str, object]:
    """Return the values of the exports after the run's steps; None for missing ones."""
    values = exported_values(desired.definition, run.scope)
    return {name: None if has_unknown(value) else value for name, value in values.items()}


def exchanged(run: OperationContext) -> Callable[[Connection], None] | None:
    """Return the journal step that records the stack's exports and imports; None if they have not changed."""
    stack, desired = run.stack, run.planning.desired
    if run.operation.action not in FORWARD or desired is None:
        return None
    exported = {name: run.services.sealer.seal(value) for name, value in reached_values(run, desired).items()}
    imported = desired.definition.imports if desired.inputs.template.uses("Fn::ImportValue") else ()
    if run.operation.action == "CREATE" and not exported and not imported:
        return None
    return partial(
        exchange.record, project_id=stack.project_id, stack_id=stack.id, exported=exported, imported=imported
    )


async def refresh_outputs(run: OperationContext, performer: Performer) -> list[ResourceState]:
    """Read the attributes for outputs, now that all steps they can depend on have ended; return resources to record.

    For example, a server can receive an address from a later resource. If no step had an effect, only attributes
    without a recorded value are read. What cannot be read is not recorded: it is read again when somebody asks for it.
    """
    assert run.planning.plan is not None
    if run.planning.desired is None or run.progress.ends_early:
        return []
    acted = any(step.kind is not StepKind.KEEP for step in run.planning.plan.steps)
    unread: list[tuple[ResourceState, set[AttributeKey]]] = []
    for name, keys in run.planning.desired.keys_for_outputs().items():
        if (state := run.current.get(name)) is not None:
            recorded = {} if acted else state.stored.attributes
            if lacking := {key for key in keys if attribute_text(key) not in recorded}:
                unread.append((state, lacking))
    try:
        found = await all_of([performer.read_if_possible(state, keys) for state, keys in unread])
    except Stopped:
        return []
    for (state, keys), values in zip(unread, found, strict=True):
        former = {attribute_text(key) for key in keys}
        still_known = {text: value for text, value in state.stored.attributes.items() if text not in former}
        state.stored.attributes = still_known | {attribute_text(key): value for key, value in values.items()}
    return [state for state, _ in unread]


async def check_exports(run: OperationContext, performer: Performer) -> None:
    """Fail before anything is removed, if an export that another stack imports would change.

    Rollbacks are not checked: they restore the previous state as far as possible. Raises StackValidationFailed.
    """
    desired = run.planning.desired
    if desired is None or run.operation.action not in DEFINES:
        return
    names = [name for name, _ in desired.definition.exports()]
    if not names or not await run.services.database.read(exchange.importers, run.stack.project_id, names):
        return
    if read := await refresh_outputs(run, performer):
        await run.commit(Batch().change(*(state.seal() for state in read)))
    if run.progress.ends_early:
        return
    values = reached_values(run, desired)
    await run.services.database.read(refuse_changes, run.services, run.stack, values)
