"""What happens to the object when its resource is removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.engine.planning.decide import NOT_CREATED
from stoker.engine.planning.retaining import removal_policy
from stoker.engine.records.state import ResourceState
from stoker.engine.running.performer import Method
from stoker.plugins.resource import ResourceType
from stoker.store.ownership import is_double
from stoker.store.records import COMPLETE, FAILED

EFFECT = "parting"
"""The key of a stored definition for the effect of a removal; every release reads and writes it."""

_EARLIER_EFFECT = "removal_effect"
"""The key that development versions before 0.2.0 wrote instead."""

FORGET = "Abandon"
"""The effect that keeps all objects, those in nested stacks as well."""

REMOVALS: Mapping[str, Callable[[ResourceType], Method | None]] = {
    "Delete": lambda kind: kind.delete,
    "Snapshot": lambda kind: kind.snapshot_delete,
    FORGET: lambda kind: kind.abandon,
    "Retain": lambda kind: None,
}
"""What happens to the object when a resource is removed."""


def removal_effect(action: str, state: ResourceState) -> str:
    """Return what happens to the object, which is fixed when the stack's action begins to remove the resource."""
    definition, row = state.stored.definition, state.row
    if definition.get("external_id") is not None or row.action == NOT_CREATED or is_double(row.ownership):
        return "Retain"
    if action == "ABANDON" or (row.action == "ADOPT" and (action in ("ADOPT", "ROLLBACK") or row.status != COMPLETE)):
        return FORGET
    policy = removal_policy(state).policy
    worthless = row.status == FAILED and row.action in state.type.unsaved
    return "Delete" if policy == "Snapshot" and worthless else policy


def recorded_effect(action: str, state: ResourceState) -> str:
    """Return what happens to the object of a resource whose removal has begun, possibly by another version."""
    definition = state.stored.definition
    recorded = str(definition.get(EFFECT, definition.get(_EARLIER_EFFECT)))
    return recorded if recorded in REMOVALS else removal_effect(action, state)
