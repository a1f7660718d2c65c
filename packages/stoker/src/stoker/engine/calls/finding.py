"""The search for the object of an interrupted creation."""

from __future__ import annotations

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call, ResourceType


async def found(kind: ResourceType, call: Call) -> str | None:
    """Return the physical ID of the object that an interrupted `create` created; None when there is none.

    Without the object that would contain it, nothing was created. That a service does not have the collection is no
    proof: it may not be ready yet.
    """
    try:
        return await kind.find(call)
    except CloudError as error:
        if error.not_found:
            return None
        raise
