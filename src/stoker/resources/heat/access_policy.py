"""OS::Heat::AccessPolicy"""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.schema.property import Property, Type


class AccessPolicy(ResourceType):
    """Names the resources that a user of the stack may look at; it is nothing by itself."""

    type_name = "OS::Heat::AccessPolicy"
    description = "Names the resources of the stack that a user of it may look at."
    local = True

    properties = {
        "AllowedResources": Property(Type.LIST, "Names of resources of the stack.", required=True),
    }
