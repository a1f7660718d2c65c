"""The search for the object of an interrupted creation."""

from __future__ import annotations

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
