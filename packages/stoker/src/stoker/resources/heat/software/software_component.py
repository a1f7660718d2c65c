"""OS::Heat::SoftwareComponent"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.declare import length
from stoker.resources.heat.software.software_config_base import INPUTS, OPTIONS, OUTPUTS, StoredConfig
from stoker.schema.property import Property, Support, Type
from stoker.schema.unknown import has_unknown


class SoftwareComponent(StoredConfig):
    """Several configurations of one software component, each for some of its lifecycle actions."""

    type_name = "OS::Heat::SoftwareComponent"
    description = "Configurations of one software component, one for each lifecycle action."
    support = Support(version="2014.2")

    properties = {
        "configs": Property(
            Type.LIST,
            "The configurations.",
            required=True,
            constraints=length(1),
            items=Property(
                Type.MAP,
                schema={
                    "actions": Property(
                        Type.LIST,
                        "The actions that the configuration is for.",
                        default=["CREATE", "UPDATE"],
                        constraints=length(1),
                        items=Property(Type.STRING, "One action."),
                    ),
                    "config": Property(description="The configuration, in the tool's format."),
                    "tool": Property(description="The tool that applies the configuration.", required=True),
                },
            ),
        ),
        "inputs": INPUTS,
        "outputs": OUTPUTS,
        "options": OPTIONS,
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterator[str]:
        yield from super().validate(properties)
        configs = properties["configs"]
        if has_unknown(configs):
            return
        used = Counter(action for config in configs for action in config["actions"])
        yield from (
            f"configs: the action {action!r} is in more than one configuration"
            for action, times in used.items()
            if times > 1
        )

    async def body(self, call: Call) -> dict[str, Any]:
        properties = call.properties
        return {
            "group": "component",
            "config": {"configs": properties["configs"]},
            "inputs": properties["inputs"],
            "outputs": properties["outputs"],
            "options": properties["options"],
        }
