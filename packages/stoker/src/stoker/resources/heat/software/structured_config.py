"""OS::Heat::StructuredConfig"""

from __future__ import annotations

from stoker.resources.heat.software.software_config import SoftwareConfig
from stoker.schema.property import Property, Type


class StructuredConfig(SoftwareConfig):
    """A configuration in the form of a map, which a tool on a server applies."""

    type_name = "OS::Heat::StructuredConfig"
    description = "A configuration whose content is a map instead of a string."

    properties = {
        **SoftwareConfig.properties,
        "config": Property(Type.MAP, "The configuration, in the tool's format."),
    }
