"""Base of Designate's resource types: statuses, and names that only one object can have."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import Call, Waiter
from stoker.resources.base import RestResource
from stoker.resources.declare import between, length
from stoker.resources.wire import older_spellings
from stoker.schema.property import Change, Property, Type

READY = Waiter.until("ACTIVE", "SUCCESS")
GONE = Waiter.until("DELETED")

DESCRIPTION = Property(description="Its description.", constraints=length(high=160), change=Change.UPDATE)


def ttl(description: str) -> Property:
    """Declare the time for which answers may be cached."""
    return Property(Type.INTEGER, description, constraints=between(1, 2**31 - 1), change=Change.UPDATE)


class DesignateResource(RestResource):
    """A zone or a record set.

    Designate is sent values only, no empty ones. `clearable` are the fields that an update can set to null.
    """

    waits = READY
    deleting = GONE
    kept_after_failure = True
    clearable: ClassVar[frozenset[str]] = frozenset({"description"})

    @abstractmethod
    async def conflicting_objects(self, call: Call) -> list[dict[str, object]]:
        """Return the objects because of which Designate would refuse this one."""

    async def create(self, call: Call) -> Outcome:
        """Create the object; repeat that while one with its name is being deleted, but not while another stays."""
        try:
            return await super().create(call)
        except CloudError as error:
            if error.conflict and all(rival["action"] != "DELETE" for rival in await self.conflicting_objects(call)):
                error.lasting = True
            raise

    async def create_body(self, call: Call) -> dict[str, object]:
        return {name: value for name, value in (await super().create_body(call)).items() if value}

    async def update_body(self, call: Call) -> dict[str, object]:
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


def is_same_name(one: str, other: str) -> bool:
    """Return whether two domain names are equal: case does not matter (RFC 4343)."""
    return one.lower() == other.lower()
