"""OS::Neutron::L2Gateway, OS::Neutron::L2GatewayConnection and OS::Neutron::NetworkGateway: to physical networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.capabilities import ConditionallyReplaced
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.declare import between, custom, length, one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.wire import NOT_SENT, to_wire
from stoker.schema.live import never
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_SINCE = Support(version="12.0.0")


class L2Gateway(NeutronResource):
    """Devices that connect networks with physical ones."""

    type_name = "OS::Neutron::L2Gateway"
    description = "Devices that connect networks with physical networks on layer 2."
    collection = collection("l2_gateway", "/v2.0/l2-gateways")
    extension = "l2-gateway"
    support = _SINCE

    properties = {
        "name": Property(description="Name of the gateway.", required=True, change=Change.UPDATE),
        "devices": Property(
            Type.LIST,
            "The devices.",
            required=True,
            items=Property(
                Type.MAP,
                "A device.",
                schema={
                    "device_name": Property(description="Name of the device.", required=True),
                    "interfaces": Property(
                        Type.LIST,
                        "Interfaces of the device.",
                        required=True,
                        items=Property(
                            Type.MAP,
                            "An interface.",
                            schema={
                                "name": Property(description="Name of the interface.", required=True),
                                "segmentation_id": Property(Type.LIST, "Numbers of VLANs."),
                            },
                        ),
                    ),
                },
            ),
            change=Change.UPDATE,
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return dict(_compact(await super().create_body(call)))

    async def update_body(self, call: Call) -> dict[str, object]:
        return dict(_compact(await super().update_body(call)))

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, _compact(shown))
        if _compact(call.properties["devices"]) == _compact(shown.get("devices")):
            found.pop("devices", None)
        return found


class L2GatewayConnection(NeutronResource):
    """The connection of a network to a gateway."""

    type_name = "OS::Neutron::L2GatewayConnection"
    description = "Connects a network to the devices of an L2 gateway."
    collection = collection("l2_gateway_connection", "/v2.0/l2-gateway-connections")
    identity = None
    extension = "l2-gateway-connection"
    support = _SINCE
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A network is connected to a gateway once; the connection must belong to no other resource.",
    )

    properties = {
        "l2_gateway_id": Property(description="ID of the gateway.", required=True),
        "network_id": Property(description="ID of the network.", required=True, constraints=custom("neutron.network")),
        "segmentation_id": Property(description="Number of the VLAN."),
    }


class NetworkGateway(NeutronResource, ConditionallyReplaced):
    """A gateway whose devices are given by their IDs."""

    type_name = "OS::Neutron::NetworkGateway"
    description = "Devices that connect networks with physical networks, by the IDs of the devices."
    collection = collection("network_gateway", "/v2.0/network-gateways")
    support = Support(version="2014.1")

    properties = {
        "name": Property(description="Name of the gateway.", change=Change.UPDATE),
        "devices": Property(
            Type.LIST,
            "The devices; other devices need a new gateway.",
            required=True,
            constraints=length(1),
            items=Property(
                Type.MAP,
                "A device.",
                schema={
                    "id": Property(description="ID of the device.", required=True),
                    "interface_name": Property(description="Name of the interface.", required=True),
                },
            ),
            change=Change.UPDATE,
        ),
        "connections": Property(
            Type.LIST,
            "The networks that are connected.",
            default=[],
            items=Property(
                Type.MAP,
                "A connection.",
                schema={
                    "network_id": Property(
                        description="Older name of network.",
                        constraints=custom("neutron.network"),
                        support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
                    ),
                    "network": Property(
                        description="The network, by name or ID.",
                        required=True,
                        support=Support(version="2014.2"),
                        wire="network_id",
                        reference="neutron.network",
                        replaces="network_id",
                    ),
                    "segmentation_type": Property(
                        description="How traffic of the network is tagged.",
                        default="flat",
                        constraints=one_of("flat", "vlan"),
                    ),
                    "segmentation_id": Property(Type.INTEGER, "Number of the VLAN.", constraints=between(0, 4094)),
                },
            ),
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=never("the service does not show which networks are connected"),
        ),
    }
    attributes = {"default": Attribute("Whether this is the default gateway.", Type.STRING)}

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        connections = properties.get("connections")
        for connection in [] if is_unknown(connections) else connections or []:
            if is_unknown(connection):
                continue
            kind, number = connection.get("segmentation_type"), connection.get("segmentation_id")
            if kind == "vlan" and number is None:
                yield "segmentation_id must be given for segmentation_type vlan"
            if kind == "flat" and isinstance(number, int) and number:
                yield "segmentation_id must be 0, or not be given, for segmentation_type flat"

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        return "the devices of a network gateway cannot be changed" if "devices" in changed else None

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["connections"])

    async def add_extras(self, call: Call) -> None:
        for connection in self._connections(call.properties):
            await self._request(call, "connect_network", connection, ok=(409,))

    async def change_extras(self, call: Call) -> None:
        if "connections" not in call.changed:
            return
        before, after = self._connections(call.previous or {}), self._connections(call.properties)
        for connection in before:
            if connection not in after:
                await self._request(call, "disconnect_network", connection, ok=(404,))
        for connection in after:
            if connection not in before:
                await self._request(call, "connect_network", connection, ok=(409,))

    async def remove(self, call: Call) -> None:
        for connection in self._connections(call.properties):
            await self._request(call, "disconnect_network", connection, ok=(404,))
        await super().remove(call)

    def _connections(self, properties: Mapping[str, Any]) -> list[Any]:
        item = self.properties["connections"].items
        schema = {} if item is None else item.schema or {}
        return [_compact(to_wire(schema, connection)) for connection in properties.get("connections") or []]

    async def _request(self, call: Call, verb: str, connection: Mapping[str, object], ok: tuple[int, ...]) -> None:
        await call.cloud.put("neutron", f"{self.member_path(call)}/{verb}", connection, ok=ok, once=True)


def _compact(value: object) -> Any:
    """Return the value without nulls, at any depth."""
    if isinstance(value, Mapping):
        return {key: _compact(item) for key, item in value.items() if item is not None}
    return [_compact(item) for item in value] if isinstance(value, list) else value
