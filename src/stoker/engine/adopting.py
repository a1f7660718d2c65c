"""Taking over objects that exist: those of an adopted stack, and those that a template names by their id.

Facts: engine.yaml (adopt, resource_create.external_id).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from stoker.engine.performing import Method
from stoker.engine.state import ResourceState
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import Call, ResourceType


def take_over(state: ResourceState, entry: Mapping[str, Any]) -> None:
    """Give a new resource what the document of its stack has of it: the object's id, the type's data, metadata."""
    identifier = entry.get("resource_id")
    if identifier is not None and not state.type.nested:
        state.row.physical_id = str(identifier)
    state.stored.data = dict(entry.get("resource_data") or {})
    if entry.get("metadata"):
        state.stored.metadata = entry["metadata"]


def bringing_about(state: ResourceState) -> Method:
    """The method that goes on with what the resource's action has begun: creating, adopting, updating."""
    if state.stored.definition.get("external_id") is not None:
        return partial(_look_at, state.type)
    if state.row.action == "ADOPT":
        return partial(_adopt, state.type)
    return state.type.update if state.row.action == "UPDATE" else state.type.create


async def _adopt(kind: ResourceType, call: Call) -> Outcome:
    if kind.nested and "resources" not in call.adopted:
        return Failed("the document has no nested stack under this resource's name", "Error")
    if not kind.nested and call.physical_id is None:
        return Failed("the document has no resource_id under this resource's name", "Error")
    return await kind.adopt(call)


async def _look_at(kind: ResourceType, call: Call) -> Outcome:
    """An object that belongs to somebody else is looked at, and nothing is ever done to it."""
    outcome = await kind.adopt(call)
    return await kind.check(call) if isinstance(outcome, Done) else outcome
