"""Network gateways: which networks they connect to the physical world."""

from __future__ import annotations

from openstack_emulator.core.errors import conflict, not_found
from openstack_emulator.core.typed import to_plain
from openstack_emulator.network.records.services import Connection, NetworkGateway
from openstack_emulator.network.rules.errors import in_use
from openstack_emulator.network.rules.kinds.kind import Actor
from openstack_emulator.network.rules.resources import Resources


class NetworkGateways(Resources[NetworkGateway]):
    """Connections are kept with the gateway, as its `ports`."""

    def refuse_delete(self, actor: Actor, record: NetworkGateway) -> None:
        if record.ports:
            raise in_use(
                "NetworkGatewayInUse",
                f"Network Gateway '{record.id}' still has active mappings with one or more neutron networks.",
            )

    def connect(self, actor: Actor, record: NetworkGateway, connection: Connection) -> None:
        """Join a network. Raises: ApiError."""
        self.state.of("networks").reach(actor, connection.network_id)
        if connection in record.ports:
            raise conflict(
                f"The specified mapping '{to_plain(connection)}' is already in use on network gateway '{record.id}'.",
                "GatewayConnectionInUse",
            )
        self.change(record, ports=[*record.ports, connection])

    def disconnect(self, record: NetworkGateway, connection: Connection) -> None:
        """Leave a network. Raises: ApiError 404 when it is not connected."""
        remaining = [port for port in record.ports if port != connection]
        if len(remaining) == len(record.ports):
            raise not_found(
                f"The connection {to_plain(connection)} was not found on the network gateway '{record.id}'",
                "GatewayConnectionNotFound",
            )
        self.change(record, ports=remaining)
