"""OS::Heat::ResourceChain"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.plugins.resource import AttributeKey, Call, ChildRequest
from stoker.resources.heat.groups.batching import Batch
from stoker.resources.heat.groups.group import HOT, GroupResource, read_group
from stoker.resources.heat.nested_stacks.nested import unknowns_as_parameters
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown


class ResourceChain(GroupResource):
    """Resources of several types with the same properties, created one after the other and named by their index."""

    type_name = "OS::Heat::ResourceChain"
    description = "Resources of several types with the same properties, one after the other."
    support = Support(version="6.0.0")
    any_attribute = True

    properties = {
        "resources": Property(Type.LIST, "The members' types, in order.", required=True, change=Change.UPDATE),
        "concurrent": Property(Type.BOOLEAN, "Whether members are created concurrently.", default=False),
        "resource_properties": Property(Type.MAP, "The properties of every member."),
    }
    attributes = {
        "refs": Attribute("Reference IDs of the members.", Type.LIST),
        "attributes": Attribute(
            "Map from member name to the attribute that the path names.", Type.MAP, needs_path=True
        ),
    }

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        if is_unknown(properties["resources"]) or any(is_unknown(kind) for kind in properties["resources"]):
            return None
        return unknowns_as_parameters(HOT.template(chained(properties)))

    async def plan(self, call: Call) -> Iterable[Batch]:
        return [Batch(len(call.properties["resources"]), 0)]

    async def members_after(self, call: Call, batch: Batch) -> dict[str, object]:
        return chained(call.properties)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        members = sorted(await call.engine.child.members(), key=lambda member: int(member.name))
        return await read_group(call, {member.name: member for member in members}, keys)


def chained(properties: Mapping[str, Any]) -> dict[str, object]:
    """Return the members' definitions; unless `concurrent` is true, each depends on the one before it."""
    shared = properties["resource_properties"]
    members: dict[str, object] = {}
    for index, kind in enumerate(properties["resources"]):
        member: dict[str, object] = {"type": kind}
        if shared:
            member["properties"] = shared
        if index and not properties["concurrent"]:
            member["depends_on"] = [str(index - 1)]
        members[str(index)] = member
    return members
