"""Objects whose names are unique in their service, and that step aside for a replacement with the same name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.plugins.capabilities import ReplacementPreparer, ReplacementReverter
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import RestResource
from stoker.resources.replacement import conclusive, is_recorded


class UniquelyNamed(RestResource, ReplacementPreparer, ReplacementReverter):
    """A type whose required property `name` no other object may have, and whose objects can be renamed.

    `of_all_projects` is the query that lists all objects, of which the service shows some by default.
    """

    of_all_projects: ClassVar[Mapping[str, str]] = {}
    kept_after_failure = True
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names are unique among all types; a type with the name must have the requested properties.",
    )

    @abstractmethod
    async def rename(self, call: Call, identifier: str, name: str) -> None:
        """Rename an object of the collection, which may be gone."""

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        for item in await _named(self, call, body["name"]):
            if self.made_by(call, body, item):
                return str(item["id"])
        return None

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Rename the object to its physical name."""
        return await conclusive(_renamed(self, call, call.physical_name))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Give the object its name again; the replacement, if it has the name, is renamed to its ID."""
        return await conclusive(_restored(self, call))


async def _restored(kind: UniquelyNamed, call: Call) -> Outcome:
    name = call.properties["name"]
    for item in await _named(kind, call, name):
        identifier = str(item["id"])
        if identifier != call.physical_id and await is_recorded(call, identifier):
            await kind.rename(call, identifier, identifier)
    return await _renamed(kind, call, name)


async def _renamed(kind: UniquelyNamed, call: Call, name: str) -> Outcome:
    await kind.rename(call, str(call.physical_id), name)
    return Done()


async def _named(kind: UniquelyNamed, call: Call, name: object) -> list[Any]:
    """Return the objects of all projects with this name."""
    collection = kind.collection
    listed = await call.cloud.list(collection.service, collection.path, collection.members, dict(kind.of_all_projects))
    return [item for item in listed if item["name"] == name]
