"""Exports and imports of stacks; exports that other stacks import must not change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import StackValidationFailed
from stoker.engine.planning.planner import Wanted
from stoker.engine.records.actions import FORWARD, REMOVES
from stoker.engine.records.services import EngineServices
from stoker.engine.running.operation_context import OperationContext
from stoker.schema.unknown import has_unknown
from stoker.store import exchange
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.expressions import Scope


def exported_values(definition: Definition, scope: Scope) -> dict[str, Any]:
    """Return the values of a stack's exports by name; unknown if the scope does not know them."""
    return {name: definition.resolve(definition.outputs[key].value, scope) for name, key in definition.exports()}


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
        messages = (f"Export {name} cannot be updated as it is in use by {by}." for name, by in sorted(used.items()))
        raise StackValidationFailed(" ".join(messages))


def reached_values(run: OperationContext, wanted: Wanted) -> dict[str, Any]:
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
