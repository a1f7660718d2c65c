"""Base of Keystone's resource types: names that are unique in a domain, and a mark of the resource's objects."""

from __future__ import annotations

from stoker.plugins.capabilities import ReplacementPreparer, ReplacementReverter
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, unrecorded
from stoker.resources.replacement import conclusive, has_same_name, is_recorded
from stoker.schema.property import Change, Property

MARK = "orchestration_resource"
"""An extra field, which Keystone stores: the physical name of an object whose name the template gives."""

DOMAIN = Property(
    description="The domain, by name or ID.",
    default="default",
    change=Change.UPDATE,
    wire="domain_id",
    reference="keystone.domain",
)


def collection(member: str) -> Collection:
    """Declare a collection of Keystone."""
    return Collection("keystone", f"/{member}s", member, f"{member}s", update="PATCH", created_field=None, owner=None)


class KeystoneResource(RestResource, ReplacementPreparer, ReplacementReverter):
    """A resource type of Keystone.

    Keystone does not show when an object was created, and an existing project, user or role must never be taken for the
    resource's and be deleted with the stack. So an object with a name from the template has a mark.
    """

    kept_after_failure = True
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The name is searched in the domain. An object whose name the template gives must also have the "
        f"resource's mark, the field {MARK}, which is sent with such a name.",
    )

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return body if body["name"] == call.physical_name else {**body, MARK: call.physical_name}

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        params = {"name": body["name"], "domain_id": body.get("domain_id")}
        listed = await call.cloud.list("keystone", self.collection.path, self.collection.members, params)
        ours = [item["id"] for item in listed if call.physical_name in (item["name"], item.get(MARK))]
        return min(await unrecorded(call, ours), default=None)

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Rename the object to its physical name, since names are unique in a domain."""
        if call.properties["name"] is None:
            return Done()
        return await conclusive(self._renamed(call, str(call.physical_id), call.physical_name))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Give the object its name again; the replacement, if it has the name, gets its physical name."""
        return await conclusive(self._restored(call)) if call.properties["name"] is not None else Done()

    async def _restored(self, call: Call) -> Outcome:
        name = call.properties["name"]
        params = {"name": name, "domain_id": call.properties.get("domain")}
        for item in await call.cloud.list("keystone", self.collection.path, self.collection.members, params):
            if item["id"] == call.physical_id:
                return Done()
            if not (has_same_name(call, item.get(MARK)) and await is_recorded(call, item["id"])):
                return Failed(
                    f"{call.physical_id} cannot get the name {name} back: {item['id']} uses it. Rename that, then "
                    "update the stack again.",
                    "Conflict",
                )
            await self._renamed(call, item["id"], item[MARK])
        return await self._renamed(call, str(call.physical_id), name)

    async def _renamed(self, call: Call, identifier: str, name: str) -> Outcome:
        path = f"{self.collection.path}/{identifier}"
        await call.cloud.request("PATCH", "keystone", path, json=self.collection.wrap({"name": name}), ok=(404,))
        return Done()
