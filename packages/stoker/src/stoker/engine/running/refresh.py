"""Compare the cloud with the record before an update is planned: deleted objects, and changed ones.

The record is updated with the result, and the plan is made as usual: a difference becomes a change back to the
template, and a deleted object is replaced. docs/explanation/plans.md lists the rules.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import StackContext
from stoker.engine.calls.examining import is_usable, obstacle
from stoker.engine.planning.decide import can_have_obstacle, is_examined
from stoker.engine.records.observations import Found, is_observable, take_over
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext
from stoker.store.journal import Batch

LOG = logging.getLogger(__name__)


async def observe(run: OperationContext, states: Iterable[ResourceState]) -> None:
    """Read the object of every healthy resource, and record differences.

    Resources that cannot be read are assumed to be as recorded. Nested stacks are compared by their own operations.
    """
    looked_at = [state for state in states if is_observable(state)]
    answers = await asyncio.gather(*(_look(run, state) for state in looked_at))
    batch = Batch()
    for state, found in zip(looked_at, answers, strict=True):
        property_set = take_over(state, found)
        if found is None:
            batch.change(state.seal()).add(run.event(state, state.row.reason))
        elif property_set is not None:
            batch.property_sets.append(property_set)
            batch.change(state.seal())
    if batch.changed:
        await run.commit(batch)


async def examine(run: OperationContext, states: Iterable[ResourceState]) -> None:
    """Examine the objects of resources whose last action failed, so that the plan replaces those only that need it.

    It is repeated right before a resource is changed. The objects to which a snapshot is restored are asked whether
    that is possible.
    """
    failed = [state for state in states if is_examined(state.row)]
    answers = await asyncio.gather(*(is_usable(state, make_call(run, state)) for state in failed))
    for state, usable in zip(failed, answers, strict=True):
        state.usable = usable
    restored = [state for state in states if state.row.name in run.planning.copies and can_have_obstacle(state)]
    obstacles = await asyncio.gather(*(obstacle(state, make_call(run, state)) for state in restored))
    for state, found in zip(restored, obstacles, strict=True):
        state.obstacle = found


async def _look(run: StackContext, state: ResourceState) -> Found:
    """Return the property values of the object that differ; None if it does not exist."""
    try:
        return await state.type.observe(await make_call(run, state))
    except StokerError as error:
        if isinstance(error, CloudError) and error.not_found:
            return None
        LOG.info("cannot read the object of %s: %s", state.row.name, error.message)
        return {}
