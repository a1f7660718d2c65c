"""Actions of a stack that do not change its definition: which resources take part, and what happens to objects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.store.records import COMPLETE

ACTIONS: Mapping[str, Callable[[ResourceType, Call], Awaitable[Outcome]]] = {
    "CHECK": lambda kind, call: kind.check(call),
    "SUSPEND": capabilities.suspend,
    "RESUME": capabilities.resume,
    "SNAPSHOT": capabilities.snapshot,
}
"""What happens to an object in the actions of a stack that do not change its definition."""


def takes_part(action: str, state: ResourceState) -> bool:
    """Return whether an action that does not change the definition applies to the resource.

    External objects are only checked, and incomplete resources have no content for a snapshot.
    """
    external = state.stored.definition.get("external_id") is not None
    whole = state.row.status == COMPLETE or state.row.action == "SNAPSHOT"
    return action == "CHECK" or not (external or (action == "SNAPSHOT" and not whole))
