"""Routers: gateways to external networks, interfaces on subnets, routes."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.typed import to_plain
from openstack_emulator.network.records.core import FixedIp, Gateway, Port, Route, Router, Subnet
from openstack_emulator.network.rules.addresses import FuturePort, address_in_use
from openstack_emulator.network.rules.attributes import address_of, network_of
from openstack_emulator.network.rules.errors import disallowed_by, in_use
from openstack_emulator.network.rules.inputs import RequestedGateway
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.networks import ZONES, check_zones
from openstack_emulator.network.rules.ports import Ports
from openstack_emulator.network.rules.resources import Resources, State

INTERFACE = "network:router_interface"
GATEWAY = "network:router_gateway"
MOST_ROUTES = 30


class Routers(Resources[Router]):
    """A gateway is a port of the router on an external network; an interface, one on a subnet of a project."""

    def __init__(self, state: State, kind: ResourceKind[Router], ports: Ports) -> None:
        super().__init__(state, kind)
        self.ports = ports

    def prepare_create(self, actor: Actor, draft: Router, values: Values) -> None:
        draft.distributed, draft.ha = bool(draft.distributed), bool(draft.ha)
        check_zones(draft.availability_zone_hints)
        draft.availability_zones = list(ZONES)
        wish = values.get("external_gateway_info")
        draft.external_gateway_info = self._choose_gateway(actor, draft, wish, "create")

    def after_create(self, actor: Actor, record: Router) -> None:
        self._put_gateway_port(record)

    def prepare_update(self, actor: Actor, record: Router, after: Router, values: Values) -> None:
        if "routes" in values:
            self._check_routes(record, after.routes)
        if "external_gateway_info" not in values:
            return
        wish = values["external_gateway_info"]
        present = record.external_gateway_info
        if present and (not wish or wish.network_id != present.network_id):
            self._refuse_while_floating(record)
        after.external_gateway_info = self._choose_gateway(actor, record, wish, "update")

    def after_update(self, actor: Actor, record: Router) -> None:
        info = record.external_gateway_info
        port = self._gateway_port(record)
        held = None if port is None else (port.network_id, port.fixed_ips)
        if held == (None if info is None else (info.network_id, info.external_fixed_ips)):
            return
        if port is not None:
            self.ports.forget(port)
        self._put_gateway_port(record)

    def refuse_delete(self, actor: Actor, record: Router) -> None:
        if self._interfaces(record):
            ids = ", ".join(port.id for port in self._interfaces(record))
            raise in_use("RouterInUse", f"Router {record.id} has ports still attached: {ids}")
        self._refuse_while_floating(record)

    def forget(self, record: Router) -> None:
        if (port := self._gateway_port(record)) is not None:
            self.ports.forget(port)
        super().forget(record)

    # Interfaces

    def add_interface(self, actor: Actor, record: Router, port_id: str, subnet_id: str) -> Port:
        """Join a subnet (with its gateway address) or take a port, whose ID is not empty then. Raises: ApiError."""
        self.refuse_unauthorized(actor, record, "add_router_interface")
        _require_one(port_id, subnet_id)
        if port_id and subnet_id:
            raise _bad_router("Cannot specify both subnet-id and port-id")
        if port_id:
            return self._own_port(actor, record, port_id)
        return self._new_port(record, self.state.of("subnets").reach(actor, subnet_id))

    def remove_interface(self, actor: Actor, record: Router, port_id: str, subnet_id: str) -> Port:
        """Leave a subnet or give up a port, which is deleted. Raises: ApiError."""
        self.refuse_unauthorized(actor, record, "remove_router_interface")
        _require_one(port_id, subnet_id)
        if subnet_id:
            self.state.of("subnets").reach(actor, subnet_id)
        port = self._find_interface(record, port_id, subnet_id)
        if subnet_id and all(fixed.subnet_id != subnet_id for fixed in port.fixed_ips):
            raise bad_request(
                f"Subnet on port {port_id} does not match the requested subnet {subnet_id}.", "SubnetMismatchForPort"
            )
        for fixed in port.fixed_ips:
            self._refuse_while_needed(record, fixed.subnet_id, port)
        self.ports.forget(port)
        return port

    def change_routes(self, actor: Actor, record: Router, added: list[Route], removed: list[Route]) -> None:
        """Add routes that are not there yet, and drop others. Raises: ApiError."""
        self.refuse_unauthorized(actor, record, "update")
        routes = [route for route in record.routes if route not in removed]
        routes += [route for route in added if route not in routes]
        self._check_routes(record, routes)
        self.change(record, routes=routes)

    def connecting(self, subnet_id: str, external_network_id: str) -> Router | None:
        """The router between a subnet and an external network, the one with the subnet's gateway address first."""
        gateway = self.state.rows.subnets.require(subnet_id).gateway_ip
        found: list[tuple[bool, Router]] = []
        taken = self.state.ports.taken(subnet_id)
        for number, port_id in taken.items():
            port = self.state.rows.ports.require(port_id)
            if port.device_owner == INTERFACE:
                router = self.rows.require(port.device_id)
                info = router.external_gateway_info
                if info and info.network_id == external_network_id:
                    found.append((gateway is None or number != int(address_of(gateway)), router))
        found.sort(key=lambda pair: pair[0])
        return found[0][1] if found else None

    def _own_port(self, actor: Actor, record: Router, port_id: str) -> Port:
        port = self.ports.reach(actor, port_id)
        if port.device_id:
            raise in_use(
                "PortInUse",
                f"Unable to complete operation on port {port_id} for network {port.network_id}. Port already has an "
                f"attached device {port.device_id}.",
            )
        if not port.fixed_ips:
            raise _bad_router("Router port must have at least one fixed IP")
        self._refuse_second_ipv6_port(record, port)
        for fixed in port.fixed_ips:
            self._refuse_overlap(record, self.state.rows.subnets.require(fixed.subnet_id))
        taken = {"device_id": record.id, "device_owner": INTERFACE, "status": "ACTIVE"}
        self.ports.change(port, **taken, security_groups=[], port_security_enabled=False)
        return port

    def _refuse_second_ipv6_port(self, record: Router, port: Port) -> None:
        """A router has one port for all IPv6 subnets of a network."""
        if not _has_ipv6(port):
            return
        for other in self._interfaces(record):
            if other.network_id == port.network_id and _has_ipv6(other):
                raise _bad_router(
                    f"Router already contains IPv6 port {other.id} belonging to network id {port.network_id}. "
                    "Only one IPv6 port from the same network subnet can be connected to a router."
                )

    def _new_port(self, record: Router, subnet: Subnet) -> Port:
        gateway = subnet.gateway_ip
        if not gateway:
            raise _bad_router("Subnet for router interface must have a gateway IP")
        self._refuse_overlap(record, subnet)
        if int(address_of(gateway)) in self.state.ports.taken(subnet.id):
            raise address_in_use(subnet.id, gateway)
        fixed = [FixedIp(subnet_id=subnet.id, ip_address=gateway)]
        return self.ports.put_service_port(subnet.network_id, INTERFACE, record.id, fixed, record.project_id)

    def _interfaces(self, record: Router) -> list[Port]:
        return self.state.rows.ports.select(device_id=record.id, device_owner=INTERFACE)

    def _find_interface(self, record: Router, port_id: str, subnet_id: str) -> Port:
        for port in self._interfaces(record):
            subnets = [fixed.subnet_id for fixed in port.fixed_ips]
            if port.id == port_id or (not port_id and subnet_id in subnets):
                return port
        if port_id:
            raise not_found(
                f"Router {record.id} does not have an interface with id {port_id}", "RouterInterfaceNotFound"
            )
        raise not_found(
            f"Router {record.id} has no interface on subnet {subnet_id}", "RouterInterfaceNotFoundForSubnet"
        )

    def _refuse_overlap(self, record: Router, subnet: Subnet) -> None:
        cidr = network_of(subnet.cidr)
        for port in self.state.rows.ports.select(device_id=record.id):
            for fixed in port.fixed_ips:
                if fixed.subnet_id == subnet.id:
                    raise _bad_router(f"Router already has a port on subnet {subnet.id}")
                other = self.state.rows.subnets.require(fixed.subnet_id)
                if network_of(other.cidr).overlaps(cidr):
                    raise _bad_router(
                        f"Cidr {cidr} of subnet {subnet.id} overlaps with cidr {other.cidr} of subnet {other.id}"
                    )

    def _refuse_while_needed(self, record: Router, subnet_id: str, port: Port) -> None:
        """409 while floating IPs go through an interface or routes lead to it."""
        cidr = network_of(self.state.rows.subnets.require(subnet_id).cidr)
        for floating in self.state.rows.floatingips.select(router_id=record.id):
            fixed = floating.fixed_ip_address
            target = self.state.rows.ports.get(floating.port_id or "")
            if fixed and target and target.network_id == port.network_id and address_of(fixed) in cidr:
                raise in_use(
                    "RouterInterfaceInUseByFloatingIP",
                    f"Router interface for subnet {subnet_id} on router {record.id} cannot be deleted, as it is "
                    "required by one or more floating IPs.",
                )
        for route in record.routes:
            if address_of(route.nexthop) in cidr:
                raise in_use(
                    "RouterInterfaceInUseByRoute",
                    f"Router interface for subnet {subnet_id} on router {record.id} cannot be deleted, as it is "
                    "required by one or more routes.",
                )

    def _refuse_while_floating(self, record: Router) -> None:
        if self.state.rows.floatingips.first(router_id=record.id) is not None:
            info = record.external_gateway_info
            raise in_use(
                "RouterExternalGatewayInUseByFloatingIp",
                f"Gateway cannot be updated for router {record.id}, since a gateway to external network "
                f"{info.network_id if info else ''} is required by one or more floating IPs.",
            )

    # Gateways and routes

    def _gateway_port(self, record: Router) -> Port | None:
        return self.state.rows.ports.first(device_id=record.id, device_owner=GATEWAY)

    def _choose_gateway(
        self, actor: Actor, record: Router, wish: RequestedGateway | None, action: str
    ) -> Gateway | None:
        """The gateway in full: addresses kept, chosen, or the ones asked for."""
        if wish is None:
            return None
        if not actor.admin:
            _refuse_details(wish, f"{action}_router")
        network = self.state.of("networks").reach(actor, wish.network_id)
        if not network.external:
            raise _bad_router(f"Network {network.id} is not an external network")
        port = self._gateway_port(record)
        held = port.fixed_ips if port is not None and port.network_id == network.id else []
        if wish.external_fixed_ips is None and held:
            chosen = held
        else:
            future = FuturePort(port.id if port else "", network.id, GATEWAY)
            chosen = self.ports.allocator.choose(future, wish.external_fixed_ips or None, held)
        present = record.external_gateway_info
        enabled = True if present is None else present.enable_snat
        snat = enabled if wish.enable_snat is None else wish.enable_snat
        return Gateway(network_id=network.id, enable_snat=snat, external_fixed_ips=chosen)

    def _put_gateway_port(self, record: Router) -> None:
        if (info := record.external_gateway_info) is not None:
            addresses = list(info.external_fixed_ips)
            self.ports.put_service_port(info.network_id, GATEWAY, record.id, addresses)

    def _check_routes(self, record: Router, routes: list[Route]) -> None:
        if len(routes) > MOST_ROUTES:
            raise bad_request(
                f"Unable to complete operation for {record.id}. The number of routes exceeds the maximum "
                f"{MOST_ROUTES}.",
                "RoutesExhausted",
            )
        ports = self.state.rows.ports.select(device_id=record.id)
        fixed = [f for port in ports for f in port.fixed_ips]
        ranges = [network_of(self.state.rows.subnets.require(f.subnet_id).cidr) for f in fixed]
        own = {f.ip_address for f in fixed}
        for route in routes:
            reason = ""
            if not any(address_of(route.nexthop) in cidr for cidr in ranges):
                reason = "the nexthop is not connected with router"
            elif route.nexthop in own:
                reason = "the nexthop is used by router"
            if reason:
                raise bad_request(
                    f"Invalid format for routes: {[to_plain(route) for route in routes]}, {reason}", "InvalidRoutes"
                )


def _refuse_details(gateway: RequestedGateway, action: str) -> None:
    """403 for a gateway with what only administrators may choose."""
    rule = f"rule:{action}:external_gateway_info"
    if gateway.enable_snat is not None or gateway.external_fixed_ips is not None:
        rules = " and ".join(f"{rule}:{name}" for name in gateway.names)
        raise disallowed_by(f"(rule:{action} and ({rule} and ({rules})))")


def _require_one(port_id: str, subnet_id: str) -> None:
    if not port_id and not subnet_id:
        raise _bad_router("Either subnet_id or port_id must be specified")


def _has_ipv6(port: Port) -> bool:
    return any(address_of(fixed.ip_address).version == 6 for fixed in port.fixed_ips)


def _bad_router(reason: str) -> ApiError:
    return bad_request(f"Bad router request: {reason}.", "BadRequest")
