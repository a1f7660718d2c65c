"""Hooks: breakpoints at which the environment makes a resource wait until they are cleared.

A `pre-` hook holds a resource before its action is recorded, so that its state is still the previous one. The state of
a hook is a key of the resource's data, so that it survives a crash; the signal `{unset_hook: <hook>}` clears the hook.
"""

from __future__ import annotations

from dataclasses import replace

from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext, hook_name
from stoker.engine.running.stop import Stop, Stopped
from stoker.store.journal import Batch
from stoker.store.records import Event

HOOKS = tuple(f"{moment}-{action}" for action in ("create", "update", "delete") for moment in ("pre", "post"))
SET, CLEARED = "True", "False"


async def pause(run: OperationContext, state: ResourceState, moment: str, action: str) -> None:
    """Wait at a hook that the environment sets (`has_hook`); resume the wait of an earlier run of the operation.

    Raises Failure after a timeout, Stopped if another operation takes over.
    """
    hook, data = hook_name(moment, action), state.stored.data
    before = data.get(hook) if run.operation.epoch > 1 else None
    if before is None:
        data[hook] = SET
        reason = f"{action} paused until Hook {hook} is cleared"
        await run.commit(Batch().change(state.seal()).add(about(hook, run.event(state, reason), held=True)))
    while data.get(hook) == SET:
        await _wait(run, state, action, hook)


async def _wait(run: OperationContext, state: ResourceState, action: str, hook: str) -> None:
    try:
        if not _cancelled(run):
            await run.pause(state.row.uuid, None)
    except Stopped:
        if run.progress.stopping is Stop.SUPERSEDED:
            await _release(run, state, hook, f"{action} given up while held by a hook")
        if not _cancelled(run):
            raise
    if _cancelled(run):
        failure = Failure("Aborted", (state.row.name,), f"{action} aborted while held by hook {hook}")
        state.row.action = action
        state.fail(failure, failure.text())
        await _release(run, state, hook, state.row.reason)
        raise failure


def _cancelled(run: OperationContext) -> bool:
    return run.progress.cancelled or run.progress.stopping is Stop.EXPIRED


async def _release(run: OperationContext, state: ResourceState, hook: str, reason: str) -> None:
    state.stored.data[hook] = CLEARED
    await run.commit(Batch().change(state.seal()).add(about(hook, run.event(state, reason), held=False)))


def about(hook: str, event: Event, *, held: bool) -> Event:
    """Return the event with the hook that it is about, and whether the hook holds the resource from then on."""
    return replace(event, hook=hook, hook_held=held)


def clear(state: ResourceState, hook: str) -> bool:
    """Clear a hook; return False if it does not hold the resource."""
    if state.stored.data.get(hook) != SET:
        return False
    state.stored.data[hook] = CLEARED
    return True
