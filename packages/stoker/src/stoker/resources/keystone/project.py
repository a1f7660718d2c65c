"""OS::Keystone::Project"""

from __future__ import annotations

from stoker.plugins.resource import Call
from stoker.resources.keystone.base import DOMAIN, KeystoneResource, collection
from stoker.schema.property import Attribute, Change, Property, Support, Type

_SINCE = Support(version="10.0.0")


class Project(KeystoneResource):
    """A project, which owns objects and quotas."""

    type_name = "OS::Keystone::Project"
    description = "A project, which owns objects and quotas."
    for_administrators = True
    collection = collection("project")
    support = Support(version="2015.1")

    properties = {
        "name": Property(description="Name of the project.", change=Change.UPDATE),
        "domain": DOMAIN,
        "description": Property(description="Description of the project.", default="", change=Change.UPDATE),
        "enabled": Property(Type.BOOLEAN, "Whether the project is enabled.", default=True, change=Change.UPDATE),
        "parent": Property(
            description="The parent project, by name or ID.",
            support=Support(version="6.0.0"),
            wire="parent_id",
            reference="keystone.project",
        ),
        "tags": Property(
            Type.LIST, "Tags of the project.", strings=True, default=[], change=Change.UPDATE, support=_SINCE
        ),
    }

    attributes = {
        "name": Attribute("Name of the project.", Type.STRING, support=_SINCE),
        "parent_id": Attribute("ID of the parent project.", Type.STRING, support=_SINCE),
        "domain_id": Attribute("ID of the domain.", Type.STRING, support=_SINCE),
        "enabled": Attribute("Whether the project is enabled.", Type.BOOLEAN, support=_SINCE),
        "is_domain": Attribute("Whether the project acts as a domain.", Type.BOOLEAN, support=_SINCE),
    }

    async def remove(self, call: Call) -> None:
        """Delete the project and, before it, the default security group that Neutron creates for each project."""
        if call.cloud.has_service("neutron"):
            params = {"project_id": call.physical_id, "name": "default"}
            for group in await call.cloud.list("neutron", "/v2.0/security-groups", "security_groups", params):
                await call.cloud.delete("neutron", f"/v2.0/security-groups/{group['id']}", ok=(404,))
        await super().remove(call)
