"""Telling the resource that holds a nested stack how an operation ended which the resource itself had begun.

Such an operation belongs to no action of the resource (a group that scales), so no step waits for it. What the resource
remembers of it, and the attributes that others have read of it, are recorded together with the operation's end.
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


def begun_by_holder(operation: Operation) -> bool:
    """Whether a resource has begun the operation on its nested stack outside of any action of its own."""
    return operation.parent_operation is None and operation.parent_resource is not None


async def told_holder(run: OperationContext, status: str) -> Batch:
    """What is recorded of the resource that began the run's operation, once it knows how that ended."""
    engine, stack = run.engine, run.stack
    if not begun_by_holder(run.operation) or stack.parent_id is None:
        return Batch()
    parent = await engine.database.read(queries.stack_by_id, stack.parent_id)
    if parent is None or parent.deleted_at is not None:
        return Batch()
    try:
        context = await acting_on(engine, parent)
        state = context.states.get(stack.parent_resource or "")
        return Batch() if state is None else await _told(context, state, status == COMPLETE)
    except StokerError as error:
        LOG.warning("the holder of stack %s cannot be told of its %s: %s", stack.name, status, error.message)
        return Batch()


async def _told(context: StackContext, state: ResourceState, succeeded: bool) -> Batch:
    call = await make_call(context, state)
    await state.type.child_ended(call, succeeded)
    state.stored.metadata = call.metadata
    keys = {attribute_key(text) for text in state.stored.attributes}
    if keys:
        state.stored.attributes = {}
        with suppress(StokerError):  # whoever needs them later reads them then
            values = await state.type.read_attributes(await make_call(context, state), keys)
            state.stored.attributes = {attribute_text(key): value for key, value in values.items()}
    announced = context.engine.announcer.about_scaling(context.stack, call.announced)
    return Batch().change(state.seal()).add(*announced)
