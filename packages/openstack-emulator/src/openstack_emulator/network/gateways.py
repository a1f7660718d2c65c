"""Network gateways: which networks they connect to the physical world."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.store import Record
from openstack_emulator.network.errors import in_use
from openstack_emulator.network.kinds import Actor
from openstack_emulator.network.table import Table

KEYS = ("network_id", "segmentation_type", "segmentation_id")


class NetworkGateways(Table):
    """Connections are kept with the gateway, as its `ports`."""

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        if record["ports"]:
            raise in_use(
                "NetworkGatewayInUse",
                f"Network Gateway '{record['id']}' still has active mappings with one or more neutron networks.",
            )

    def connect(self, actor: Actor, record: Record, body: Record) -> Record:
        """Join a network: `{network_id, segmentation_type, segmentation_id}`. Raises: ApiError."""
        self.refuse_strangers(actor, record, "connect_network")
        connection = _connection(body)
        self.state.table("networks").reach(actor, connection["network_id"])
        if any(_connection(port) == connection for port in record["ports"]):
            raise conflict(
                f"The specified mapping '{connection}' is already in use on network gateway '{record['id']}'.",
                "GatewayConnectionInUse",
            )
        self.change(record, {"ports": [*record["ports"], connection]})
        return {"connection_info": {"network_gateway_id": record["id"], **connection}}

    def disconnect(self, actor: Actor, record: Record, body: Record) -> Record:
        """Leave a network. Raises: ApiError 404 when it is not connected."""
        self.refuse_strangers(actor, record, "disconnect_network")
        connection = _connection(body)
        kept = [port for port in record["ports"] if port != connection]
        if len(kept) == len(record["ports"]):
            raise not_found(
                f"The connection {connection} was not found on the network gateway '{record['id']}'",
                "GatewayConnectionNotFound",
            )
        self.change(record, {"ports": kept})
        return {"connection_info": {"network_gateway_id": record["id"], **connection}}


def _connection(body: Record) -> Record:
    if not body.get("network_id"):
        raise bad_request("Failed to parse request. Required attribute 'network_id' not specified")
    if unknown := body.keys() - set(KEYS):
        raise bad_request(f"Unrecognized attribute(s) '{min(unknown)}'")
    return {"network_id": body["network_id"], "segmentation_type": body.get("segmentation_type") or "flat",
            "segmentation_id": int(body.get("segmentation_id") or 0)}  # fmt: skip
