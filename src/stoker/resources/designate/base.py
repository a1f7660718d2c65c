"""Base of Designate's resource types: statuses, and names that only one object can have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call
from stoker.plugins.waiting import Waiter
from stoker.resources.base import RestResource
from stoker.resources.declare import between, length
from stoker.resources.replacing import conclusive, is_recorded
from stoker.resources.wire import older_spellings
from stoker.schema.property import Change, Property, Type

READY = Waiter.until("ACTIVE", "SUCCESS")
GONE = Waiter.until("DELETED")
_GIVEN_UP = "given_up"
"""In `call.data`: the object has been deleted in favor of its replacement."""

DESCRIPTION = Property(description="Its description.", constraints=length(high=160), change=Change.UPDATE)


def ttl(description: str) -> Property:
    """Declare the time for which answers may be cached."""
    return Property(Type.INTEGER, description, constraints=between(1, 2**31 - 1), change=Change.UPDATE)


class DesignateResource(RestResource):
    """A zone or a record set.

    Designate is sent values only, no empty ones. `clearable` are the fields that an update can set to null.
    An object whose replacement needs its name is deleted first, and created again in a rollback.
    """

    waits = READY
    deleting = GONE
    kept_after_failure = True
    clearable: ClassVar[frozenset[str]] = frozenset({"description"})

    async def create(self, call: Call) -> Outcome:
        """Create the object; repeat that while one with its name is being deleted, but not while another stays."""
        try:
            return await super().create(call)
        except CloudError as error:
            if error.conflict and all(rival["action"] != "DELETE" for rival in await self.rivals(call)):
                error.lasting = True
            raise

    async def create_body(self, call: Call) -> dict[str, Any]:
        return {name: value for name, value in (await super().create_body(call)).items() if value}

    async def update_body(self, call: Call) -> dict[str, Any]:
        """Return the changes; all fields, when nothing has changed and the object is in error: Designate then tries
        again.
        """
        changed = await super().update_body(call)
        body = {name: value or None for name, value in changed.items() if value or name in self.clearable}
        if body:
            return body
        shown = await self.show(call)
        if shown is None or shown[self.collection.status_field] != "ERROR":
            return {}
        older = older_spellings(self.properties)
        updatable = {
            prop.wire or name
            for name, prop in self.properties.items()
            if prop.change is Change.UPDATE and name not in older
        }
        return {name: value for name, value in (await self.create_body(call)).items() if name in updatable}

    @abstractmethod
    async def excludes_replacement(self, call: Call, replacement: Mapping[str, Any]) -> bool:
        """Return whether Designate refuses an object with these properties while this one exists."""

    @abstractmethod
    async def rivals(self, call: Call) -> list[dict[str, Any]]:
        """Return the objects because of which Designate would refuse this one."""

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        if _GIVEN_UP not in call.data:
            if call.replacement is None or not await self.excludes_replacement(call, call.replacement):
                return Done()
            call.data[_GIVEN_UP] = True
            return Again(after=0.0)
        shown = await self.show(call)
        if shown is None:
            return Done()
        return await self._removed(call, shown)

    async def revert_replacement(self, call: Call) -> Outcome:
        """Create an identical object in place of the replacement."""
        return await conclusive(self._restored(call)) if _GIVEN_UP in call.data else Done()

    async def _restored(self, call: Call) -> Outcome:
        for rival in await self.rivals(call):
            if rival["id"] == call.physical_id and rival["action"] != "DELETE":
                del call.data[_GIVEN_UP]
                return Done()
            if rival["id"] != call.physical_id and not await is_recorded(call, rival["id"]):
                return Failed(f"{rival['id']} has taken the name {rival['name']}; rename or delete it", "Conflict")
            return await self._removed(call, rival)
        made = await self.begin(call)
        return Again(after=0.0, physical_id=str(made["id"]))

    async def _removed(self, call: Call, shown: Mapping[str, Any]) -> Outcome:
        """Delete an object, unless that has begun; return when to look again."""
        if shown["action"] != "DELETE":
            path = f"{self.collection_path(call)}/{shown['id']}"
            await call.cloud.request("DELETE", self.collection.service, path, ok=(404,))
        elif shown["status"] == "ERROR":
            return Failed(f"Designate cannot delete {shown['name']} ({shown['id']})", in_error=True)
        return Again(after=GONE.pause(call.elapsed))


def is_same_name(one: str, other: str) -> bool:
    """Return whether two domain names are equal: case does not matter (RFC 4343)."""
    return one.lower() == other.lower()
