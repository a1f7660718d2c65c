"""The search for the object of an interrupted creation."""

from __future__ import annotations

from stoker.base.errors import CloudError, NoEndpoint
from stoker.plugins.resource import Call, ResourceType


async def found(kind: ResourceType, call: Call) -> str | None:
    """Return the physical ID of the object that an interrupted `create` created; None when there is none.

    A service that does not have the collection, or the object that contains it, answers 404: nothing was created.
    Without an endpoint in the catalog the service cannot be asked.
    """
    try:
        return await kind.find(call)
    except NoEndpoint:
        raise
    except CloudError as error:
        if error.not_found:
            return None
        raise
