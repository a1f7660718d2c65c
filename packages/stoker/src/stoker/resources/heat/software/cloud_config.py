"""OS::Heat::CloudConfig"""

from __future__ import annotations

from typing import Any

import yaml

from stoker.plugins.resource import Call
from stoker.resources.heat.software.software_config_base import StoredConfig
from stoker.schema.property import Property, Support, Type


class CloudConfig(StoredConfig):
    """A configuration in cloud-init's cloud-config format."""

    type_name = "OS::Heat::CloudConfig"
    description = "A cloud-config document for cloud-init."
    support = Support(version="2014.1")

    properties = {"cloud_config": Property(Type.MAP, "The document as a map.")}

    async def body(self, call: Call) -> dict[str, Any]:
        document = yaml.safe_dump(call.properties["cloud_config"] or {}, default_flow_style=False)
        return {"config": f"#cloud-config\n{document}"}
