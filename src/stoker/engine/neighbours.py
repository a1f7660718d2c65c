"""The other resources of a stack, for types that look at them (a wait condition at its handle)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.state import ResourceState
from stoker.plugins.resource import Neighbour


class StackNeighbours:
    """See plugins.resource.Neighbours."""

    def __init__(self, current: Mapping[str, ResourceState]) -> None:
        self._current = current

    async def by_reference(self, reference_id: Any) -> Neighbour | None:
        """The resource with this reference id; None when there is none."""
        for state in self._current.values():
            if state.reference_id() == reference_id:
                return Neighbour(
                    name=state.row.name,
                    type=state.implementation,
                    physical_id=state.row.physical_id,
                    metadata=state.stored.metadata,
                    data=state.stored.data,
                )
        return None
