"""OS::Ironic::Port"""

from __future__ import annotations

from collections.abc import Mapping

from stoker.base.errors import NotSupported
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Waiter
from stoker.resources.base import Collection, RestResource
from stoker.schema.property import Attribute, Change, Property, Support, Type

GONE = Waiter.until("DELETED", failed=())
SINCE = {
    "pxe_enabled": "1.19",
    "local_link_connection": "1.19",
    "portgroup": "1.24",
    "physical_network": "1.34",
    "is_smartnic": "1.53",
}
"""Properties that the API has since a microversion."""


class Port(RestResource):
    """A port of a node. Ironic stores the address in lower case, and gives no address to two ports."""

    type_name = "OS::Ironic::Port"
    description = "A network interface of a bare-metal node."
    for_administrators = True
    collection = Collection(
        "ironic", "/ports", members="ports", id_field="uuid", list_path="/ports/detail", owner=None, update="PATCH"
    )
    identity = "address"
    exclusion = Exclusion.by(("address",))
    deleting = GONE
    kept_after_failure = True
    support = Support(version="13.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "There is one port with an address. It must also have been created since the action began, have the requested "
        "properties, and belong to no other resource.",
    )

    properties = {
        "node": Property(
            description="The node, by name or UUID.",
            required=True,
            change=Change.UPDATE,
            wire="node_uuid",
            reference="ironic.node",
        ),
        "address": Property(description="The MAC address.", required=True, change=Change.UPDATE),
        "portgroup": Property(
            description="The port group, by name or UUID.",
            change=Change.UPDATE,
            wire="portgroup_uuid",
            reference="ironic.portgroup",
        ),
        "local_link_connection": Property(
            Type.MAP,
            "Where the port is connected: switch_id and port_id, and optionally switch_info.",
            change=Change.UPDATE,
        ),
        "pxe_enabled": Property(Type.BOOLEAN, "Whether the node can boot from the port.", change=Change.UPDATE),
        "physical_network": Property(
            description="The physical network to which the port is connected.", change=Change.UPDATE
        ),
        "extra": Property(Type.MAP, "Further metadata.", change=Change.UPDATE),
        "is_smartnic": Property(Type.BOOLEAN, "Whether the port is one of a smart NIC.", change=Change.UPDATE),
    }
    attributes = {
        "address": Attribute("The MAC address.", Type.STRING),
        "node_uuid": Attribute("UUID of the node.", Type.STRING),
        "portgroup_uuid": Attribute("UUID of the port group.", Type.STRING),
        "local_link_connection": Attribute("Where the port is connected.", Type.MAP),
        "pxe_enabled": Attribute("Whether the node can boot from the port.", Type.BOOLEAN),
        "physical_network": Attribute("The physical network.", Type.STRING),
        "internal_info": Attribute("What Ironic records about the port.", Type.MAP),
        "extra": Attribute("Further metadata.", Type.MAP),
        "is_smartnic": Attribute("Whether the port is one of a smart NIC.", Type.BOOLEAN),
    }

    async def create(self, call: Call) -> Outcome:
        await _require_support(call, call.properties)
        return await super().create(call)

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return {**body, "address": str(body["address"]).lower()}

    async def update(self, call: Call) -> Outcome:
        await _require_support(call, call.changed)
        return await super().update(call)

    async def send_update(self, call: Call, body: Mapping[str, object]) -> dict[str, object]:
        """Send the changes as a JSON Patch (RFC 6902); a property that is removed gets its default."""
        patch = [
            {"op": "remove", "path": f"/{name}"}
            if value is None
            else {"op": "replace", "path": f"/{name}", "value": value}
            for name, value in body.items()
        ]
        path = self.member_path(call)
        answer = await call.cloud.request("PATCH", self.collection.service, path, json=patch)
        return self.collection.unwrap(answer.body)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, shown)
        if str(found.get("address", "")).lower() == str(call.properties["address"]).lower():
            del found["address"]
        return found


async def _require_support(call: Call, given: Mapping[str, object]) -> None:
    """Raise NotSupported for properties with a value that the API in use does not have."""
    for name, version in SINCE.items():
        if given.get(name) is not None and not await call.cloud.supports("ironic", version):
            raise NotSupported(f"{name} requires microversion {version} of the bare-metal service, which is not in use")
