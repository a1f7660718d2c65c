"""OS::Neutron::Subnet"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import ResourceActionNotSupported
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.resource import Call
from stoker.resources.declare import between, custom, one_of
from stoker.resources.neutron.allowances import SUBNETS, counts
from stoker.resources.neutron.base import TAGS, TENANT_ID, VALUE_SPECS, NeutronResource, collection, ip_address
from stoker.resources.neutron.conflicts import POOLS, SUBNET_RANGES
from stoker.resources.neutron.subnet_pool import overlap
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_CIDR = custom("net_cidr")
_NETWORK = custom("neutron.network")
_IPV6_MODES = one_of("dhcpv6-stateful", "dhcpv6-stateless", "slaac")
_NO_GATEWAY = ("", "~")
_AUTOMATIC = "auto"

_ALLOCATION_POOL = {
    "start": ip_address("First address of the range.", required=True),
    "end": ip_address("Last address of the range.", required=True),
}
_HOST_ROUTE = {
    "destination": Property(description="Destination of the route, as a CIDR.", required=True, constraints=_CIDR),
    "nexthop": ip_address("Address of the next hop.", required=True),
}


def _share_addresses(properties: Mapping[str, object], replacement: Mapping[str, object]) -> bool:
    """Return whether both are in one network and have an address in common."""
    same = properties["network"] == replacement["network"]
    return same and overlap(properties["cidr"], replacement["cidr"])


class Subnet(NeutronResource):
    """A range of addresses of a network, from which ports get theirs."""

    type_name = "OS::Neutron::Subnet"
    description = "A range of addresses of a network, from which ports get theirs."
    consumes = counts(SUBNETS)
    conflicts = (SUBNET_RANGES, POOLS)
    collection = collection("subnet")
    exclusion = Exclusion(_share_addresses)
    ports_by = "fixed_ips=subnet_id={id}"

    properties = {
        "network_id": Property(
            description="Older name of network.",
            constraints=_NETWORK,
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
        "subnetpool": Property(
            description="The subnet pool to allocate the range from, by name or ID.",
            support=Support(version="6.0.0"),
            wire="subnetpool_id",
            reference="neutron.subnetpool",
        ),
        "prefixlen": Property(
            Type.INTEGER,
            "Prefix length of the range to allocate from the pool.",
            constraints=between(0),
            support=Support(version="6.0.0"),
        ),
        "cidr": Property(description="The range of addresses, as a CIDR.", constraints=_CIDR),
        "value_specs": VALUE_SPECS,
        "name": Property(description="Name of the subnet.", change=Change.UPDATE),
        "ip_version": Property(Type.INTEGER, "Version of IP.", default=4, constraints=one_of(4, 6)),
        "dns_nameservers": Property(
            Type.LIST, "Addresses of name servers.", strings=True, default=[], change=Change.UPDATE
        ),
        "gateway_ip": Property(
            description="Address of the gateway; empty for none; if not given, the first address.",
            change=Change.UPDATE,
        ),
        "enable_dhcp": Property(Type.BOOLEAN, "Whether DHCP is enabled.", default=True, change=Change.UPDATE),
        "allocation_pools": Property(
            Type.LIST,
            "Ranges from which ports get addresses.",
            items=Property(Type.MAP, "A range.", schema=_ALLOCATION_POOL),
            change=Change.UPDATE,
        ),
        "tenant_id": TENANT_ID,
        "host_routes": Property(
            Type.LIST,
            "Routes to advertise to hosts.",
            items=Property(Type.MAP, "A route.", schema=_HOST_ROUTE),
            change=Change.UPDATE,
        ),
        "ipv6_ra_mode": Property(
            description="Mode of IPv6 router advertisements.",
            constraints=_IPV6_MODES,
            support=Support(version="2015.1"),
        ),
        "ipv6_address_mode": Property(
            description="Mode of IPv6 address assignment.", constraints=_IPV6_MODES, support=Support(version="2015.1")
        ),
        "segment": Property(
            description="The segment of the network, by name or ID.",
            constraints=custom("neutron.segment"),
            change=Change.UPDATE,
            support=Support(version="11.0.0", previous=Support(version="9.0.0")),
            wire="segment_id",
            resolve="openstack.network_segment",
        ),
        "tags": TAGS,
    }

    attributes = {
        "name": Attribute("Name of the subnet.", Type.STRING),
        "network_id": Attribute("ID of the network.", Type.STRING),
        "tenant_id": Attribute("The project that owns the subnet.", Type.STRING),
        "allocation_pools": Attribute("Ranges from which ports get addresses.", Type.LIST),
        "gateway_ip": Attribute("Address of the gateway.", Type.STRING),
        "host_routes": Attribute("Routes that are advertised to hosts.", Type.LIST),
        "ip_version": Attribute("Version of IP.", Type.STRING),
        "cidr": Attribute("The range of addresses, as a CIDR.", Type.STRING),
        "dns_nameservers": Attribute("Addresses of name servers.", Type.LIST),
        "enable_dhcp": Attribute("Whether DHCP is enabled.", Type.STRING),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        yield from super().validate(properties)
        given = {name for name, value in properties.items() if value is not None}
        if ("cidr" in given) == ("subnetpool" in given):
            yield "exactly one of cidr and subnetpool must be given"
        if {"prefixlen", "cidr"} <= given:
            yield "prefixlen cannot be used with cidr, only with subnetpool"
        yield from _ipv6_problems(properties)
        gateway = properties.get("gateway_ip")
        if gateway is not None and not is_unknown(gateway) and not _is_gateway(gateway):
            yield f"gateway_ip must be an IP address, empty (for none) or {_AUTOMATIC!r}, not {gateway!r}"

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        if body.get("gateway_ip") == _AUTOMATIC:
            del body["gateway_ip"]
        return _gateway_sent(body)

    async def update_body(self, call: Call) -> dict[str, object]:
        if call.changed.get("gateway_ip") == _AUTOMATIC:
            raise ResourceActionNotSupported("The gateway of an existing subnet cannot be chosen automatically.")
        if "segment" in call.changed and (call.previous or {}).get("segment") is not None:
            raise ResourceActionNotSupported("A subnet cannot be moved from one segment to another.")
        return _gateway_sent(await super().update_body(call))


def _gateway_sent(body: dict[str, object]) -> dict[str, object]:
    if body.get("gateway_ip") in _NO_GATEWAY:
        body["gateway_ip"] = None
    return body


def _is_gateway(text: str) -> bool:
    if text in (*_NO_GATEWAY, _AUTOMATIC):
        return True
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _ipv6_problems(properties: Mapping[str, object]) -> Iterable[str]:
    routers, addresses = properties.get("ipv6_ra_mode"), properties.get("ipv6_address_mode")
    if properties.get("ip_version") == 4:
        if routers or addresses:
            yield "ipv6_ra_mode and ipv6_address_mode require ip_version 6"
    elif routers and addresses and routers != addresses and not (is_unknown(routers) or is_unknown(addresses)):
        yield "ipv6_ra_mode and ipv6_address_mode must be equal"
