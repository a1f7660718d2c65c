"""Notify the parent resource when an operation that it started on its nested stack has finished.

Such an operation (for example of a scaling group) belongs to no action of the resource, so that no step waits for it.
The resource's data and recorded attributes are updated in the transaction of the operation's end.
"""

from __future__ import annotations

import logging
from contextlib import suppress

from stoker.base.errors import StokerError
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import StackContext
from stoker.engine.records.state import ResourceState, attribute_key, attribute_text
from stoker.engine.running.operation_context import OperationContext, acting_on
from stoker.store import queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, Operation

LOG = logging.getLogger(__name__)


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
        return Batch() if state is None else await _told(context, state, status == COMPLETE)
    except StokerError as error:
        LOG.warning("cannot notify the parent resource of stack %s of its %s: %s", stack.name, status, error.message)
        return Batch()


async def _told(context: StackContext, state: ResourceState, succeeded: bool) -> Batch:
    call = await make_call(context, state)
    await state.type.child_ended(call, succeeded)
    state.stored.metadata = call.metadata
    keys = {attribute_key(text) for text in state.stored.attributes}
    if keys:
        state.stored.attributes = {}
        with suppress(StokerError):  # they are read again when they are needed
            values = await state.type.read_attributes(await make_call(context, state), keys)
            state.stored.attributes = {attribute_text(key): value for key, value in values.items()}
    announced = context.parts.announcer.about_scaling(context.stack, call.announced)
    return Batch().change(state.seal()).add(*announced)
