"""Heal stacks without a request of a user: find unhealthy resources, mark them, and begin an update that replaces them.

Only stacks whose tags ask for it are healed, never while an operation runs, and not those with a stack policy, which
lets only users decide, or a lock. Of several engines, the one with the lowest ID examines stacks; if two believe that
they are the one, only one update begins, since both are recorded on condition that the stack has not changed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from stoker.base.errors import ActionInProgress, BadValue, Fenced, StokerError, UserError
from stoker.base.ids import new_request_id
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.inspection.health import Unhealthy, unhealthy_in
from stoker.engine.ownership.healing_schedule import (
    EXAMINED_OPERATIONS,
    MOST_FAILURES,
    SHORTEST_INTERVAL,
    TAG,
    failures_of,
    interval_of,
    may_be_healed,
    next_attempt,
)
from stoker.engine.planning.decide import mark_unhealthy
from stoker.engine.records.beginnings import Requester, new_operation, time_limit
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import acting_on
from stoker.plugins.resource import NoActionRequired
from stoker.store import healing, queries, settings
from stoker.store.journal import Statement
from stoker.store.locks import refuse_locked
from stoker.store.records import HEALING, IN_PROGRESS, Operation, Record, Stack

LOG = logging.getLogger(__name__)

_NAMED = 5
"""Number of unhealthy resources that the reason of an update names."""


class Healer:
    """Examines the stacks that ask for healing, each at its interval, and begins to heal them."""

    def __init__(self, components: RecordingComponents) -> None:
        self._components = components
        self._due: dict[str, float] = {}
        self._given_up: set[str] = set()
        self._next_check = 0.0
        self._busy = False

    async def run_if_due(self) -> None:
        """Examine the stacks whose interval has passed; called at every heartbeat."""
        services = self._components.services
        now = services.clock.now()
        default = services.settings.healing_interval
        if default <= 0 or services.settings.maintenance or self._busy or now < self._next_check:
            return
        self._busy, self._next_check = True, now + SHORTEST_INTERVAL
        try:
            tagged_stacks = await services.database.read(healing.tagged, TAG)
            known = {stack.id for stack, _ in tagged_stacks}
            self._due = {stack_id: due for stack_id, due in self._due.items() if stack_id in known}
            for stack, tag in tagged_stacks:
                await self._check_stack(stack, tag, default)
        finally:
            self._busy = False

    async def _check_stack(self, stack: Stack, tag: str, default: float) -> None:
        services = self._components.services
        now = services.clock.now()
        try:
            interval = interval_of(tag, default)
        except BadValue:  # recorded before tags were checked, or by another program
            return
        if now < self._due.setdefault(stack.id, now + interval) or services.background.stopped:
            return
        self._due[stack.id] = now + interval
        try:
            await self._examine(stack, interval)
        except ActionInProgress:
            LOG.info("stack %s is not healed now: a user's operation has begun", stack.name)
        except StokerError as error:
            LOG.warning("cannot examine stack %s, will retry: %s", stack.name, error.message)
        except Exception:
            LOG.exception("cannot examine stack %s, will retry", stack.name)

    async def _examine(self, stack: Stack, interval: float) -> None:
        services = self._components.services
        operations = await services.database.read(queries.operations_of, stack.id, EXAMINED_OPERATIONS)
        if stack.locked is not None:
            return
        if next_attempt(operations, interval) is None and may_be_healed(stack, operations[0]):
            if stack.operation not in self._given_up:
                self._given_up.add(stack.operation or "")
                LOG.error("stack %s is not healed any more: %s attempts have failed", stack.name, MOST_FAILURES)
            return
        if await next_turn(self._components, stack, operations, interval) is None:
            return
        found = await unhealthy_in(services, stack)
        if found:
            await heal(self._components, stack, found, failures_of(operations) + 1)


async def replace_on_signal(components: RecordingComponents, stack: Stack, state: ResourceState, reason: str) -> str:
    """Begin an update that replaces a resource that a signal is about; return the result.

    Alarms repeat themselves and know nothing of operations: the same rules apply as to health checks, except that the
    stack needs no tag. Raises NoActionRequired if they do not allow it now, and StackLocked if a user has locked it.
    """
    services = components.services
    if services.settings.maintenance:
        raise NoActionRequired("the operator has switched repairs off (maintenance)")
    root = await services.database.read(queries.stack_by_id, stack.root_id)
    if root is None or root.status == IN_PROGRESS:
        raise NoActionRequired(f"an operation runs on stack {stack.name}")
    await services.database.read(refuse_locked, root)
    operations = await services.database.read(queries.operations_of, root.id, EXAMINED_OPERATIONS)
    if not may_be_healed(root, operations[0] if operations else None):
        raise NoActionRequired(f"stack {root.name} is suspended, or an operation of a user has failed")
    interval = float(max(services.settings.healing_interval, SHORTEST_INTERVAL))
    if await next_turn(components, root, operations, interval) is None:
        raise NoActionRequired(
            f"stack {root.name} has a stack policy, a running operation, or change control, or was healed recently"
        )
    name = state.row.name
    try:
        await heal(components, root, [Unhealthy(stack, name, state.row.uuid, reason)], failures_of(operations) + 1)
    except ActionInProgress as error:
        raise NoActionRequired(error.message) from error
    return f"replacement of {name} started"


async def next_turn(
    components: RecordingComponents, stack: Stack, operations: Sequence[Operation], interval: float
) -> int | None:
    """Return the number of the attempt that may begin to repair a stack now; None if none may.

    `operations` are those of the stack, newest first, at most `EXAMINED_OPERATIONS`.
    """
    services = components.services
    if stack.locked is not None or not may_be_healed(stack, operations[0] if operations else None):
        return None
    start = next_attempt(operations, interval)
    if start is None or services.clock.now() < start or await services.database.read(_excluded, stack):
        return None
    from stoker.engine.notifications.blocked import refuse_and_notify  # only for what begins by itself

    try:
        await refuse_and_notify(components.announcer, stack)
    except UserError as error:
        LOG.info("stack %s is not repaired now: %s", stack.name, error.message)
        return None
    return failures_of(operations) + 1


async def heal(components: RecordingComponents, root: Stack, found: list[Unhealthy], attempt: int) -> None:
    """Mark resources unhealthy, and begin an update of the root stack that replaces them.

    Raises ActionInProgress if an operation has begun on the tree since the stack was read.
    """
    for item in found:
        await _mark(components, item)
    names = ", ".join(item.name for item in found[:_NAMED]) + (" and others" if len(found) > _NAMED else "")
    await begin_repair(components, root, f"Healing of {names} started (attempt {attempt} of {MOST_FAILURES})")


async def begin_repair(
    components: RecordingComponents,
    root: Stack,
    reason: str,
    *,
    observe: bool = False,
    rows: Sequence[Record] = (),
    steps: Sequence[Statement] = (),
) -> None:
    """Begin an update of a root stack to the definition that it has; with `observe`, it compares with the cloud first.

    `rows` and `steps` are added to the same transaction.
    Raises ActionInProgress if an operation has begun on the tree since the stack was read.
    """
    LOG.info("stack %s: %s", root.name, reason)
    guard, fresh = partial(_check_unchanged, root), partial(_check_idle, root_id=root.root_id)
    operation, writer = _operation(components.services, root, observe), components.services.journal
    await components.submissions.submit(
        root, operation, values={"reason": reason}, guard=guard, fresh=fresh, new=rows, steps=steps, writer=writer
    )


async def _mark(components: RecordingComponents, item: Unhealthy) -> None:
    if item.reason is None:
        return
    acting = await acting_on(components, item.stack, components.services.journal)
    state = acting.states.get(item.uuid)
    if state is None or state.in_progress or acting.operation is not None:
        raise ActionInProgress(f"Stack {item.stack.name} has an operation in progress.")
    mark_unhealthy(state, item.reason)
    event = state.event(item.reason, components.services.clock.now())
    try:
        await acting.record(state, event, partial(queries.note_direct_change, stack=item.stack))
    except Fenced as error:
        raise ActionInProgress(f"Stack {item.stack.name} has an operation in progress.") from error


def _operation(services: EngineServices, stack: Stack, observe: bool) -> Operation:
    now = services.clock.now()
    deadline = now + time_limit(services.settings, stack.timeout_minutes)
    requester = Requester(None, None, new_request_id())
    operation = new_operation(stack.id, "UPDATE", stack.inputs, requester, now, deadline, observe=observe)
    operation.cause = HEALING
    return operation


def _excluded(connection: Connection, stack: Stack) -> bool:
    """Return whether a stack is not healed now: it has a stack policy, or an operation runs in a nested stack."""
    return bool(settings.of_stack(connection, stack.root_id).policy) or healing.tree_runs(connection, stack.root_id)


def _check_unchanged(before: Stack, now: Stack) -> None:
    """Raise ActionInProgress if another operation was recorded on a stack since it was read."""
    if now.operation != before.operation or now.status == IN_PROGRESS or now.deleted_at is not None:
        raise ActionInProgress(f"Stack {before.name} has changed since its health was checked.")


def _check_idle(connection: Connection, root_id: str) -> None:
    """Raise ActionInProgress if an operation runs on a stack of the tree."""
    if healing.tree_runs(connection, root_id):
        raise ActionInProgress("An operation runs in a nested stack.")
