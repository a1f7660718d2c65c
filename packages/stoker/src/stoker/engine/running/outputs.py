"""The outputs of a run's stack, after its steps, and its exports, which must not change while others import them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import StackValidationFailed
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.planner import Wanted
from stoker.engine.records.actions import DEFINES, FORWARD, REMOVES
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState, attribute_text
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.performer import Performer
from stoker.engine.running.stopping import Stopped
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import has_unknown
from stoker.store import exchange
from stoker.store.journal import Batch
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.expressions import Scope

_MOST_NAMED = 10
"""How many stacks that use an export are named."""


def exported_values(definition: Definition, scope: Scope) -> dict[str, object]:
    """Return the values of a stack's exports by name; unknown if the scope does not know them."""
    return {name: definition.resolve(definition.outputs[key].value, scope) for name, key in definition.exports()}


def named_users(names: Sequence[str]) -> str:
    """Return the names of the stacks that use an export, at most some of them."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def refuse_changes(connection: Connection, services: EngineServices, stack: Stack, values: Mapping[str, Any]) -> None:
    """Raise StackValidationFailed if an export that another stack imports would change.

    `values` are the future values of the exports, by name; unknown values are skipped.
    """
    digest = services.sealer.digest
    changed = [
        name
        for name, recorded in exchange.exported_by(connection, stack.id).items()
        if name in values
        and not has_unknown(values[name])
        and digest(values[name]) != digest(services.sealer.open(recorded))
    ]
    used = exchange.importers(connection, stack.project_id, changed)
    if used:
        by = {name: named_users(used[name]) for name in sorted(used)}
        messages = (f"Export {name} cannot be updated as it is in use by {users}." for name, users in by.items())
        raise StackValidationFailed(" ".join(messages))


def reached_values(run: OperationContext, wanted: Wanted) -> dict[str, object]:
    """Return the values of the exports after the run's steps; None for missing ones."""
    values = exported_values(wanted.definition, run.scope)
    return {name: None if has_unknown(value) else value for name, value in values.items()}


def exchanged(run: OperationContext) -> Callable[[Connection], None] | None:
    """Return the journal step that records the stack's exports and imports; None if they have not changed."""
    stack, wanted = run.stack, run.planning.wanted
    if run.operation.action in REMOVES:
        return partial(exchange.record, project_id="", stack_id=stack.id, exported={}, imported=())
    if run.operation.action not in FORWARD or wanted is None:
        return None
    exported = {name: run.services.sealer.seal(value) for name, value in reached_values(run, wanted).items()}
    imported = wanted.definition.imports if wanted.inputs.template.uses("Fn::ImportValue") else ()
    if run.operation.action == "CREATE" and not exported and not imported:
        return None
    return partial(
        exchange.record, project_id=stack.project_id, stack_id=stack.id, exported=exported, imported=imported
    )


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
