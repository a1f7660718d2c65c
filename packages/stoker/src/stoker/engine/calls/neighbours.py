"""The other resources of a stack, for types that read them (as a wait condition reads its handle)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.errors import EntityNotFound
from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.plugins.resource import COLLECTED, Call, Neighbour, NoActionRequired
from stoker.store.records import COMPLETE

Whole = Callable[[], Awaitable[Mapping[str, ResourceState]]]


@dataclass(slots=True)
class NeighboursView:
    """Read access to the other resources of a stack; `whole` returns all current ones by name."""

    whole: Whole

    async def by_reference(self, reference_id: object) -> Neighbour | None:
        """Return the resource with this reference id, or None."""
        return _neighbour(await self._by_reference(reference_id))

    async def by_name(self, name: str) -> Neighbour | None:
        """Return the current resource with this name, or None."""
        return _neighbour((await self.whole()).get(name))

    async def of_type(self, type_name: str) -> list[Neighbour]:
        """Return the current resources of this type."""
        current = await self.whole()
        found = (_neighbour(state) for state in current.values() if state.implementation == type_name)
        return [neighbour for neighbour in found if neighbour is not None]

    async def _by_reference(self, reference_id: object) -> ResourceState | None:
        current = await self.whole()
        return next((state for state in current.values() if state.reference_id() == reference_id), None)


@dataclass(slots=True)
class StackNeighbours(NeighboursView):
    """Implements plugins.resource.Neighbours.

    `whole` returns the resources by name, `make_call` builds the call of one of them, `take_signal` delivers a signal
    to it. `sending` is a lock that serializes the delivery of messages.
    """

    make_call: Callable[[ResourceState], Awaitable[Call]]
    take_signal: Callable[[ResourceState, Call, Mapping[str, Any] | None], Awaitable[None]]
    sending: asyncio.Lock
    begin_replacement: Callable[[ResourceState, str], Awaitable[str]]

    async def collect(self, reference_id: object) -> None:
        """Deliver to the resource with this reference id the signals that another service stores for it."""
        state = await self._by_reference(reference_id)
        if state is None:
            return
        stored_signals = await capabilities.stored_signals(state.type, await self.make_call(state))
        for identifier, details in stored_signals.items():
            call = await self.make_call(state)
            # Another engine or request may have collected them in the meantime.
            if identifier not in call.data.get(COLLECTED, ()):
                call.data[COLLECTED] = [*call.data.get(COLLECTED, ()), identifier]
                await self.take_signal(state, call, details)

    async def send(self, reference_id: object, message: object) -> str:
        """Deliver a message to the resource with this reference id, and return the result."""
        state = await self._by_reference(reference_id)
        if state is None:
            raise EntityNotFound(f"The stack has no resource with the reference id {reference_id!r}.")
        row = state.row
        if row.status != COMPLETE:
            raise NoActionRequired(f"{row.name} is in state {row.action}_{row.status}")
        # A second message must see the effects of the first one.
        async with self.sending:
            return await capabilities.receive(state.type, await self.make_call(state), message)

    async def replace(self, name: str, reason: str) -> str:
        """Begin an update that replaces the current resource with this name, and return the result."""
        state = (await self.whole()).get(name)
        if state is None:
            raise NoActionRequired(f"there is no resource {name!r} now")
        async with self.sending:
            return await self.begin_replacement(state, reason)


def _neighbour(state: ResourceState | None) -> Neighbour | None:
    if state is None:
        return None
    return Neighbour(
        name=state.row.name,
        type=state.implementation,
        physical_id=state.row.physical_id,
        metadata=state.stored.metadata,
        data=state.stored.data,
        properties=state.properties,
    )
