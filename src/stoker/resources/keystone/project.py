"""OS::Keystone::Project"""

from __future__ import annotations

from stoker.plugins.resource import Call
from stoker.resources.keystone.base import DOMAIN, KeystoneResource, collection
from stoker.schema.property import Attribute, Change, Property, Support, Type

_SINCE = Support(version="10.0.0")


class Project(KeystoneResource):
    """What cloud objects belong to."""

    type_name = "OS::Keystone::Project"
    description = "A project, which cloud objects and quotas belong to."
    collection = collection("project")
    support = Support(version="2015.1")

    properties = {
        "name": Property(description="Name of the project.", change=Change.UPDATE),
        "domain": DOMAIN,
        "description": Property(description="What the project is for.", default="", change=Change.UPDATE),
        "enabled": Property(Type.BOOLEAN, "Whether the project can be used.", default=True, change=Change.UPDATE),
        "parent": Property(
            description="The project above, by name or id.",
            support=Support(version="6.0.0"),
            wire="parent_id",
            reference="keystone.project",
        ),
        "tags": Property(Type.LIST, "Tags to attach.", default=[], change=Change.UPDATE, support=_SINCE),
    }

    attributes = {
        "name": Attribute("Name of the project.", Type.STRING, support=_SINCE),
        "parent_id": Attribute("Id of the project above.", Type.STRING, support=_SINCE),
        "domain_id": Attribute("Id of the domain.", Type.STRING, support=_SINCE),
        "enabled": Attribute("Whether the project can be used.", Type.BOOLEAN, support=_SINCE),
        "is_domain": Attribute("Whether the project acts as a domain.", Type.BOOLEAN, support=_SINCE),
    }

    async def remove(self, call: Call) -> None:
        """First away with the security group that Neutron makes for each project, which would stay behind."""
        if call.cloud.has_service("neutron"):
            params = {"project_id": call.physical_id, "name": "default"}
            for group in await call.cloud.list("neutron", "/v2.0/security-groups", "security_groups", params):
                await call.cloud.delete("neutron", f"/v2.0/security-groups/{group['id']}", ok=(404,))
        await super().remove(call)
