"""Types of which a service refuses two objects that are alike: the old one is deleted before its replacement."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call
from stoker.resources.base import RestResource
from stoker.resources.replacing import conclusive, is_recorded

_GIVEN_UP = "given_up"
"""In `call.data`: the object has been deleted in favor of its replacement."""


class DeletedFirstResource(RestResource):
    """A type whose objects are deleted before a replacement that is like them, and created again in a rollback.

    A rollback deletes the replacement, takes over an equal object of a request whose response was lost, and leaves
    any other object that is in the way alone.
    """

    @abstractmethod
    def excludes(self, properties: Mapping[str, Any], replacement: Mapping[str, Any]) -> bool:
        """Return whether the service refuses the replacement while an object with `properties` exists."""

    @abstractmethod
    async def rivals(self, call: Call) -> Sequence[Mapping[str, Any]]:
        """Return the objects because of which the service would refuse this one, itself included."""

    @abstractmethod
    def taken(self, rival: Mapping[str, Any]) -> str:
        """Return the message that an object outside Stoker is in the way."""

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        if _GIVEN_UP not in call.data:
            if call.replacement is None or not self.excludes(call.properties, call.replacement):
                return Done()
            call.data[_GIVEN_UP] = True
            return Again(after=0.0)
        await call.cloud.delete(self.collection.service, self.member_path(call), ok=(404,))
        return Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        """Create an equal object in place of the replacement."""
        return await conclusive(self._restored(call)) if _GIVEN_UP in call.data else Done()

    async def _restored(self, call: Call) -> Outcome:
        for rival in await self.rivals(call):
            identifier = str(rival["id"])
            if identifier == call.physical_id:
                del call.data[_GIVEN_UP]
                return Done()
            if not await is_recorded(call, identifier):
                if self.made_by(call, await self.create_body(call), rival):
                    return Again(after=0.0, physical_id=identifier)
                return Failed(self.taken(rival), "Conflict")
            path = f"{self.collection_path(call)}/{identifier}"
            await call.cloud.delete(self.collection.service, path, ok=(404,))
        made = await self.begin(call)
        return Again(after=0.0, physical_id=str(made["id"]))
