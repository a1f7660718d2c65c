"""Which addresses a port gets: free ones of its network's subnets, or the ones asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Protocol

from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.network.records.core import FixedIp, Port, Subnet
from openstack_emulator.network.rules.attributes import IpNetwork, address_of, network_of
from openstack_emulator.network.rules.errors import invalid_input
from openstack_emulator.network.rules.inputs import RequestedAddress
from openstack_emulator.network.rules.resources import State

SLAAC_MODES = frozenset({"slaac", "dhcpv6-stateless"})
ROUTER_OWNERS = frozenset(
    {"network:router_interface", "network:router_gateway", "network:ha_router_replicated_interface"}
)


class Addressed(Protocol):
    """What addresses are chosen for: a port, or what is to become one."""

    @property
    def id(self) -> str: ...
    @property
    def network_id(self) -> str: ...
    @property
    def device_owner(self) -> str: ...
    @property
    def mac_address(self) -> str: ...


@dataclass(frozen=True)
class FuturePort:
    """A port that does not exist yet, or that is to get other addresses."""

    id: str
    network_id: str
    device_owner: str
    mac_address: str = "00:00:00:00:00:00"


def is_slaac(subnet: Subnet) -> bool:
    """Whether ports make their addresses of it themselves, from their MAC address."""
    return subnet.ipv6_address_mode in SLAAC_MODES


def makes_addresses(port: Addressed) -> bool:
    """Whether the port has an address of each SLAAC subnet of its network; those of routers and floating IPs do not."""
    return port.device_owner not in {*ROUTER_OWNERS, "network:floatingip"}


def eui64(cidr: str, mac: str) -> str:
    """The address a port with this MAC address gives itself on a /64."""
    parts = [int(part, 16) for part in mac.split(":")]
    parts[0] ^= 2
    suffix = int.from_bytes(bytes([*parts[:3], 0xFF, 0xFE, *parts[3:]]), "big")
    return str(IPv6Address(int(network_of(cidr).network_address) | suffix))


def usable(network: IpNetwork, address: str) -> bool:
    """Whether a host of the network may have the address: not the network's own nor IPv4's broadcast."""
    parsed = address_of(address)
    if parsed not in network:
        return False
    if isinstance(network, IPv4Network) and network.prefixlen < 31:
        return parsed not in (network.network_address, network.broadcast_address)
    if isinstance(network, IPv6Network) and network.prefixlen < 127:
        return parsed != network.network_address
    return True


class Allocator:
    """Finds addresses; it takes none: `PortIndex.add` does."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._hints: dict[str, int] = {}

    def choose(
        self, port: Addressed, requested_addresses: Sequence[RequestedAddress] | None, previous: Iterable[FixedIp] = ()
    ) -> list[FixedIp]:
        """The addresses of a port: the requested ones, or with None one of each IP version, and those of SLAAC.

        previous: addresses it has now and may keep.
        Raises: ApiError, Neutron's errors for bad, taken and exhausted addresses.
        """
        subnets = self._state.rows.subnets.select(network_id=port.network_id)
        if requested_addresses is None:
            return self._automatic(port, subnets)
        held = {fixed.ip_address: fixed for fixed in previous}
        chosen: list[FixedIp] = []
        for item in requested_addresses:
            already = held.get(item.ip_address or "")
            if already is not None and item.subnet_id in (None, already.subnet_id):
                chosen.append(already)
            else:
                chosen.append(self._requested(port, subnets, item, chosen))
        return chosen + _made_by_port(port, subnets, chosen)

    def kept(self, port: Port) -> list[FixedIp]:
        """The addresses that a port has, and those that it makes itself."""
        subnets = self._state.rows.subnets.select(network_id=port.network_id)
        return port.fixed_ips + _made_by_port(port, subnets, port.fixed_ips)

    def free(self, subnet: Subnet, chosen: Iterable[FixedIp] = ()) -> str | None:
        """The lowest free address of a subnet's pools, or None."""
        taken = self._state.ports.taken(subnet.id)
        also = {int(address_of(fixed.ip_address)) for fixed in chosen}
        for first, last in _pools(subnet):
            key = f"{subnet.id}/{first}"
            lowest = next((n for n in range(self._start(key, first, last), last + 1) if n not in taken), None)
            if lowest is None:
                continue
            self._hints[key] = lowest
            for number in range(lowest, last + 1):
                if number not in taken and number not in also:
                    return _address(subnet, number)
        return None

    def last_free(self, subnet: Subnet) -> str | None:
        """The highest free address of a subnet's pools, or None."""
        taken = self._state.ports.taken(subnet.id)
        for first, last in reversed(_pools(subnet)):
            for number in range(last, first - 1, -1):
                if number not in taken:
                    return _address(subnet, number)
        return None

    def released(self, fixed: FixedIp) -> None:
        """Mark an address as free again."""
        number = int(address_of(fixed.ip_address))
        for key, hint in list(self._hints_of(fixed.subnet_id)):
            if number < hint:
                self._hints[key] = number

    def _hints_of(self, subnet_id: str) -> Iterator[tuple[str, int]]:
        subnet = self._state.rows.subnets.get(subnet_id)
        for first, _ in _pools(subnet) if subnet else ():
            key = f"{subnet_id}/{first}"
            if key in self._hints:
                yield key, self._hints[key]

    def _start(self, key: str, first: int, last: int) -> int:
        hint = self._hints.get(key, first)
        return hint if first <= hint <= last else first

    def _automatic(self, port: Addressed, subnets: list[Subnet]) -> list[FixedIp]:
        router = not makes_addresses(port)
        eligible = _for_owner(subnets, port.device_owner)
        if subnets and not eligible:
            raise conflict(
                f"No valid service subnet for the given device owner, network {port.network_id}.",
                "IpAddressGenerationFailureNoMatchingSubnet",
            )
        chosen: list[FixedIp] = []
        for version in (4, 6):
            candidates = [s for s in eligible if s.ip_version == version and (router or not is_slaac(s))]
            found = self._first_free(candidates)
            if found is not None:
                chosen.append(found)
            elif candidates:
                raise exhausted(port.network_id)
        return chosen + _made_by_port(port, eligible, chosen)

    def _first_free(self, subnets: list[Subnet]) -> FixedIp | None:
        for subnet in subnets:
            if (address := self.free(subnet)) is not None:
                return FixedIp(subnet_id=subnet.id, ip_address=address)
        return None

    def _requested(
        self, port: Addressed, subnets: list[Subnet], item: RequestedAddress, chosen: list[FixedIp]
    ) -> FixedIp:
        address = item.ip_address
        subnet = self._subnet_of(port.network_id, subnets, item)
        if address is None:
            if is_slaac(subnet) and makes_addresses(port):
                address = eui64(subnet.cidr, port.mac_address)
            else:
                address = self.free(subnet, [c for c in chosen if c.subnet_id == subnet.id])
            if address is None:
                raise exhausted(port.network_id)
        elif is_slaac(subnet) and makes_addresses(port):
            raise bad_request(
                f"IPv6 address {address} cannot be directly assigned to a port on subnet {subnet.id} as the subnet "
                "is configured for automatic addresses",
                "AllocationOnAutoAddressSubnet",
            )
        if not usable(network_of(subnet.cidr), address):
            raise bad_request(f"IP address {address} is not a valid IP for the specified subnet.", "InvalidIpForSubnet")
        holder = self._state.ports.taken(subnet.id).get(int(address_of(address)))
        if holder not in (None, port.id):
            raise address_in_use(subnet.id, address)
        return FixedIp(subnet_id=subnet.id, ip_address=address)

    def _subnet_of(self, network_id: str, subnets: list[Subnet], item: RequestedAddress) -> Subnet:
        if (subnet_id := item.subnet_id) is not None:
            for subnet in subnets:
                if subnet.id == subnet_id:
                    return subnet
            self._state.rows.subnets.require(subnet_id)
            raise invalid_input(
                f"Failed to create port on network {network_id}, because fixed_ips included invalid subnet {subnet_id}."
            )
        address = item.ip_address
        if address is None:
            raise invalid_input("IP allocation requires subnet_id or ip_address.")
        for subnet in subnets:
            if address_of(address) in network_of(subnet.cidr):
                return subnet
        raise bad_request(
            f"IP address {address} is not a valid IP for any of the subnets on the specified network.",
            "InvalidIpForNetwork",
        )


def _made_by_port(port: Addressed, subnets: list[Subnet], chosen: list[FixedIp]) -> list[FixedIp]:
    """The addresses of SLAAC subnets that are not among the chosen ones: a port has one of each, asked for or not."""
    if not makes_addresses(port):
        return []
    present = {fixed.subnet_id for fixed in chosen}
    return [
        FixedIp(subnet_id=subnet.id, ip_address=eui64(subnet.cidr, port.mac_address))
        for subnet in subnets
        if is_slaac(subnet) and subnet.id not in present
    ]


def exhausted(network_id: str) -> ApiError:
    """The 409 for a network without a free address."""
    return conflict(f"No more IP addresses available on network {network_id}.", "IpAddressGenerationFailure")


def address_in_use(subnet_id: str, address: str) -> ApiError:
    """The 409 for an address that another port has."""
    return conflict(f"IP address {address} already allocated in subnet {subnet_id}", "IpAddressAlreadyAllocated")


def _for_owner(subnets: list[Subnet], owner: str) -> list[Subnet]:
    """Subnets meant for the owner's kind of device; those meant for nobody in particular if there are none."""
    special = [s for s in subnets if any(owner.startswith(kind) for kind in s.service_types)]
    return special or [s for s in subnets if not s.service_types]


def _pools(subnet: Subnet) -> list[tuple[int, int]]:
    return [(int(address_of(p.start)), int(address_of(p.end))) for p in subnet.allocation_pools]


def _address(subnet: Subnet, number: int) -> str:
    """A number as an address of the subnet's version."""
    network = network_of(subnet.cidr)
    return str(network.network_address + (number - int(network.network_address)))
