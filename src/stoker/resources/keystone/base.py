"""What Keystone's types have in common: names unique in a domain, and how an object is known to be ours."""

from __future__ import annotations

from typing import Any

from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, unrecorded
from stoker.resources.replacing import conclusive, is_named_alike, is_recorded
from stoker.schema.property import Change, Property

MARK = "orchestration_resource"
"""A field of our own, which Keystone keeps as it keeps any other: the physical name of an object with a given name."""

DOMAIN = Property(
    description="The domain, by name or id.",
    default="default",
    change=Change.UPDATE,
    wire="domain_id",
    reference="keystone.domain",
)


def collection(member: str) -> Collection:
    """A collection of Keystone's."""
    return Collection("keystone", f"/{member}s", member, f"{member}s", update="PATCH", created_field=None, owner=None)


class KeystoneResource(RestResource):
    """A type of Keystone's.

    Keystone does not say when an object was made, and a project, a user or a role that was there before must never be
    taken for ours, to be deleted with the stack: an object with a name from the template bears a mark.
    """

    recovery = Recovery(
        FoundBy.NAME,
        "The name is looked for in the domain. An object whose name the template gives must also bear our "
        f"mark, the field {MARK}, which is sent with such a name.",
    )

    async def create_body(self, call: Call) -> dict[str, Any]:
        body = await super().create_body(call)
        return body if body["name"] == call.physical_name else {**body, MARK: call.physical_name}

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        params = {"name": body["name"], "domain_id": body.get("domain_id")}
        listed = await call.cloud.list("keystone", self.collection.path, self.collection.members, params)
        ours = [item["id"] for item in listed if call.physical_name in (item["name"], item.get(MARK))]
        return min(await unrecorded(call, ours), default=None)

    async def make_way(self, call: Call) -> Outcome:
        """Under its physical name, for a name is given once in a domain."""
        if call.properties["name"] is None:
            return Done()
        return await conclusive(self._renamed(call, str(call.physical_id), call.physical_name))

    async def take_back(self, call: Call) -> Outcome:
        """Under its name again; the replacement, if it has it, gets its physical name, which is its mark."""
        return await conclusive(self._restored(call)) if call.properties["name"] is not None else Done()

    async def _restored(self, call: Call) -> Outcome:
        name = call.properties["name"]
        params = {"name": name, "domain_id": call.properties.get("domain")}
        for item in await call.cloud.list("keystone", self.collection.path, self.collection.members, params):
            if item["id"] == call.physical_id:
                return Done()
            if not (is_named_alike(call, item.get(MARK)) and await is_recorded(call, item["id"])):
                return Failed(
                    f"{call.physical_id} cannot have the name {name} back: {item['id']} has it. Rename that, then "
                    "update the stack again.",
                    "Conflict",
                )
            await self._renamed(call, item["id"], item[MARK])
        return await self._renamed(call, str(call.physical_id), name)

    async def _renamed(self, call: Call, identifier: str, name: str) -> Outcome:
        path = f"{self.collection.path}/{identifier}"
        await call.cloud.request("PATCH", "keystone", path, json=self.collection.wrap({"name": name}), ok=(404,))
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """An object that is there is worth an update: another one of its name could not be made beside it."""
        return call.physical_id is None or await self.show(call) is None
