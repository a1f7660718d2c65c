"""The outputs and exports of a run's stack, after its steps."""

from __future__ import annotations

import asyncio

from stoker.engine.planning.kinds import Kind
from stoker.engine.records.actions import DEFINES
from stoker.engine.records.state import ResourceState, attribute_text
from stoker.engine.running.exports import reached_values, refuse_changes
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.performer import Performer
from stoker.engine.running.stopping import Stopped
from stoker.plugins.resource import AttributeKey
from stoker.store import exchange
from stoker.store.journal import Batch


async def refresh_outputs(run: OperationContext, performer: Performer) -> None:
    """Record the attributes for outputs, now that all steps they can depend on have ended.

    For example, a server can receive an address from a later resource. If no step had an effect, only attributes
    without a recorded value are read. What cannot be read is not recorded: it is read again when somebody asks for it.
    """
    assert run.planning.plan is not None
    if run.planning.wanted is None or run.progress.ends_early:
        return
    acted = any(step.kind is not Kind.KEEP for step in run.planning.plan.steps)
    wanted: list[tuple[ResourceState, set[AttributeKey]]] = []
    for name, keys in run.planning.wanted.keys_for_outputs().items():
        if (state := run.current.get(name)) is not None:
            recorded = {} if acted else state.stored.attributes
            if unread := {key for key in keys if attribute_text(key) not in recorded}:
                wanted.append((state, unread))
    try:
        found = await asyncio.gather(*(performer.read_if_possible(state, keys) for state, keys in wanted))
    except Stopped:
        return
    for (state, keys), values in zip(wanted, found, strict=True):
        former = {attribute_text(key) for key in keys}
        kept = {text: value for text, value in state.stored.attributes.items() if text not in former}
        state.stored.attributes = kept | {attribute_text(key): value for key, value in values.items()}
    if wanted:
        await run.commit(Batch().change(*(state.seal() for state, _ in wanted)))


async def check_exports(run: OperationContext, performer: Performer) -> None:
    """Fail before anything is removed, if an export that another stack imports would change.

    Rollbacks are not checked: they restore the previous state as far as possible. Raises StackValidationFailed.
    """
    wanted = run.planning.wanted
    if wanted is None or run.operation.action not in DEFINES:
        return
    names = [name for name, _ in wanted.definition.exports()]
    if not names or not await run.services.database.read(exchange.importers, run.stack.project_id, names):
        return
    await refresh_outputs(run, performer)
    if run.progress.ends_early:
        return
    values = reached_values(run, wanted)
    await run.services.database.read(refuse_changes, run.services, run.stack, values)
