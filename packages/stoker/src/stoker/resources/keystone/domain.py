"""OS::Keystone::Domain"""

from __future__ import annotations

from stoker.plugins.resource import Call
from stoker.resources.keystone.base import KeystoneResource, collection
from stoker.schema.property import Change, Property, Support, Type


class Domain(KeystoneResource):
    """A domain, which contains projects, users and groups."""

    type_name = "OS::Keystone::Domain"
    description = "A domain, which contains projects, users and groups."
    for_administrators = True
    collection = collection("domain")
    support = Support(version="8.0.0")

    properties = {
        "name": Property(description="Name of the domain.", change=Change.UPDATE),
        "description": Property(description="Description of the domain.", change=Change.UPDATE),
        "enabled": Property(Type.BOOLEAN, "Whether the domain is enabled.", default=True, change=Change.UPDATE),
    }

    async def remove(self, call: Call) -> None:
        """Disable the domain first: Keystone does not delete one that is enabled."""
        body = self.collection.wrap({"enabled": False})
        await call.cloud.request("PATCH", "keystone", self.member_path(call), json=body)
        await super().remove(call)
