"""Port forwardings of floating IPs."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.network.records.core import FloatingIp, PortForwarding
from openstack_emulator.network.rules.attributes import address_of
from openstack_emulator.network.rules.errors import in_use, invalid_input
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.ports import Ports
from openstack_emulator.network.rules.resources import Resources, State
from openstack_emulator.network.rules.routers import Routers


class PortForwardings(Resources[PortForwarding]):
    """One external port of a floating IP leads to one internal port."""

    def __init__(self, state: State, kind: ResourceKind[PortForwarding], ports: Ports, routers: Routers) -> None:
        super().__init__(state, kind)
        self.ports = ports
        self.routers = routers

    def prepare_create(self, actor: Actor, draft: PortForwarding, values: Values) -> None:
        floating = self.state.rows.floatingips.require(draft.floatingip_id)
        if floating.port_id:
            raise in_use(
                "FipInUseByOtherResource",
                f"Floating IP {floating.id} is associated to port {floating.port_id} and cannot be used for port "
                "forwarding.",
            )
        draft.project_id = floating.project_id
        self._complete(actor, draft, values.get("internal_ip_address"), floating)

    def after_create(self, actor: Actor, record: PortForwarding) -> None:
        self._connect(record)

    def prepare_update(self, actor: Actor, record: PortForwarding, after: PortForwarding, values: Values) -> None:
        floating = self.state.rows.floatingips.require(record.floatingip_id)
        moved = "internal_port_id" in values and "internal_ip_address" not in values
        self._complete(actor, after, None if moved else after.internal_ip_address, floating)

    def after_update(self, actor: Actor, record: PortForwarding) -> None:
        self._connect(record)

    def forget(self, record: PortForwarding) -> None:
        super().forget(record)
        floating = self.state.rows.floatingips.get(record.floatingip_id)
        if floating is not None and self.rows.first(floatingip_id=floating.id) is None:
            self.state.of("floatingips").change(floating, router_id=None)

    def _connect(self, record: PortForwarding) -> None:
        floating = self.state.rows.floatingips.require(record.floatingip_id)
        self.state.of("floatingips").change(floating, router_id=record.router)

    def _complete(
        self, actor: Actor, forwarding: PortForwarding, fixed_address: str | None, floating: FloatingIp
    ) -> None:
        """Set the internal address, the one asked for if any, and the router on the way. Raises: ApiError."""
        port = self.ports.reach(actor, forwarding.internal_port_id)
        fixed = [f for f in port.fixed_ips if address_of(f.ip_address).version == 4]
        matching = [f for f in fixed if fixed_address in (None, f.ip_address)]
        if not matching:
            raise invalid_input(f"port {port.id} has no fixed IPv4 address {fixed_address or ''}.")
        forwarding.internal_ip_address = matching[0].ip_address
        for other in self.rows.select(floatingip_id=floating.id):
            same = (other.protocol, other.external_port) == (forwarding.protocol, forwarding.external_port)
            if same and other.id != forwarding.id:
                side, number = "external", forwarding.external_port
                if other.internal_port == forwarding.internal_port:
                    side, number = "internal", forwarding.internal_port
                collision = f"{number}:{number} and {number}:{number}"
                raise bad_request(
                    f"Bad port_forwarding request: There is a port collision with the {side}_port_range. The following "
                    f"ranges collide: {collision}.",
                    "BadRequest",
                )
        router = self.routers.connecting(matching[0].subnet_id, floating.floating_network_id)
        if router is None:
            raise not_found(
                f"External network {floating.floating_network_id} is not reachable from subnet "
                f"{matching[0].subnet_id}.",
                "ExternalGatewayForFloatingIPNotFound",
            )
        forwarding.router = router.id
