"""Hooks: places where an environment asks a resource to wait until somebody clears them.

Facts: engine.yaml (hooks) and lifecycle.json (hooks). A hook that holds a resource is a key of its data, so that it is
still there after a crash; the signal `{unset_hook: <hook>}` takes it away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stoker.engine.failure import Failure
from stoker.engine.state import ResourceState
from stoker.engine.stopping import Stop, Stopped
from stoker.store.journal import Batch
from stoker.store.records import FAILED

if TYPE_CHECKING:
    from stoker.engine.run import OperationRun

HOOKS = tuple(f"{moment}-{action}" for action in ("create", "update", "delete") for moment in ("pre", "post"))
SET = "True"


async def hold(run: OperationRun, state: ResourceState, moment: str) -> None:
    """Wait where the environment asks for it; only for what the stack itself is doing, not for replacements.

    `moment` is `pre` or `post`. Raises Failure when time runs out, Stopped when another operation takes over.
    """
    hook = f"{moment}-{state.row.action.lower()}"
    if run.operation.action != state.row.action or hook not in run.hooks(state.row.name):
        return
    state.stored.data[hook] = SET
    reason = f"{state.row.action} paused until Hook {hook} is cleared"
    await run.commit(Batch().change(state.seal()).add(run.event(state, reason)))
    await _wait(run, state, hook)


async def go_on_holding(run: OperationRun, state: ResourceState) -> None:
    """Wait for the hooks that held the resource when its action was interrupted.

    Those of another operation hold no more: this one holds where its own environment asks for it.
    """
    if run.operation.epoch <= 1:
        if let_go(state):
            await hold(run, state, "pre")
        return
    for hook in HOOKS:
        if state.stored.data.get(hook) == SET:
            await _wait(run, state, hook)


async def _wait(run: OperationRun, state: ResourceState, hook: str) -> None:
    while state.stored.data.get(hook) == SET:
        if _called_off(run):
            raise await _given_up(run, state, hook)
        try:
            await run.pause(state.row.uuid, None)
        except Stopped:
            if not _called_off(run):
                raise


def _called_off(run: OperationRun) -> bool:
    return run.cancelled or run.stopping is Stop.EXPIRED


async def _given_up(run: OperationRun, state: ResourceState, hook: str) -> Failure:
    state.stored.data.pop(hook, None)
    state.row.status = FAILED
    failure = Failure("Aborted", (state.row.name,), f"{state.row.action} aborted while held by hook {hook}")
    state.row.reason = failure.text()
    await run.commit(Batch().change(state.seal()).add(run.event(state, state.row.reason)))
    return failure


def let_go(state: ResourceState) -> bool:
    """Take all hooks away; true when one of them held the resource before anything was done to its object."""
    held = [hook for hook in HOOKS if state.stored.data.pop(hook, None) == SET]
    return any(hook.startswith("pre-") for hook in held)


def clear(state: ResourceState, hook: str) -> bool:
    """Take a hook away; false when it does not hold the resource."""
    return bool(state.stored.data.pop(hook, None) == SET)
