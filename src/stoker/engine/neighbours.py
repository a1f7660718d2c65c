"""The other resources of a stack, for types that look at them (a wait condition at its handle)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.base.errors import EntityNotFound
from stoker.engine.state import ResourceState
from stoker.plugins.resource import Call, Neighbour, NoActionRequired
from stoker.store.records import COMPLETE


class StackNeighbours:
    """See plugins.resource.Neighbours.

    `current` finds the resources by name, `make_call` builds what one of them is entered with. `telling` lets one
    message at a time be handed over.
    """

    def __init__(
        self,
        current: Mapping[str, ResourceState],
        make_call: Callable[[ResourceState], Awaitable[Call]],
        telling: asyncio.Lock,
    ) -> None:
        self._current = current
        self._make_call = make_call
        self._telling = telling

    async def by_reference(self, reference_id: Any) -> Neighbour | None:
        """The resource with this reference id; None when there is none."""
        state = self._by_reference(reference_id)
        if state is None:
            return None
        return Neighbour(
            name=state.row.name,
            type=state.implementation,
            physical_id=state.row.physical_id,
            metadata=state.stored.metadata,
            data=state.stored.data,
            properties=state.given,
        )

    async def tell(self, reference_id: Any, message: Any) -> str:
        """Hand a message to the resource with this reference id; what came of it."""
        state = self._by_reference(reference_id)
        if state is None:
            raise EntityNotFound(f"The stack has no resource with the reference id {reference_id!r}.")
        row = state.row
        if row.status != COMPLETE:
            raise NoActionRequired(f"{row.name} is in the state {row.action}_{row.status}")
        # A second message must find what the first one has begun.
        async with self._telling:
            return await state.type.receive(await self._make_call(state), message)

    def _by_reference(self, reference_id: Any) -> ResourceState | None:
        return next((state for state in self._current.values() if state.reference_id() == reference_id), None)
