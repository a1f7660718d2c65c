"""What the types of Blazar have in common."""

from __future__ import annotations

from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.base import RestResource


class ReservationResource(RestResource):
    """An object of Blazar: requests have its fields at the top level, only responses have a key around them."""

    async def begin(self, call: Call) -> dict[str, Any]:
        body = await self.create_body(call)
        return self.collection.unwrap(await call.cloud.post(self.collection.service, self.collection.path, body))
