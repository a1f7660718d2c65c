"""What happens to the object when its resource is removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from stoker.engine.planning.retention import RemovalOptions, Retention, UndeletedObject, removal_effect
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.performer import Method
from stoker.plugins import capabilities
from stoker.plugins.resource import ResourceType

EFFECT = "parting"
"""The key of a stored definition for the effect of a removal; every release reads and writes it."""

_EARLIER_EFFECT = "removal_effect"
"""The key that development versions before 0.2.0 wrote instead."""

FORGET = "Abandon"
"""The effect that keeps all objects, those in nested stacks as well."""

REMOVALS: Mapping[str, Callable[[ResourceType], Method | None]] = {
    "Delete": lambda kind: kind.delete if type(kind).delete is not ResourceType.delete else None,
    "Snapshot": lambda kind: partial(capabilities.snapshot_delete, kind),
    FORGET: lambda kind: partial(capabilities.abandon, kind),
    "Retain": lambda kind: None,
}
"""What happens to the object when a resource is removed; nothing is called where a type has nothing to delete."""


def recorded_effect(removal_options: RemovalOptions, state: ResourceState) -> str:
    """Return what happens to the object of a resource whose removal has begun, possibly by another version.

    It is fixed when the stack's action begins to remove the resource.
    """
    definition = state.stored.definition
    recorded = str(definition.get(EFFECT, definition.get(_EARLIER_EFFECT)))
    return recorded if recorded in REMOVALS else removal_effect(state, removal_options).name


def leave_behind(run: OperationContext, state: ResourceState) -> str:
    """Note that the object of a resource stays, since it could not be deleted; return the reason for the event."""
    row = state.row
    run.progress.left.append(UndeletedObject(row.name, row.type, row.physical_id))
    return f"left behind, as it could not be deleted: {row.reason}"


def note_left(run: OperationContext, state: ResourceState) -> bool:
    """Note with the operation what was left behind of a resource or in its nested stack; return whether that is new."""
    if not run.planning.removal_options.forced:
        return False
    name, uuid = state.row.name, state.row.uuid
    for (holder, _, action), operation in run.nested.begun.items():
        if holder == uuid and action == "DELETE":
            run.progress.left += (replace(each, path=f"{name}.{each.path}") for each in Retention.of(operation).left)
    retention = Retention.of(run.operation)
    noted = replace(retention, left=tuple(run.progress.left))
    run.operation.retention = noted.to_json()
    return noted != retention
