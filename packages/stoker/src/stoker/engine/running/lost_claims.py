"""Objects that were being created when another engine took over the operation.

A request that was sent cannot be cancelled. The service may execute it after the new owner has searched for the object,
found none and created one; then there are two. Only the engine that sent the request can detect this, if it is alive:
it waits until the resource has its object, and deletes its own if that is a different one. If it has died, the object
is looked for several times (see `stoker.store.late_requests`), and when the resource is deleted. It is deleted then,
unless the resource has none, since its operation was cancelled: then it is recorded as the resource's.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import Unrecorded, make_call
from stoker.engine.calls.context import StackContext
from stoker.engine.calls.object_search import found
from stoker.engine.records import object_owners
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.engine.running.interrupted_creations import has_own_name
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.stop import LOST, never
from stoker.plugins.agents import USER_PROJECT
from stoker.plugins.outcome import InProgress
from stoker.plugins.resource import Call
from stoker.store import claims, queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS, Resource
from stoker_foundation.clock import sleep

LOG = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE_SECONDS = 2.0
MOST_PAUSES = 300
LONGEST_PAUSE = 30.0


async def remove_lost_object(run: OperationContext, state: ResourceState) -> None:
    """Delete the object that a lost run created for a resource, unless the new owner uses it.

    The project that it created for the users of the stack is recorded, so that it is deleted with the stack.
    """
    LOST.set(never)
    services, row = run.services, state.row
    try:
        if (project_id := state.stored.data.get(USER_PROJECT)) is not None:
            await _at_last(services, lambda: services.credentials.keep_user_project(run.stack, project_id))
        theirs = await _settled(services, row.uuid)
        if theirs is not None and (_unsettled(theirs) or theirs.physical_id == row.physical_id is not None):
            return
        call = await make_call(run, state)
        if not await _at_last(services, lambda: _has_unowned_object(run, state, call)):
            return
        LOG.warning(
            "deleting %s %s of stack %s: it was created after another engine had taken over and created its own",
            row.type, call.physical_id, run.stack.name,
        )  # fmt: skip
        await _at_last(services, lambda: delete_object(services, state, call))
    except StokerError as error:
        LOG.warning("an object created for %s of stack %s may remain: %s", row.name, run.stack.name, error.message)


async def remove_late_object(context: StackContext, known: ResourceState) -> None:
    """Delete an object that has the resource's own name, and that no resource has.

    A service has created it for the request of an engine that died. Raises StokerError.
    """
    row = known.row
    bare = Resource(
        uuid=row.uuid, stack_id=row.stack_id, position=row.position, name=row.name, type=row.type, action="DELETE",
        status=COMPLETE, reason="", physical_id=None, created_at=row.created_at, started_at=row.started_at,
    )  # fmt: skip
    # Without the resource's data, which is about its own object, not about the late one.
    state = ResourceState(bare, known.type, context.stack.name, context.services.sealer, context.services.memory.values)
    state.set_properties(known.properties)
    call = await make_call(context, state)
    if not (has_own_name(state, call) and await _has_unowned_object(context, state, call)):
        return
    LOG.warning(
        "deleting %s %s of stack %s: the service has executed the request of an engine that died, after another engine "
        "had created the object", row.type, call.physical_id, context.stack.name,
    )  # fmt: skip
    await delete_object(context.services, state, call)


async def record_late_object(context: StackContext, state: ResourceState) -> None:
    """Record the object with the resource's own name as that of the resource, whose creation was interrupted.

    Its state stays as it is: the next operation decides about it. Raises StokerError, such as Fenced when an operation
    has started.
    """
    as_read = state.sealed_state.read() if state.sealed_state is not None else None
    call = await make_call(context, state)
    if not (has_own_name(state, call) and await _has_unowned_object(context, state, call)):
        return
    state.row.physical_id = call.physical_id
    row = state.seal()
    alike = [other for other in context.states.values() if other.row.name == row.name]
    batch = Batch()
    for grant in object_owners.claim(batch, [(row, state)], lambda name: alike, context.stack):
        if grant.state is state:
            row.ownership = grant.ownership
    batch.then(partial(claims.change_from_outside, row=row, as_read=as_read))
    await context.writer.commit(batch)
    LOG.info("%s of stack %s has an object after all: %s", row.name, context.stack.name, row.physical_id)


async def _has_unowned_object(context: StackContext, state: ResourceState, call: Call) -> bool:
    """Search for the call's object unless it has one; return whether there is one and no resource has or gets it."""
    alike = call.physical_id is None and not has_own_name(state, call)
    if call.physical_id is None:
        call.engine.unrecorded = Unrecorded(context, state.type.part_of, context.components.runs.all)
        async with context.components.searches.turn(state.type, context.stack.project_id, call):
            call.physical_id = await found(state.type, call)
    if call.physical_id is None:
        return False
    return await (stays_alone if alike else _is_alone)(context.services, state, call.physical_id)


async def _is_alone(services: EngineServices, state: ResourceState, physical_id: str) -> bool:
    return not await services.database.read(queries.recorded_ids, [physical_id], state.type.part_of)


async def stays_alone(services: EngineServices, state: ResourceState, physical_id: str) -> bool:
    """Return whether no resource has an object that others of the type could have made; wait until all have theirs.

    An object that is found by its properties can be that of another resource, whose engine has not recorded it yet.
    """
    row = state.row
    for _ in range(MOST_PAUSES):
        awaited = await services.database.read(queries.awaits_object, row.type, row.uuid)
        if not await _is_alone(services, state, physical_id):
            return False
        if not awaited:
            return True
        if services.background.stopped:
            break
        await sleep(services.clock, PAUSE_SECONDS)
    LOG.warning("%s %s may belong to nobody: other resources still wait for theirs", row.type, physical_id)
    return False


async def _settled(services: EngineServices, uuid: str) -> Resource | None:
    """Return the resource when its new owner has recorded its object or has failed; None if it was deleted."""
    for _ in range(MOST_PAUSES):
        row = await services.database.read(queries.resource_by_uuid, uuid)
        if row is None or not _unsettled(row) or services.background.stopped:
            break
        await sleep(services.clock, PAUSE_SECONDS)
    return row


def _unsettled(row: Resource) -> bool:
    return row.physical_id is None and row.status == IN_PROGRESS


async def delete_object(services: EngineServices, state: ResourceState, call: Call) -> None:
    """Delete an object that no resource has; `state` is the resource that it was created for."""
    for _ in range(MOST_PAUSES):
        try:
            outcome = await state.type.delete(call)
        except CloudError as error:
            if not (error.transient or error.conflict):
                raise
            outcome = InProgress(after=PAUSE_SECONDS)
        if not isinstance(outcome, InProgress) or services.background.stopped:
            return
        await sleep(services.clock, PAUSE_SECONDS if outcome.after is None else outcome.after)


async def _at_last(services: EngineServices, action: Callable[[], Awaitable[T]]) -> T:
    """Return what an action returns; repeat it for two hours if it fails, since nobody else knows the object.

    Raises the last CloudError.
    """
    pause = PAUSE_SECONDS
    for _ in range(MOST_PAUSES):
        try:
            return await action()
        except CloudError:
            if services.background.stopped:
                raise
        await sleep(services.clock, pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    return await action()
