"""The search for the object of an interrupted creation."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from weakref import WeakValueDictionary

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call, ResourceType


async def found(kind: ResourceType, call: Call) -> str | None:
    """Return the physical ID of the object that an interrupted `create` created; None when there is none.

    An object counts if two searches find it, one after the other. A single one can find the object of a resource that
    is being deleted: the service still listed it, and when the records are read, after that, its resource is gone.
    """
    first = await _search(kind, call)
    while first is not None:
        second = await _search(kind, call)
        if second == first:
            break
        first = second
    return first


async def _search(kind: ResourceType, call: Call) -> str | None:
    """Search once.

    Without the object that would contain it, nothing was created. That a service does not have the collection is no
    proof: it may not be ready yet.
    """
    try:
        return await kind.find(call)
    except CloudError as error:
        if error.not_found:
            return None
        raise


class SearchTurns:
    """Lets searches that could find the same one of two equal objects run one after the other.

    These are searches in one project. An object with a name of its own is found by one search
    only, so this one waits for no other: towards a slow service, hundreds of them take as long as one.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, kind: ResourceType, project_id: str, call: Call) -> AbstractAsyncContextManager[object]:
        """Return the context manager in which the object of the call is searched for."""
        if kind.recovery is not None and kind.recovery.has_own_name(call.properties):
            return nullcontext()
        return self._locks.setdefault(project_id, asyncio.Lock())
