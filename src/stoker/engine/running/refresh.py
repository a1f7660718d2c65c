"""Looking at the cloud before an update is planned: what is gone, and what somebody has changed.

What is found is laid over what is recorded, and the plan is made as ever: a difference is a change back to the
template, and an object that is gone is replaced (facts: engine.yaml, update.decision_order).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import StackContext
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED

LOG = logging.getLogger(__name__)


async def observe(run: OperationContext, states: Iterable[ResourceState]) -> None:
    """Look at every resource that is thought to be well, and record what is otherwise.

    One that cannot be looked at is taken to be as recorded. What is inside nested stacks is looked at by their own
    operations.
    """
    looked_at = [state for state in states if _worth_a_look(state)]
    answers = await asyncio.gather(*(_look(run, state) for state in looked_at))
    batch = Batch()
    for state, found in zip(looked_at, answers, strict=True):
        if found is None:
            state.row.action, state.row.status, state.stored.marked = "CHECK", FAILED, True
            state.row.reason = "the object is not there any more"
            batch.change(state.seal()).add(run.event(state, state.row.reason))
        elif found:
            state.row.fingerprint = ""
            batch.property_sets.append(state.give({**state.given, **found}))
            batch.change(state.seal())
        elif state.type.nested:
            state.row.fingerprint = ""
    if batch.changed:
        await run.commit(batch)


def _worth_a_look(state: ResourceState) -> bool:
    row = state.row
    return (
        row.status == COMPLETE
        and row.action != "DELETE"
        and row.replaced_by is None
        and row.physical_id is not None
        and state.stored.definition.get("external_id") is None
    )


async def _look(run: StackContext, state: ResourceState) -> Mapping[str, Any] | None:
    """Property values that the object has otherwise; None when it is gone."""
    try:
        return await state.type.observe(await make_call(run, state))
    except StokerError as error:
        if isinstance(error, CloudError) and error.not_found:
            return None
        LOG.info("%s cannot be looked at: %s", state.row.name, error.message)
        return {}
