"""OS::Heat::AccessPolicy"""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.schema.property import Property, Type


class AccessPolicy(ResourceType):
    """The list of resources that a user of the stack may read; it creates no object."""

    type_name = "OS::Heat::AccessPolicy"
    description = "Lists the resources that a user of the stack may read."
    local = True

    properties = {
        "AllowedResources": Property(Type.LIST, "Names of resources of the stack.", required=True),
    }
