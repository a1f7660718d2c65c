"""Lock stacks, so that nothing changes them, and unlock them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Conflict, EntityNotFound
from stoker.contract.stacks import LockStack, UnlockStack
from stoker.contract.views import LockView
from stoker.engine.calls.context import RecordingComponents
from stoker.operations.lookup import find_stack
from stoker.operations.views import lock_view
from stoker.store import queries
from stoker.store.journal import Batch
from stoker.store.locks import Lock, lock_of
from stoker.store.records import COMPLETE, Stack

LONGEST_REASON = 1000
"""Characters."""


async def stack_lock(components: RecordingComponents, context: RequestContext, request: LockStack) -> LockView | None:
    """Lock a root stack; who has locked it can change the reason. An operation in progress continues.

    Raises Conflict if somebody else has locked it, and BadValue for a nested stack or an unusable reason.
    """
    reason = request.reason.strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise BadValue(f"The reason of a lock must have 1 to {LONGEST_REASON} characters.")
    stack = await _root(components, context, request)
    lock = Lock(reason, context.user_id, context.user_name, components.services.clock.now())

    def refuse(present: Lock | None) -> None:
        if present is not None and present.user_id != context.user_id:
            raise Conflict(present.refusal(stack).message)

    await _record(components, stack, lock, "LOCK", f"Locked by {lock.user}: {reason}", refuse)
    return lock_view(replace(stack, locked=lock.to_json()))


async def stack_unlock(components: RecordingComponents, context: RequestContext, request: UnlockStack) -> None:
    """Unlock a root stack. Raises Conflict if it is not locked, and BadValue for a nested stack."""
    stack = await _root(components, context, request)

    def refuse(present: Lock | None) -> None:
        if present is None:
            raise Conflict(f"Stack {stack.name} is not locked.")

    user = context.user_name or context.user_id or "an unknown user"
    await _record(components, stack, None, "UNLOCK", f"Unlocked by {user}", refuse)


async def _root(components: RecordingComponents, context: RequestContext, request: LockStack | UnlockStack) -> Stack:
    stack = await find_stack(components.services, context, request.ref)
    if stack.parent_id is not None:
        raise BadValue(f"A tree of stacks is locked as a whole; {stack.name} is a nested stack.")
    return stack


async def _record(
    components: RecordingComponents,
    stack: Stack,
    lock: Lock | None,
    action: str,
    text: str,
    refuse: Callable[[Lock | None], None],
) -> None:
    """Record a lock, or that there is none, with an event; `refuse` receives the present one in the transaction."""

    def record(connection: Connection) -> None:
        present = queries.lock_stack(connection, stack.id)
        if present is None or present.deleted_at is not None:
            raise EntityNotFound(f"The Stack ({stack.name}) could not be found.")
        refuse(lock_of(present))
        queries.set_stack(connection, stack.id, {"locked": None if lock is None else lock.to_json()})

    announcer = components.announcer
    batch = Batch().add(announcer.stack_event(stack, action, COMPLETE, text)).then(record)
    await announcer.commit(components.services.journal, batch, await announcer.sinks_of(stack))
