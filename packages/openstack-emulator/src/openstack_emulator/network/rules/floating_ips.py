"""Floating IPs."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.network.records.core import FixedIp, FloatingIp, Port
from openstack_emulator.network.rules.addresses import FuturePort
from openstack_emulator.network.rules.attributes import address_of, network_of
from openstack_emulator.network.rules.errors import in_use
from openstack_emulator.network.rules.inputs import RequestedAddress
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.ports import Ports
from openstack_emulator.network.rules.resources import Resources, State
from openstack_emulator.network.rules.routers import Routers

OWNER = "network:floatingip"
SETTLE_SECONDS = 0.05


class FloatingIps(Resources[FloatingIp]):
    """An address of an external network, held by a port of its own, leading to a port behind a router."""

    def __init__(self, state: State, kind: ResourceKind[FloatingIp], ports: Ports, routers: Routers) -> None:
        super().__init__(state, kind)
        self.ports = ports
        self.routers = routers

    def prepare_create(self, actor: Actor, draft: FloatingIp, values: Values) -> None:
        network = self.state.rows.networks.require(draft.floating_network_id)
        if not network.external:
            raise _bad(f"Network {network.id} is not a valid external network")
        draft.floating_ip_address = self._choose_address(draft, values.get("subnet_id"))
        if draft.fixed_ip_address and not draft.port_id:
            raise _bad("fixed_ip_address cannot be specified without a port_id")
        self._associate(actor, draft, draft.fixed_ip_address)

    def after_create(self, actor: Actor, record: FloatingIp) -> None:
        address = record.floating_ip_address
        subnets = self.state.rows.subnets.select(network_id=record.floating_network_id)
        subnet = next(subnet for subnet in subnets if address_of(address) in network_of(subnet.cidr))
        fixed = FixedIp(subnet_id=subnet.id, ip_address=address)
        self.ports.put_service_port(record.floating_network_id, OWNER, record.id, [fixed])
        self.later(SETTLE_SECONDS, self.settle, record.id)

    def prepare_update(self, actor: Actor, record: FloatingIp, after: FloatingIp, values: Values) -> None:
        if values.get("fixed_ip_address") and not after.port_id:
            raise _bad("fixed_ip_address cannot be specified without a port_id")
        if "port_id" not in values and "fixed_ip_address" not in values:
            return
        if self.state.rows.port_forwardings.first(floatingip_id=record.id) is not None:
            raise in_use("FipInUseByPortForwarding", f"Floating IP {record.id} in use by Port Forwarding resources.")
        self._associate(actor, after, values.get("fixed_ip_address"))

    def change(self, record: FloatingIp, **changes: object) -> None:
        super().change(record, **changes)
        if "router_id" in changes:
            self.later(SETTLE_SECONDS, self.settle, record.id)

    def settle(self, key: str) -> None:
        """Show the state that the router's agent reports some time after a change."""
        record = self.rows.get(key)
        status = "ACTIVE" if record and record.router_id else "DOWN"
        if record is not None and record.status != status:
            self.change(record, status=status)

    def forget(self, record: FloatingIp) -> None:
        for port in self.state.rows.ports.select(device_id=record.id, device_owner=OWNER):
            self.ports.forget(port)
        super().forget(record)

    def _choose_address(self, draft: FloatingIp, subnet_id: str | None) -> str:
        """A free IPv4 address of the external network, of the subnet or the very one asked for."""
        network_id = draft.floating_network_id
        requested = RequestedAddress(subnet_id or None, draft.floating_ip_address or None)
        subnets = self.state.rows.subnets.select(network_id=network_id)
        if not any(subnet.ip_version == 4 for subnet in subnets):
            raise _bad(f"Network {network_id} does not contain any IPv4 subnet")
        port = FuturePort("", network_id, OWNER)
        try:
            chosen = self.ports.allocator.choose(port, None if requested == RequestedAddress() else [requested])
        except ApiError as error:
            if error.kind == "IpAddressGenerationFailure":
                raise conflict(
                    f"Unable to find any IP address on external network {network_id}.", "ExternalIpAddressExhausted"
                ) from None
            raise
        return chosen[0].ip_address

    def _associate(self, actor: Actor, wish: FloatingIp, fixed_address: str | None) -> None:
        """Tie a floating IP to its port, and to an address of the port. Raises: ApiError when no router joins them."""
        if not wish.port_id:
            wish.port_id = wish.fixed_ip_address = wish.router_id = None
            return
        port = self.ports.reach(actor, wish.port_id)
        fixed = self._fixed_ip(port, fixed_address)
        self._refuse_second(wish, port, fixed.ip_address)
        router = self.routers.connecting(fixed.subnet_id, wish.floating_network_id)
        if router is None:
            raise not_found(
                f"External network {wish.floating_network_id} is not reachable from subnet {fixed.subnet_id}.  "
                f"Therefore, cannot associate Port {port.id} with a Floating IP.",
                "ExternalGatewayForFloatingIPNotFound",
            )
        wish.fixed_ip_address, wish.router_id = fixed.ip_address, router.id

    def _fixed_ip(self, port: Port, fixed_address: str | None) -> FixedIp:
        own = [f for f in port.fixed_ips if address_of(f.ip_address).version == 4]
        if fixed_address is not None:
            for fixed in own:
                if fixed.ip_address == fixed_address:
                    return fixed
            raise _bad(f"Port {port.id} does not have fixed ip {fixed_address}")
        if not own:
            raise _bad(f"Cannot add floating IP to port {port.id} that has no fixed IPv4 addresses")
        if len(own) > 1:
            raise _bad(f"Port {port.id} has multiple fixed IPv4 addresses.  Must provide a specific IPv4 address")
        return own[0]

    def _refuse_second(self, wish: FloatingIp, port: Port, fixed: str) -> None:
        for other in self.rows.select(port_id=port.id):
            if (
                other.id != wish.id
                and other.fixed_ip_address == fixed
                and other.floating_network_id == wish.floating_network_id
            ):
                raise conflict(
                    f"Cannot associate floating IP {wish.floating_ip_address} ({wish.id}) with port "
                    f"{port.id} using fixed IP {fixed}, as that fixed IP already has a floating IP on external "
                    f"network {wish.floating_network_id}.",
                    "FloatingIPPortAlreadyAssociated",
                )


def _bad(reason: str) -> ApiError:
    return bad_request(f"Bad floatingip request: {reason}.", "BadRequest")
