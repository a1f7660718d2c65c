"""OS::Heat::StructuredConfig"""

from __future__ import annotations

from stoker.resources.heat.software_config import SoftwareConfig
from stoker.schema.property import Property, Type


class StructuredConfig(SoftwareConfig):
    """A map that a tool on a server applies."""

    type_name = "OS::Heat::StructuredConfig"
    description = "A configuration whose content is a map instead of a text."

    properties = {
        **SoftwareConfig.properties,
        "config": Property(Type.MAP, "The configuration, as the tool wants it."),
    }
