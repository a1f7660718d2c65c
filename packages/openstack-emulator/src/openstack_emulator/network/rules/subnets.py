"""Subnets: their ranges, gateways and allocation pools."""

from __future__ import annotations

from itertools import pairwise

from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.network.records.core import AllocationPool, Network, Subnet
from openstack_emulator.network.rules.addresses import ROUTER_OWNERS, is_slaac, usable
from openstack_emulator.network.rules.attributes import IpNetwork, address_of, network_of
from openstack_emulator.network.rules.errors import disallowed, in_use, invalid, invalid_input
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.networks import AUTOMATIC_OWNERS
from openstack_emulator.network.rules.pools import SubnetPools
from openstack_emulator.network.rules.ports import DHCP_SECONDS, Ports
from openstack_emulator.network.rules.resources import Resources, State

MOST_NAMESERVERS = 5
MOST_ROUTES = 20


class Subnets(Resources[Subnet]):
    """Seen by whoever sees their network; made by its owner."""

    def __init__(self, state: State, kind: ResourceKind[Subnet], ports: Ports, pools: SubnetPools) -> None:
        super().__init__(state, kind)
        self.ports = ports
        self.pools = pools

    def visible(self, actor: Actor, record: Subnet) -> bool:
        network = self._network(record)
        return actor.owns(record) or self.state.of("networks").visible(actor, network)

    def refuse_unauthorized(self, actor: Actor, record: Subnet, action: str) -> None:
        if not actor.owns(self._network(record)):
            super().refuse_unauthorized(actor, record, action)

    def prepare_create(self, actor: Actor, draft: Subnet, values: Values) -> None:
        network = self._network(draft)
        if not actor.owns(network):
            raise disallowed("create_subnet")
        if "project_id" not in values and "tenant_id" not in values:
            draft.project_id = network.project_id
        self._choose_cidr(actor, draft, values)
        cidr = network_of(draft.cidr)
        _check_version(draft, cidr)
        _check_ipv6(draft)
        self._refuse_overlap(draft, cidr)
        self._refuse_other_pool(draft)
        draft.gateway_ip = _gateway(draft.gateway_ip, cidr) if "gateway_ip" in values else _first_host(cidr)
        draft.allocation_pools = _checked_pools(draft, cidr) or _whole(cidr, draft.gateway_ip)
        _check_sizes(draft)

    def after_create(self, actor: Actor, record: Subnet) -> None:
        if is_slaac(record):
            self._add_to_ports(record)
        if record.enable_dhcp and not self._network(record).external:
            self.ports.later(DHCP_SECONDS, self.ports.serve_dhcp, record.network_id)

    def prepare_update(self, actor: Actor, record: Subnet, after: Subnet, values: Values) -> None:
        cidr = network_of(record.cidr)
        if "gateway_ip" in values:
            self._refuse_gateway_in_use(record, after.gateway_ip)
            after.gateway_ip = _gateway(after.gateway_ip, cidr)
        if "allocation_pools" in values or "gateway_ip" in values:
            after.allocation_pools = _checked_pools(after, cidr)
        if values.get("enable_dhcp") is False and (record.ipv6_ra_mode or record.ipv6_address_mode):
            raise invalid_input("ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False.")
        _check_version(after, cidr)
        _check_sizes(after)
        if after.enable_dhcp != record.enable_dhcp:
            self.ports.later(DHCP_SECONDS, self.ports.serve_dhcp, record.network_id)

    def refuse_delete(self, actor: Actor, record: Subnet) -> None:
        for port_id in set(self.state.ports.taken(record.id).values()):
            owner = self.state.rows.ports.require(port_id).device_owner
            if owner not in AUTOMATIC_OWNERS and (owner in ROUTER_OWNERS or not is_slaac(record)):
                raise self.used(record)

    def forget(self, record: Subnet) -> None:
        self.ports.release_subnet(record)
        self.state.ports.addresses.pop(record.id, None)
        super().forget(record)

    def _network(self, record: Subnet) -> Network:
        return self.state.rows.networks.require(record.network_id)

    def _choose_cidr(self, actor: Actor, subnet: Subnet, values: Values) -> None:
        """Take the range from a pool when one is named, else it must be given."""
        prefix_length, requested_cidr = values.get("prefixlen"), values.get("cidr")
        if values.get("use_default_subnetpool") and not subnet.subnetpool_id:
            subnet.subnetpool_id = self.pools.default_for(actor, subnet.ip_version).id
        if subnet.subnetpool_id is not None:
            pool = self.pools.reach(actor, subnet.subnetpool_id)
            if subnet.ip_version != pool.ip_version:
                own, there = (f"IPv{version}" for version in (subnet.ip_version, pool.ip_version))
                raise bad_request(
                    f"Bad subnets request: Cannot allocate {own} subnet from {there} subnet pool.", "BadRequest"
                )
            subnet.cidr = self.pools.allocate(pool, subnet.project_id, requested_cidr, prefix_length)
        elif requested_cidr is None:
            raise bad_request(
                "Bad subnets request: a subnetpool must be specified in the absence of a cidr.", "BadRequest"
            )
        elif prefix_length is not None:
            raise bad_request("Bad subnets request: prefixlen is only valid with a subnetpool.", "BadRequest")

    def _refuse_overlap(self, draft: Subnet, cidr: IpNetwork) -> None:
        for other in self.rows.select(network_id=draft.network_id):
            if other.ip_version == cidr.version and network_of(other.cidr).overlaps(cidr):
                raise invalid_input(
                    f"Requested subnet with cidr: {cidr} for network: {draft.network_id} overlaps with another subnet."
                )

    def _refuse_other_pool(self, draft: Subnet) -> None:
        """The subnets of one IP version on a network come from one pool, or all from none."""
        same = self.rows.select(network_id=draft.network_id)
        if any(other.ip_version == draft.ip_version and other.subnetpool_id != draft.subnetpool_id for other in same):
            raise bad_request(
                "Subnets hosted on the same network must be allocated from the same subnet pool.",
                "NetworkSubnetPoolAffinityError",
            )

    def _refuse_gateway_in_use(self, record: Subnet, new_gateway: str | None) -> None:
        gateway = record.gateway_ip
        if gateway is None or new_gateway == gateway:
            return
        port_id = self.state.ports.taken(record.id).get(int(address_of(gateway)))
        port = self.state.rows.ports.get(port_id or "")
        if port is not None and port.device_owner in ROUTER_OWNERS:
            raise in_use(
                "GatewayIpInUse", f"Current gateway ip {gateway} already in use by port {port_id}. Unable to update."
            )

    def _add_to_ports(self, record: Subnet) -> None:
        """The ports that are on the network already make themselves an address of a new SLAAC subnet."""
        for port in self.state.rows.ports.select(network_id=record.network_id):
            if port.device_owner not in ROUTER_OWNERS | AUTOMATIC_OWNERS:
                self.ports.change(port, fixed_ips=self.ports.allocator.kept(port))


def _check_version(subnet: Subnet, cidr: IpNetwork) -> None:
    version = subnet.ip_version
    if cidr.version != version:
        raise invalid_input(f"cidr '{cidr}' does not match the ip_version '{version}'.")
    if cidr.prefixlen == 0:
        raise invalid_input("0 is not allowed as CIDR prefix length.")
    if subnet.enable_dhcp and cidr.num_addresses < 4 and not is_slaac(subnet):
        raise invalid_input("Subnet has a prefix length that is incompatible with DHCP service enabled.")
    for server in subnet.dns_nameservers:
        if address_of(server).version != version:
            raise invalid_input(f"dns_nameserver '{server}' does not match the ip_version '{version}'.")


def _check_ipv6(subnet: Subnet) -> None:
    modes = (subnet.ipv6_ra_mode, subnet.ipv6_address_mode)
    if modes == (None, None):
        return
    if subnet.ip_version == 4:
        named = "ipv6_ra_mode" if modes[0] else "ipv6_address_mode"
        raise invalid_input(f"{named} is not valid when ip_version is 4.")
    if not subnet.enable_dhcp:
        raise invalid_input("ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False.")
    if None not in modes and modes[0] != modes[1]:
        raise invalid_input(
            f"ipv6_ra_mode set to '{modes[0]}' with ipv6_address_mode set to '{modes[1]}' is not valid. If both "
            "attributes are set, they must be the same value."
        )
    if is_slaac(subnet) and network_of(subnet.cidr).prefixlen != 64:
        raise invalid_input(
            f"Invalid CIDR {subnet.cidr} for IPv6 address mode. OpenStack uses the EUI-64 address format, which "
            "requires the prefix to be /64."
        )


def _first_host(cidr: IpNetwork) -> str:
    """The first host address, or the routers' anycast address of IPv6 (RFC 4291, 2.6.1)."""
    offset = 0 if cidr.version == 6 or cidr.num_addresses <= 2 else 1
    return str(cidr.network_address + offset)


def _gateway(gateway: str | None, cidr: IpNetwork) -> str | None:
    """The gateway asked for, None when there is to be none. Raises: ApiError 400."""
    if not gateway:
        return None
    address = address_of(gateway)
    if address.version != cidr.version:
        raise invalid_input(f"gateway_ip '{gateway}' does not match the ip_version '{cidr.version}'.")
    if address not in cidr and not address.is_link_local:
        raise invalid_input(f"Gateway IP {gateway} is not inside the subnet {cidr}.")
    if address in cidr and not usable(cidr, gateway):
        raise invalid_input("Gateway is not valid on subnet.")
    return str(gateway)


def _checked_pools(subnet: Subnet, cidr: IpNetwork) -> list[AllocationPool]:
    """The pools asked for, in order. A new subnet without any gets the default; a change can take all away."""
    ranges = sorted((address_of(pool.start), address_of(pool.end)) for pool in subnet.allocation_pools)
    for start, end in ranges:
        if start.version != cidr.version or end.version != cidr.version or start > end:  # type: ignore[operator]
            raise bad_request(
                f"The allocation pool {{'start': '{start}', 'end': '{end}'}} is not valid.", "InvalidAllocationPool"
            )
        if not (usable(cidr, str(start)) and usable(cidr, str(end))):
            raise bad_request(
                f"The allocation pool {start}-{end} spans beyond the subnet cidr {cidr}.", "OutOfBoundsAllocationPool"
            )
    for (start, end), (next_start, next_end) in pairwise(ranges):
        if next_start <= end:  # type: ignore[operator]
            raise conflict(
                f"Found overlapping allocation pools: {start}-{end} {next_start}-{next_end} for subnet {cidr}.",
                "OverlappingAllocationPools",
            )
    gateway = subnet.gateway_ip
    for start, end in ranges:
        if gateway is not None and start <= address_of(gateway) <= end:  # type: ignore[operator]
            raise conflict(
                f"Gateway ip {gateway} conflicts with allocation pool {start}-{end}.",
                "GatewayConflictWithAllocationPools",
            )
    return [AllocationPool(start=str(start), end=str(end)) for start, end in ranges]


def _whole(cidr: IpNetwork, gateway: str | None) -> list[AllocationPool]:
    """All host addresses but the gateway: one pool, or two around it."""
    first, last = cidr.network_address, cidr.broadcast_address
    if cidr.num_addresses > 2:
        first += 1
        last -= 1 if cidr.version == 4 else 0
    if gateway is None or address_of(gateway) not in cidr:
        return [AllocationPool(start=str(first), end=str(last))]
    middle = address_of(gateway)
    parts = []
    if middle > first:  # type: ignore[operator]
        parts.append(AllocationPool(start=str(first), end=str(middle - 1)))
    if middle < last:  # type: ignore[operator]
        parts.append(AllocationPool(start=str(middle + 1), end=str(last)))
    return parts


def _check_sizes(subnet: Subnet) -> None:
    if len(subnet.dns_nameservers) > MOST_NAMESERVERS:
        raise bad_request(
            f"Unable to complete operation for {subnet.id}. The number of DNS nameservers exceeds the limit "
            f"{MOST_NAMESERVERS}.",
            "DNSNameServersExhausted",
        )
    if len(subnet.host_routes) > MOST_ROUTES:
        raise bad_request(
            f"Unable to complete operation for {subnet.id}. The number of host routes exceeds the limit {MOST_ROUTES}.",
            "HostRoutesExhausted",
        )
    for route in subnet.host_routes:
        versions = {network_of(route.destination).version, address_of(route.nexthop).version}
        if versions != {subnet.ip_version}:
            raise invalid("host_routes", f"the route to {route.destination} is not of the subnet's IP version.")
