"""Hooks: places where an environment asks a resource to wait until somebody clears them.

Facts: engine.yaml (hooks) and lifecycle.json (hooks). A `pre-` hook holds a resource before anything is recorded of its
action, so it is seen in the state that it has. What has become of a hook is a key of the resource's data, so that it is
still known after a crash; the signal `{unset_hook: <hook>}` clears it.
"""

from __future__ import annotations

from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.stopping import Stop, Stopped
from stoker.store.journal import Batch
from stoker.store.records import FAILED

HOOKS = tuple(f"{moment}-{action}" for action in ("create", "update", "delete") for moment in ("pre", "post"))
SET, CLEARED = "True", "False"


def holds(run: OperationContext, name: str, moment: str, action: str) -> bool:
    """Whether the environment asks for it; only for what the stack itself is doing, not for replacements.

    `moment` is `pre` or `post`, `action` what is done to the resource.
    """
    return run.operation.action == action and _hook(moment, action) in run.hooks(name)


def _hook(moment: str, action: str) -> str:
    return f"{moment}-{action.lower()}"


async def hold(run: OperationContext, state: ResourceState, moment: str, action: str) -> None:
    """Wait where the environment asks for it. Where an earlier run of the operation waited already, go on as it did.

    Raises Failure when time runs out, Stopped when another operation takes over.
    """
    if not holds(run, state.row.name, moment, action):
        return
    hook, data = _hook(moment, action), state.stored.data
    before = data.get(hook) if run.operation.epoch > 1 else None
    if before is None:
        data[hook] = SET
        reason = f"{action} paused until Hook {hook} is cleared"
        await run.commit(Batch().change(state.seal()).add(run.event(state, reason)))
    while data.get(hook) == SET:
        await _wait(run, state, action, hook)


async def _wait(run: OperationContext, state: ResourceState, action: str, hook: str) -> None:
    try:
        if not _called_off(run):
            await run.pause(state.row.uuid, None)
    except Stopped:
        if run.stopping is Stop.SUPERSEDED:
            await _let_go(run, state, hook, f"{action} given up while held by a hook")
        if not _called_off(run):
            raise
    if _called_off(run):
        failure = Failure("Aborted", (state.row.name,), f"{action} aborted while held by hook {hook}")
        state.row.action, state.row.status, state.row.reason = action, FAILED, failure.text()
        await _let_go(run, state, hook, state.row.reason)
        raise failure


def _called_off(run: OperationContext) -> bool:
    return run.cancelled or run.stopping is Stop.EXPIRED


async def _let_go(run: OperationContext, state: ResourceState, hook: str, reason: str) -> None:
    state.stored.data[hook] = CLEARED
    await run.commit(Batch().change(state.seal()).add(run.event(state, reason)))


def clear(state: ResourceState, hook: str) -> bool:
    """Clear a hook; false when it does not hold the resource."""
    if state.stored.data.get(hook) != SET:
        return False
    state.stored.data[hook] = CLEARED
    return True
