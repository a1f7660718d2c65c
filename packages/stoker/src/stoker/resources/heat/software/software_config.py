"""OS::Heat::SoftwareConfig"""

from __future__ import annotations

from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.heat.software.software_config_base import INPUTS, OPTIONS, OUTPUTS, UNGROUPED, StoredConfig
from stoker.schema.property import Property, Support

GROUP = Property(description="The tool that applies the configuration (`script`, `ansible`, …).", default=UNGROUPED)


class SoftwareConfig(StoredConfig):
    """A configuration in the form of a string, which a tool on a server applies."""

    type_name = "OS::Heat::SoftwareConfig"
    description = "A configuration that software deployments apply to servers."
    support = Support(version="2014.1")

    properties = {
        "group": GROUP,
        "config": Property(description="The configuration, in the tool's format."),
        "options": OPTIONS,
        "inputs": INPUTS,
        "outputs": OUTPUTS,
    }

    async def body(self, call: Call) -> dict[str, Any]:
        return dict(call.properties)
