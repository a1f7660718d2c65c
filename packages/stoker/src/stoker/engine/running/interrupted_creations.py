"""Search for the object of a creation that was interrupted, so that a resource has one object, and none is left.

Afterwards it is known whether there is an object, and it is recorded as the resource's.
"""

from __future__ import annotations

import logging
from functools import partial

from stoker.base.errors import CloudError
from stoker.engine.calls.building import Unrecorded, make_call, require_fitting
from stoker.engine.calls.object_search import found
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.operation_context import OperationContext
from stoker.plugins.resource import Call
from stoker.store.journal import Batch
from stoker.store.late_requests import expect
from stoker.store.ownership import Found, ObjectAlreadyOwned

LOG = logging.getLogger(__name__)

SEARCH_AGAIN = "look_again"
"""The key of a deletion's progress that says that the search for the object must be repeated once."""

LATE_SECONDS = 15.0
"""When that is done: the creation was interrupted, and its request may still be on its way."""

_IMPOSSIBLE = frozenset({400, 404, 405, 410, 501})
"""Statuses with which a service says that it does not support a request or its path for any caller."""


async def find_if_possible(run: OperationContext, state: ResourceState, call: Call) -> None:
    """Search for the object of an interrupted creation; a deletion continues without it if that is impossible.

    A service that refuses the search itself refuses it each time, so the resource could never be deleted.
    """
    try:
        await find(run, state, call)
    except CloudError as error:
        if state.row.action != "DELETE" or error.transient or error.status not in _IMPOSSIBLE:
            raise
        await mark_not_found(run, state, error)


async def mark_not_found(run: OperationContext, state: ResourceState, error: CloudError) -> None:
    """Record that the object of an interrupted creation cannot be searched for."""
    row = state.row
    state.stored.uncertain = False
    text = (
        f"it is unknown whether its creation, which was interrupted, made an object ({state.physical_name}): "
        f"the search was refused: {error.message}"
    )
    row.reason = await without_secrets(run, text, [state])
    LOG.warning("DELETE of %s in stack %s: %s", row.name, run.stack.name, row.reason)
    await run.commit(Batch().change(state.seal()).add(run.event(state, row.reason)))


async def find(run: OperationContext, state: ResourceState, call: Call) -> None:
    """Search for the object of an interrupted creation, and record its id.

    Two searches never result in the same one of two equal objects: those in one engine take turns, and if two
    engines find the same object, the later one repeats its search. The same applies to a creation whose response
    arrives after a search has found its object (see `Performer.perform`).
    """
    row, whole = state.row, state.type.part_of
    call.engine.unrecorded = unrecorded = Unrecorded(run, whole, run.components.runs.all)
    async with run.components.searches.turn(state.type, run.stack.project_id, call):
        while state.stored.uncertain:
            call.physical_id = row.physical_id = require_fitting(await found(state.type, call))
            state.stored.uncertain = False
            batch = Batch().change(state.seal())
            if row.physical_id is None and row.action == "CREATE" and has_own_name(state, call):
                now = run.services.clock.now()
                batch.then(partial(expect, resource_uuid=row.uuid, stack_id=row.stack_id, now=now))
                run.objects.late.add(row.uuid)
            if row.physical_id is not None and row.physical_id in unrecorded.asked_for:
                batch.found.append(Found(row.physical_id, row.uuid, whole))
            try:
                await run.commit(batch)
            except ObjectAlreadyOwned as taken:
                state.stored.uncertain = row.physical_id in unrecorded.asked_for
                call.physical_id = row.physical_id = None
                if not state.stored.uncertain and row.action != "DELETE":
                    raise not_owned(run, state, taken) from taken


async def was_created(run: OperationContext, state: ResourceState) -> bool:
    """Return whether a creation has created the object although the service reported a failure."""
    try:
        await find(run, state, await make_call(run, state))
    except CloudError as error:
        LOG.info("cannot search for the object of %s: %s", state.row.name, error.message)
    return state.row.physical_id is not None


def not_owned(run: OperationContext, state: ResourceState, taken: ObjectAlreadyOwned) -> Failure:
    """Return the failure of a resource whose object belongs to another one; it has none then."""
    state.row.physical_id = None
    return Failure("Conflict", (state.row.name,), taken.named_for(run.stack.project_id))


def has_own_name(state: ResourceState, call: Call) -> bool:
    """Return whether the object can be recognized by its name, which the service gives to no other one."""
    return state.type.recovery is not None and state.type.recovery.has_own_name(call.properties)
