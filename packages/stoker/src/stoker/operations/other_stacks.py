"""What a plan means for other stacks: who imports what the stack exports, and which of its outputs change."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from stoker.base.errors import TemplateInvalid
from stoker.engine.planning.planner import Forward
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices
from stoker.engine.running.completion import exported_values
from stoker.schema.unknown import has_unknown
from stoker.store import exchange, lookups
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.expressions import UNDETERMINED, Scope


def consumers(
    connection: Connection, services: EngineServices, stack: Stack, forward: Forward
) -> list[dict[str, object]]:
    """Return the exports of a stack that other stacks import, after the plan was made.

    Each is a map with the name of the `export`, the names of the `stacks`, and the `change` of the value: `unchanged`,
    `changed`, `removed`, or `unknown` before the plan is carried out.
    """
    definition = forward.desired.definition
    if not stack.inputs or not definition.exports():
        return []
    recorded = exchange.exported_by(connection, stack.id)
    importers = lookups.importers_by_export(connection, stack.project_id, recorded)
    if not importers:
        return []
    values, digest = exported_values(definition, forward.scope), services.sealer.digest

    def change(name: str) -> str:
        if name not in values:
            return "removed"
        if has_unknown(values[name]):
            return "unknown"
        return "unchanged" if digest(values[name]) == digest(services.sealer.open(recorded[name])) else "changed"

    return [{"export": name, "stacks": stacks, "change": change(name)} for name, stacks in sorted(importers.items())]


def part_of_joint_deployment(
    connection: Connection, services: EngineServices, stack: Stack, forward: Forward
) -> dict[str, object]:
    """Return what the stacks that are deployed after this one need to know of its plan.

    `changed_outputs` are the names of the outputs that are new, or whose values change or are not known;
    `same_definition` is whether the stack has been deployed with exactly this definition.
    """
    definition, former = forward.desired.definition, forward.former
    changed = [
        key
        for key, output in definition.outputs.items()
        if not _equal(_value(definition, output.value, forward.scope), _former_value(former, key, forward.recorded))
    ]
    inputs = services.loader.load_now(connection, stack.inputs) if stack.inputs else None
    same = inputs is not None and list(_identity(inputs)) == list(_identity(forward.desired.inputs))
    return {"changed_outputs": changed, "same_definition": same}


def _identity(inputs: LoadedInputs) -> Iterator[object]:
    document = inputs.template.document
    yield document.text or document.data
    yield inputs.environment_digest
    yield inputs.files.digest
    yield inputs.parameters


def _former_value(former: Definition | None, key: str, scope: Scope) -> object:
    if former is None or key not in former.outputs:
        return UNDETERMINED
    return _value(former, former.outputs[key].value, scope)


def _value(definition: Definition, expression: object, scope: Scope) -> object:
    try:
        return definition.resolve(expression, scope)
    except TemplateInvalid:
        return UNDETERMINED


def _equal(after: object, before: object) -> bool:
    return not has_unknown(after) and not has_unknown(before) and bool(after == before)
