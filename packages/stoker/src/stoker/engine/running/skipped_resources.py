"""Resources that an operation does not touch, because its request says so."""

from __future__ import annotations

from functools import partial

from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.engine.running.operation_context import OperationContext
from stoker.store import queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED


async def record_skipped(run: OperationContext) -> None:
    """Record the resources that the operation skips, before its first step; a run that continues finds them recorded.

    A skipped resource is `UPDATE_COMPLETE`, as in CloudFormation, and the next update compares it with the template,
    also in a nested stack: what a failed update may have changed remains noted. One whose deletion has failed remains
    to be deleted.
    """
    batch = Batch()
    skipped = [run.states[uuid] for uuid in sorted(run.planning.removal_options.skipped & run.states.keys())]
    for state in skipped:
        if state.row.status != FAILED:
            continue
        row = state.row
        reason = f"{Reason(ReasonCode.SKIPPED).sentence()}, although its {row.action.lower()} failed: {row.reason}"
        event = run.event(state, reason)
        if row.action != "DELETE":
            row.action, row.status, row.reason, row.failure, row.fingerprint = "UPDATE", COMPLETE, reason, None, ""
            row.updated_at, row.replaced_by, state.stored.marked = run.services.clock.now(), None, False
            event = run.event(state, reason)
            batch.change(state.seal())
        batch.add(event)
    if skipped and run.stack.parent_id is not None:
        batch.then(partial(queries.note_direct_change, stack=run.stack))
    await run.commit(batch)
