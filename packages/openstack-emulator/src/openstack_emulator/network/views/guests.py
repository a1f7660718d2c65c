"""How guests are connected: the ports, networks, routers and security groups, as drivers of guests understand them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from openstack_emulator.core.guests.topology import (
    METADATA_ADDRESS,
    Advertisement,
    Balancer,
    ForwardedAddress,
    Lease,
    Lease6,
    Link,
    Network,
    Port,
    PortForwarding,
    Route,
    Router,
    Rule,
    Topology,
)
from openstack_emulator.guests.rules import admits
from openstack_emulator.network.records import core as records
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.group_rules import NUMBERS
from openstack_emulator.network.rules.routers import GATEWAY, INTERFACE

SERVERS = "compute:"
DHCP = "network:dhcp"
VERSIONS = {"IPv4": 4, "IPv6": 6}
DEFAULT_ROUTE = {4: "0.0.0.0/0", 6: "::/0"}
STATEFUL = "dhcpv6-stateful"
DHCPV6_MODES = frozenset({STATEFUL, "dhcpv6-stateless"})
LARGEST_RANGE = 64
COMMON_PORTS = (22, 80, 443, 3000, 5000, 8000, 8080, 8443, 9000)
"""What is forwarded of larger ranges of open ports."""


class TopologyView:
    """Derives the topology from the records of the network service, as they are now: a view is not kept."""

    def __init__(self, network: NetworkService) -> None:
        self._metadata_servers: dict[str, str | None] = {}
        self._network = network
        self._rows = network.state.rows

    def topology(self) -> Topology:
        """Return how the guests of all servers are connected."""
        ports = [row for row in self._rows.ports if row.device_owner.startswith(SERVERS) and row.device_id]
        ports.sort(key=lambda port: port.place)
        groups = {group for port in ports for group in port.security_groups}
        rules = {group: self._rules(group) for group in sorted(groups)}
        used = sorted({rule.remote[1:] for own in rules.values() for rule in own if rule.remote.startswith("@")})
        networks = {row.id: self._network_of(row) for row in self._rows.networks}
        routers = {row.id: self._router(row) for row in self._rows.routers if row.admin_state_up}
        found = {port.id: self._port(port) for port in ports if self._is_up(port)}
        balancers = self._network.state.balancers()
        return Topology(
            networks=networks,
            ports=found,
            routers=routers,
            rules=rules,
            members={key: self._members(key) for key in used},
            forwarded_addresses=self._forwarded_addresses(found, rules, networks, balancers),
            balancers=balancers,
        )

    def name_servers(self, guest_id: str) -> list[str]:
        """Return the name servers of a server's subnets."""
        fixed = [fixed_ip for port in self._network.ports_of_device(guest_id) for fixed_ip in port.fixed_ips]
        subnets = [self._rows.subnets.require(fixed_ip.subnet_id) for fixed_ip in fixed]
        return list(dict.fromkeys(server for subnet in subnets for server in subnet.dns_nameservers))

    def attachment(self, port: records.Port) -> tuple[Link, tuple[Route, ...]]:
        """Return how a port of a load balancer is connected, with its routes."""
        return self._link(port), tuple(route for fixed in port.fixed_ips for route in self._routes(fixed.subnet_id))

    # Ports and networks

    def _is_up(self, port: records.Port) -> bool:
        return bool(port.admin_state_up and self._rows.networks.require(port.network_id).admin_state_up)

    def _addresses(self, port: records.Port) -> tuple[str, ...]:
        return tuple(self._with_prefix(fixed) for fixed in port.fixed_ips)

    def _with_prefix(self, fixed: records.FixedIp) -> str:
        cidr = self._rows.subnets.require(fixed.subnet_id).cidr
        return f"{fixed.ip_address}/{cidr.partition('/')[2]}"

    def _port(self, port: records.Port) -> Port:
        pairs = tuple((pair.mac_address, str(pair.ip_address)) for pair in port.allowed_address_pairs)
        return Port(
            port.id,
            port.device_id,
            port.network_id,
            port.mac_address,
            self._addresses(port),
            routes=tuple(route for fixed in port.fixed_ips for route in self._routes(fixed.subnet_id)),
            secured=port.port_security_enabled,
            pairs=pairs,
            groups=tuple(port.security_groups),
            lease=self._lease(port),
            lease6=self._lease6(port),
        )

    def _lease(self, port: records.Port) -> Lease | None:
        for fixed in port.fixed_ips:
            subnet = self._rows.subnets.require(fixed.subnet_id)
            if subnet.ip_version == 4 and subnet.enable_dhcp:
                servers = tuple(subnet.dns_nameservers)
                mtu = self._rows.networks.require(port.network_id).mtu
                return Lease(self._with_prefix(fixed), tuple(self._routes(subnet.id)), servers, mtu)
        return None

    def _lease6(self, port: records.Port) -> Lease6 | None:
        """Return what DHCPv6 gives; None where the subnets of a port have no such server."""
        fixed = [(self._rows.subnets.require(fixed_ip.subnet_id), fixed_ip.ip_address) for fixed_ip in port.fixed_ips]
        served = [(subnet, address) for subnet, address in fixed if subnet.ipv6_address_mode in DHCPV6_MODES]
        if not served:
            return None
        addresses = tuple(address for subnet, address in served if subnet.ipv6_address_mode == STATEFUL)
        return Lease6(addresses, _name_servers6(subnet for subnet, _ in served))

    def _announced(self, port: records.Port) -> Advertisement | None:
        """Return what a router announces on an interface: the subnets with a mode of router advertisements."""
        own = [self._rows.subnets.require(fixed_ip.subnet_id) for fixed_ip in port.fixed_ips]
        subnets = [subnet for subnet in own if subnet.ipv6_ra_mode]
        if not subnets:
            return None
        modes = {subnet.ipv6_ra_mode for subnet in subnets}
        return Advertisement(
            tuple((subnet.cidr, subnet.ipv6_ra_mode != STATEFUL) for subnet in subnets),
            STATEFUL in modes,
            bool(modes & DHCPV6_MODES),
            _name_servers6(subnets),
            self._rows.networks.require(port.network_id).mtu,
        )

    def _routes(self, subnet_id: str) -> list[tuple[str, str]]:
        """Return the routes that a guest gets with an address of a subnet."""
        subnet = self._rows.subnets.require(subnet_id)
        routes = [(route.destination, route.nexthop) for route in subnet.host_routes]
        if (server := self._metadata_server(subnet)) is not None:
            routes.append((f"{METADATA_ADDRESS}/32", server))
        default = DEFAULT_ROUTE[subnet.ip_version]
        if subnet.gateway_ip and default not in dict(routes):
            routes.append((default, subnet.gateway_ip))
        return routes

    def _metadata_server(self, subnet: records.Subnet) -> str | None:
        """Return the address on a subnet by which the metadata service is reached without a router: that of the DHCP
        server, if the subnet has one, but no router at its gateway, as with Neutron's `enable_isolated_metadata`."""
        if subnet.id not in self._metadata_servers:
            self._metadata_servers[subnet.id] = self._isolated_server(subnet)
        return self._metadata_servers[subnet.id]

    def _isolated_server(self, subnet: records.Subnet) -> str | None:
        if subnet.ip_version != 4 or not subnet.enable_dhcp:
            return None
        ports = self._rows.ports
        owned = {
            owner: [
                fixed.ip_address
                for port in ports.select(network_id=subnet.network_id, device_owner=owner)
                for fixed in port.fixed_ips
                if fixed.subnet_id == subnet.id
            ]
            for owner in (DHCP, INTERFACE)
        }
        return None if subnet.gateway_ip in owned[INTERFACE] else next(iter(owned[DHCP]), None)

    def _network_of(self, network: records.Network) -> Network:
        """Return a network with the addresses of its DHCP port, or of the outside of an external one."""
        if network.external:
            subnets = self._rows.subnets.select(network_id=network.id)
            own = [f"{s.gateway_ip}/{s.cidr.partition('/')[2]}" for s in subnets if s.gateway_ip]
            return Network(network.id, network.mtu, tuple(own))
        served = self._rows.ports.select(network_id=network.id, device_owner=DHCP)
        addresses = tuple(address for port in served for address in self._addresses(port))
        server = next((address.partition("/")[0] for address in addresses if ":" not in address), None)
        subnets = self._rows.subnets.select(network_id=network.id)
        metadata = any(self._metadata_server(subnet) is not None for subnet in subnets)
        return Network(network.id, network.mtu, addresses, server, metadata)

    # Routers

    def _router(self, router: records.Router) -> Router:
        ports = self._rows.ports.select(device_id=router.id)
        inner = [port for port in ports if port.device_owner == INTERFACE]
        links = [replace(self._link(port), announced=self._announced(port)) for port in inner]
        gateway = next((port for port in ports if port.device_owner == GATEWAY), None)
        routes = [(route.destination, route.nexthop) for route in router.routes]
        floating = self._rows.floatingips.select(router_id=router.id)
        forwardings = [self._forwarding(forwarding, row) for row in floating for forwarding in self._forwardings(row)]
        source = None
        if gateway is not None:
            subnets = [self._rows.subnets.require(fixed.subnet_id) for fixed in gateway.fixed_ips]
            routes += [(DEFAULT_ROUTE[s.ip_version], s.gateway_ip) for s in subnets if s.gateway_ip]
            if router.external_gateway_info is not None and router.external_gateway_info.enable_snat:
                source = next((f.ip_address for f in gateway.fixed_ips if ":" not in f.ip_address), None)
        pairs = [(row.floating_ip_address, row.fixed_ip_address) for row in floating if row.fixed_ip_address]
        return Router(
            router.id,
            tuple(links),
            None if gateway is None else self._link(gateway),
            tuple(routes),
            source,
            tuple(pairs),
            tuple(forwardings),
        )

    def _link(self, port: records.Port) -> Link:
        return Link(port.id, port.network_id, port.mac_address, self._addresses(port))

    def _forwardings(self, floating: records.FloatingIp) -> list[records.PortForwarding]:
        return self._rows.port_forwardings.select(floatingip_id=floating.id)

    def _forwarding(self, row: records.PortForwarding, floating: records.FloatingIp) -> PortForwarding:
        return PortForwarding(
            row.protocol,
            floating.floating_ip_address,
            row.external_port,
            row.internal_ip_address,
            row.internal_port,
        )

    # Security groups

    def _rules(self, group_id: str) -> tuple[Rule, ...]:
        return tuple(_rule(row) for row in self._rows.security_group_rules.select(security_group_id=group_id))

    def _members(self, key: str) -> tuple[str, ...]:
        """Return the addresses of the ports of a security group, or those of an address group."""
        if (addresses := self._rows.address_groups.get(key)) is not None:
            return tuple(addresses.addresses)
        ports = [self._rows.ports.require(port_id) for port_id in self._network.state.ports.group_ports.get(key, ())]
        own = {fixed.ip_address for port in ports for fixed in port.fixed_ips}
        return tuple(sorted(own | {pair.ip_address for port in ports for pair in port.allowed_address_pairs}))

    # What is reached from this machine

    def _forwarded_addresses(
        self,
        ports: Mapping[str, Port],
        rules: Mapping[str, tuple[Rule, ...]],
        networks: Mapping[str, Network],
        balancers: Sequence[Balancer],
    ) -> tuple[ForwardedAddress, ...]:
        found = []
        listening = {balancer.link.id: {listener.port for listener in balancer.listeners} for balancer in balancers}
        for row in self._rows.floatingips:
            network, address = row.floating_network_id, row.floating_ip_address
            outside = next((a.partition("/")[0] for a in networks[network].addresses if ":" not in a), None)
            port = ports.get(row.port_id or "")
            open_ports = {
                forwarding.external_port for forwarding in self._forwardings(row) if forwarding.protocol == "tcp"
            }
            open_ports |= listening.get(row.port_id or "", set())
            if port is not None and outside is not None:
                rules_of_port = [rule for group in port.groups for rule in rules[group]]
                ranges = admits(rules_of_port, outside) if port.secured else [(1, 65535)]
                open_ports |= {number for span in ranges for number in _forwarded(span)}
            if open_ports:
                found.append(ForwardedAddress(network, address, tuple(sorted(open_ports))))
        return tuple(found)


def _name_servers6(subnets: Iterable[records.Subnet]) -> tuple[str, ...]:
    found = [server for subnet in subnets for server in subnet.dns_nameservers if ":" in server]
    return tuple(dict.fromkeys(found))


def _forwarded(span: tuple[int, int]) -> Sequence[int]:
    low, high = span
    if high - low < LARGEST_RANGE:
        return range(low, high + 1)
    return [port for port in COMMON_PORTS if low <= port <= high]


def _rule(row: records.SecurityGroupRule) -> Rule:
    protocol = row.protocol
    group = row.remote_group_id or row.remote_address_group_id
    return Rule(
        row.direction == "ingress",
        VERSIONS[row.ethertype],
        None if protocol is None else NUMBERS[protocol] if protocol in NUMBERS else int(protocol),
        row.port_range_min,
        row.port_range_max,
        f"@{group}" if group else row.normalized_cidr or "",
    )
