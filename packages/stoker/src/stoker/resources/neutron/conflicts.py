"""What would make Neutron refuse new subnets, interfaces and ports: ranges and addresses that do not go together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from stoker.cloud.finders import is_uuid
from stoker.plugins.preflight import Code, Conflict, Facts, Planned, Problem, portions
from stoker.schema.unknown import is_unknown

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

_RANGES = ("cidr", "CidrBlock")


def _network(value: object) -> Network | None:
    try:
        return ip_network(value, strict=False) if isinstance(value, str) else None
    except ValueError:
        return None


def _address(value: object) -> Address | None:
    try:
        return ip_address(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _range(subnet: Planned) -> tuple[str, Network] | None:
    """Return the property with the range of a planned subnet, and the range."""
    for name in _RANGES:
        if (found := _network(subnet.known(name))) is not None:
            return name, found
    return None


@dataclass(frozen=True, slots=True)
class _Object:
    """An object that several resources refer to: one of the plan, or an existing one by its ID."""

    planned: Planned | None
    identifier: str = ""


async def _object(planned: Planned, value: object, collection: str, facts: Facts) -> _Object | None:
    """Return what a reference by name or ID is; None if that is not known. `collection` is as in `networks`."""
    if (made := planned.referred(value)) is not None:
        return _Object(made)
    if not isinstance(value, str):
        return None
    if is_uuid(value):
        return _Object(None, value)
    named = await facts.list("neutron", f"/v2.0/{collection}", collection, {"name": value, "fields": "id"})
    return _Object(None, str(named[0]["id"])) if len(named) == 1 else None


async def _listed(facts: Facts, collection: str, field: str, values: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the objects of a collection with one of the values in a field."""
    found: list[Mapping[str, object]] = []
    for portion in portions(values):
        found += await facts.list("neutron", f"/v2.0/{collection}", collection, {field: portion})
    return found


# -- ranges of subnets ----------------------------------------------------------------------------------------


async def _overlaps_in_network(subnets: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the new subnets that overlap with another one of their network."""
    by_network = defaultdict[_Object, list[Planned]](list)
    for subnet in subnets:
        home = subnet.properties.get("network", subnet.properties.get("VpcId"))
        is_new = subnet.makes and _range(subnet) is not None
        if is_new and (network := await _object(subnet, home, "networks", facts)) is not None:
            by_network[network].append(subnet)
    existing = await _listed(facts, "subnets", "network_id", (it.identifier for it in by_network if it.identifier))
    for network, group in by_network.items():
        present = [each for each in existing if each["network_id"] == network.identifier]
        for problem in _overlapping(group, present):
            yield problem


def _overlapping(group: Sequence[Planned], present: Sequence[Mapping[str, object]]) -> Iterator[Problem]:
    leaving = group[0].leaving  # of the whole plan, so the same for each
    others = [
        (found, f"{each['cidr']} of the subnet {each.get('name') or each['id']}")
        for each in present
        if each["id"] not in leaving and (found := _network(each["cidr"])) is not None
    ]
    for subnet in group:
        name, mine = _range(subnet) or ("", None)
        for other, label in others:
            if mine is not None and mine.version == other.version and mine.overlaps(other):
                message = f"{name} {mine} overlaps with {label} in the same network"
                yield Problem(subnet, (name,), message, "give the subnet another range")
                break
        if mine is not None:
            others.append((mine, f"{mine} of {subnet.path}"))


async def _overlaps_on_router(interfaces: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the new interfaces whose subnet overlaps with another one of the router."""
    by_router = defaultdict[_Object, list[tuple[Planned, _Object]]](list)
    for interface in interfaces:
        if not interface.makes:
            continue
        router = await _object(interface, interface.properties.get("router"), "routers", facts)
        subnet = await _object(interface, interface.properties.get("subnet"), "subnets", facts)
        if router is not None and subnet is not None:
            by_router[router].append((interface, subnet))
    routers = {router.identifier for router in by_router if router.identifier}
    ports = await _listed(facts, "ports", "device_id", routers)
    connected = defaultdict[str, set[str]](set)
    for port in ports:
        connected[port["device_id"]] |= {fixed["subnet_id"] for fixed in port.get("fixed_ips") or []}
    needed = {subnet.identifier for group in by_router.values() for _, subnet in group if subnet.identifier}
    existing = {
        str(each["id"]): each for each in await _listed(facts, "subnets", "id", needed.union(*connected.values()))
    }
    for router, group in by_router.items():
        for problem in _overlapping_interfaces(group, connected[router.identifier], existing):
            yield problem


def _overlapping_interfaces(
    group: Sequence[tuple[Planned, _Object]], connected: set[str], existing: Mapping[str, Mapping[str, object]]
) -> Iterator[Problem]:
    own = {subnet.identifier for _, subnet in group}
    others = [
        (found, str(each["cidr"]))
        for key in sorted(connected - own)
        if (each := existing.get(key)) is not None and (found := _network(each["cidr"])) is not None
    ]
    for interface, subnet in group:
        if subnet.planned is not None:
            mine = (_range(subnet.planned) or ("", None))[1]
        else:
            mine = _network(existing.get(subnet.identifier, {}).get("cidr"))
        if mine is None:
            continue
        for other, label in others:
            if mine.version == other.version and mine.overlaps(other):
                message = f"the range {mine} of the subnet overlaps with {label}, which the router is connected to"
                yield Problem(interface, ("subnet",), message, "use another router, or give the subnet another range")
                break
        others.append((mine, str(mine)))


# -- allocation pools -----------------------------------------------------------------------------------------


async def _wrong_pools(subnets: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the allocation pools that Neutron refuses."""
    for subnet in subnets:
        found, pools = _range(subnet), subnet.known("allocation_pools")
        if found is None or not isinstance(pools, list) or not pools:
            continue
        for problem in _pool_problems(subnet, found[1], pools):
            yield problem


def _pool_problems(subnet: Planned, cidr: Network, pools: Sequence[object]) -> Iterator[Problem]:
    gateway = subnet.properties.get("gateway_ip")
    gate = cidr[1] if gateway is None and cidr.num_addresses > 1 else _address(gateway)
    taken: list[tuple[Address, Address]] = []
    for index, pool in enumerate(pools):
        if not isinstance(pool, Mapping):
            continue
        start, end = _address(pool.get("start")), _address(pool.get("end"))
        if start is None or end is None or start.version != cidr.version or end.version != cidr.version:
            continue
        words, at = f"the pool {start}-{end}", ("allocation_pools", index)
        first, last = int(start), int(end)
        if start not in cidr or end not in cidr:
            yield Problem(subnet, at, f"{words} is not inside of {cidr}", "give a pool inside of the subnet's range")
        elif first > last:
            yield Problem(subnet, at, f"{words} ends before it starts", "exchange start and end")
        elif gate is not None and gate.version == cidr.version and first <= int(gate) <= last:
            yield Problem(subnet, at, f"{words} contains the gateway {gate}", "leave the gateway out of the pool")
        elif any(first <= int(high) and int(low) <= last for low, high in taken):
            yield Problem(subnet, at, f"{words} overlaps with another pool of the subnet", "give separate pools")
        taken.append((start, end))


# -- fixed addresses ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _RequestedAddress:
    """A fixed address that a new port is to have, of a network and maybe of a subnet."""

    planned: Planned
    at: tuple[str | int, ...]
    address: Address
    network: _Object | None
    subnet: _Object | None


async def _requested_addresses(planned: Planned, facts: Facts) -> AsyncIterator[_RequestedAddress]:
    """Yield the addresses that a port or a server asks for."""
    home = planned.properties.get("network")
    for index, entry in enumerate(_entries(planned.properties.get("fixed_ips"))):
        if (address := _address(entry.get("ip_address"))) is not None:
            yield _RequestedAddress(
                planned,
                ("fixed_ips", index, "ip_address"),
                address,
                await _object(planned, home, "networks", facts),
                await _object(planned, entry.get("subnet"), "subnets", facts),
            )
    for index, entry in enumerate(_entries(planned.properties.get("networks"))):
        if (address := _address(entry.get("fixed_ip"))) is not None and entry.get("port") is None:
            yield _RequestedAddress(
                planned,
                ("networks", index, "fixed_ip"),
                address,
                await _object(planned, entry.get("network"), "networks", facts),
                await _object(planned, entry.get("subnet"), "subnets", facts),
            )


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


async def _wrong_addresses(users: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the fixed addresses that are outside of their subnet, in use, or requested twice."""
    wishes = [wish for each in users if each.makes async for wish in _requested_addresses(each, facts)]
    if not wishes:
        return
    subnets = {wish.subnet.identifier for wish in wishes if wish.subnet is not None and wish.subnet.identifier}
    existing = {str(each["id"]): each for each in await _listed(facts, "subnets", "id", subnets)}
    networks = {wish.network.identifier for wish in wishes if wish.network is not None and wish.network.identifier}
    networks |= {str(each["network_id"]) for each in existing.values()}
    ports = await _listed(facts, "ports", "fixed_ips", _filters(wishes)) if networks else []
    seen: dict[tuple[_Object, Address], Planned] = {}
    for wish in wishes:
        if (problem := _outside(wish, existing) or _in_use(wish, existing, ports)) is not None:
            yield problem
            continue
        place = wish.network or wish.subnet
        first = seen.setdefault((place, wish.address), wish.planned) if place is not None else wish.planned
        if first is not wish.planned:
            words = f"the address {wish.address} is given to {first.path} too"
            yield Problem(wish.planned, wish.at, words, "give each port an address of its own")


def _filters(wishes: Sequence[_RequestedAddress]) -> list[str]:
    return [f"ip_address={wish.address}" for wish in wishes]


def _outside(wish: _RequestedAddress, existing: Mapping[str, Mapping[str, object]]) -> Problem | None:
    if wish.subnet is None:
        return None
    if wish.subnet.planned is not None:
        cidr = (_range(wish.subnet.planned) or ("", None))[1]
    else:
        cidr = _network(existing.get(wish.subnet.identifier, {}).get("cidr"))
    if cidr is None or wish.address in cidr:
        return None
    message = f"the address {wish.address} is not inside of the subnet, {cidr}"
    return Problem(wish.planned, wish.at, message, "give an address of the subnet")


def _in_use(
    wish: _RequestedAddress, existing: Mapping[str, Mapping[str, object]], ports: Sequence[Mapping[str, Any]]
) -> Problem | None:
    network = wish.network.identifier if wish.network is not None else ""
    if not network and wish.subnet is not None:
        network = str(existing.get(wish.subnet.identifier, {}).get("network_id") or "")
    leaving = wish.planned.leaving
    for port in ports:
        addresses = {_address(fixed.get("ip_address")) for fixed in port.get("fixed_ips") or []}
        if port["network_id"] != network or wish.address not in addresses:
            continue
        if port["id"] in leaving or port.get("device_id") in leaving:
            continue
        message = f"the address {wish.address} is in use by the port {port.get('name') or port['id']}"
        return Problem(wish.planned, wish.at, message, "give another address, or free this one")
    return None


# -- exclusive properties -------------------------------------------------------------------------------------


async def _groups_beside_ports(servers: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the servers with security groups beside a port, for which Nova would ignore them."""
    for server in servers:
        groups = server.properties.get("security_groups")
        if not groups or is_unknown(groups):
            continue
        entries = server.properties.get("networks")
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            if isinstance(entry, Mapping) and server.is_object(entry.get("port")):
                message = "security_groups cannot be used with a port in networks"
                yield Problem(
                    server, ("security_groups",), message, f"give the groups to the port of networks[{index}]"
                )
                break


SUBNET_RANGES = Conflict(Code.CIDR_OVERLAP, _overlaps_in_network)
ROUTER_RANGES = Conflict(Code.CIDR_OVERLAP, _overlaps_on_router)
POOLS = Conflict(Code.ALLOCATION_POOL, _wrong_pools)
ADDRESSES = Conflict(Code.FIXED_ADDRESS, _wrong_addresses)
GROUPS_BESIDE_PORTS = Conflict(Code.EXCLUSIVE_PROPERTIES, _groups_beside_ports)
