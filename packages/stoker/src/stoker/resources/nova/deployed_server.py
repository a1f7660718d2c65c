"""OS::Heat::DeployedServer: a machine that exists already, and that an agent on it configures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from stoker.plugins.agents import AGENT
from stoker.plugins.capabilities import SnapshotBeforeDelete
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.plugins.transports import configuration_transports, secrets_of
from stoker.resources.base import value_at
from stoker.resources.heat.users.companion_user import adopt_user
from stoker.resources.nova.server.schema import PROPERTIES
from stoker.resources.nova.server.server import NAME_LIMIT, Server
from stoker.resources.nova.software_config import LOCAL, dismiss, equip, reconfigure
from stoker.schema.property import Attribute, Change, Property, Support, Type

_TRANSPORT = "software_config_transport"


class DeployedServer(ResourceType, SnapshotBeforeDelete):
    """A machine that no compute service knows; its ID is the resource's own."""

    type_name = "OS::Heat::DeployedServer"
    description = "A machine that exists already, for software deployments to it."
    service = "heat"
    object_ids = ObjectIds()
    physical_name_limit = NAME_LIMIT
    snapshot_on_delete = True
    redacted_data = Server.redacted_data
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        "The ID is the resource's own; the user and the place of the metadata are recorded before they are created.",
    )

    properties = {
        "name": Property(description="Name of the machine.", change=Change.UPDATE),
        "metadata": Property(
            Type.MAP,
            "Has no effect.",
            change=Change.UPDATE,
            support=Support("DEPRECATED", "9.0.0", previous=Support(version="8.0.0")),
        ),
        _TRANSPORT: PROPERTIES[_TRANSPORT],
        "deployment_swift_data": PROPERTIES["deployment_swift_data"],
    }
    attributes = {
        "name": Attribute("Name of the machine.", Type.STRING),
        "os_collect_config": Attribute(
            "Configuration of the machine's agent, os-collect-config.",
            Type.MAP,
            live=True,
            support=Support(version="9.0.0"),
        ),
    }

    def configure(self, options: Mapping[str, Any]) -> None:
        self.physical_name_limit = options.get("max_server_name_length", NAME_LIMIT)
        default = options.get("default_software_config_transport")
        if default:
            own = type(self).properties
            self.properties = {**own, _TRANSPORT: replace(own[_TRANSPORT], default=default)}
        self.redacted_data = type(self).redacted_data | secrets_of(configuration_transports())

    async def create(self, call: Call) -> Outcome:
        outcome = await equip(call, LOCAL)
        return Done(physical_id=call.resource.uuid) if isinstance(outcome, Done) else outcome

    async def update(self, call: Call) -> Outcome:
        return await reconfigure(call, LOCAL)

    async def delete(self, call: Call) -> Outcome:
        return await dismiss(call)

    async def snapshot_delete(self, call: Call) -> Outcome:
        """Delete the resource; a machine that no service knows has no content that could be copied."""
        return await self.delete(call)

    async def adopt(self, call: Call) -> Outcome:
        return await adopt_user(call)

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return call.physical_id is None

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values = {
            "name": call.properties["name"] or call.physical_name,
            "os_collect_config": call.metadata.get(AGENT) or {},
        }
        return {key: value_at(values, key) for key in keys}
