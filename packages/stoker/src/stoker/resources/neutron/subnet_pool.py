"""OS::Neutron::AddressScope and OS::Neutron::SubnetPool: ranges of addresses that subnets are allocated from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from itertools import pairwise, product
from typing import Any

from stoker.base.errors import BadValue
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.preflight import Code, Conflict, Facts, Planned, Problem
from stoker.plugins.resource import Call
from stoker.resources.declare import between, custom, length, one_of
from stoker.resources.neutron.allowances import SUBNET_POOLS, counts
from stoker.resources.neutron.base import TAGS, Holders, NeutronResource, collection, shared
from stoker.schema.live import FETCHED
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import has_unknown

_SHARED = "Whether every project may use it; for administrators."


async def _without_prefixes(pools: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the pools that would lose a range."""
    for each in pools:
        before, after = each.former.known("prefixes") if each.former is not None else None, each.known("prefixes")
        if before and after and not has_unknown(after) and (missing := _missing(before, after)):
            message = f"prefixes can only be added to a subnet pool, and {', '.join(missing)} would be removed"
            yield Problem(each, ("prefixes",), message, "keep them, or make another pool")


class AddressScope(NeutronResource):
    """An area in which addresses are unique."""

    type_name = "OS::Neutron::AddressScope"
    description = "An area in which the addresses of subnet pools are unique and routed without translation."
    collection = collection("address_scope", "/v2.0/address-scopes")
    extension = "address-scope"
    holders = (Holders("subnetpool", "address_scope_id"),)
    support = Support(version="6.0.0")
    readers = {**NeutronResource.readers, "shared": shared}

    properties = {
        "name": Property(description="Name of the address scope.", change=Change.UPDATE),
        "shared": Property(Type.BOOLEAN, _SHARED, default=False, change=Change.UPDATE, live=FETCHED),
        "tenant_id": Property(
            description="The project that owns it; for administrators.", constraints=custom("keystone.project")
        ),
        "ip_version": Property(Type.INTEGER, "Version of IP.", default=4, constraints=one_of(4, 6)),
    }


def _share_prefixes(properties: Mapping[str, Any], replacement: Mapping[str, Any]) -> bool:
    """Return whether both are in one address scope, in which prefixes must not overlap."""
    scope = properties["address_scope"]
    if scope is None or scope != replacement["address_scope"]:
        return False
    return any(overlap(one, other) for one, other in product(properties["prefixes"], replacement["prefixes"]))


class SubnetPool(NeutronResource):
    """Prefixes that subnets are allocated from."""

    type_name = "OS::Neutron::SubnetPool"
    description = "Prefixes from which the ranges of subnets are allocated."
    consumes = counts(SUBNET_POOLS)
    conflicts = (Conflict(Code.REFUSED_CHANGE, _without_prefixes, of_changes=True),)
    collection = collection("subnetpool")
    extension = "subnet_allocation"
    holders = (Holders("subnet", "subnetpool_id"),)
    exclusion = Exclusion(_share_prefixes)
    support = Support(version="6.0.0")
    readers = {**NeutronResource.readers, "shared": shared}

    properties = {
        "name": Property(description="Name of the subnet pool.", change=Change.UPDATE),
        "prefixes": Property(
            Type.LIST,
            "The prefixes, as CIDRs; an update can only add some.",
            required=True,
            constraints=length(1),
            items=Property(Type.STRING, "A prefix.", constraints=custom("net_cidr")),
            change=Change.UPDATE,
        ),
        "address_scope": Property(
            description="The address scope, by name or ID.",
            change=Change.UPDATE,
            wire="address_scope_id",
            reference="neutron.address_scope",
        ),
        "default_quota": Property(
            Type.INTEGER,
            "How many addresses a project may use: addresses of IPv4, or networks of 64 bits of IPv6.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
        "default_prefixlen": Property(
            Type.INTEGER,
            "Length of the prefixes that are allocated if none is requested.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
        "min_prefixlen": Property(
            Type.INTEGER,
            "Shortest prefix that can be allocated.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
        "max_prefixlen": Property(
            Type.INTEGER, "Longest prefix that can be allocated.", constraints=between(0), change=Change.UPDATE
        ),
        "is_default": Property(
            Type.BOOLEAN, "Whether this is the cloud's default pool.", default=False, change=Change.UPDATE
        ),
        "tenant_id": Property(description="The project that owns it; for administrators."),
        "shared": Property(Type.BOOLEAN, _SHARED, default=False, live=FETCHED),
        "tags": TAGS,
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        names = ("min_prefixlen", "default_prefixlen", "max_prefixlen")
        given = [name for name in names if isinstance(properties.get(name), int)]
        for lower, higher in pairwise(given):
            if properties[lower] > properties[higher]:
                yield f"{lower} {properties[lower]} is greater than {higher} {properties[higher]}"

    async def update_body(self, call: Call) -> dict[str, Any]:
        before, after = (call.previous or {}).get("prefixes") or [], call.properties["prefixes"]
        if missing := _missing(before, after):
            raise BadValue(f"prefixes can only be added to a subnet pool, and {', '.join(missing)} would be removed")
        return await super().update_body(call)

    def made_by(self, call: Call, body: Mapping[str, Any], item: Mapping[str, object]) -> bool:
        return super().made_by(call, {**body, "prefixes": sorted(_joined(body["prefixes"]))}, item)

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        found = super().differences(call, shown)
        if _joined(call.properties["prefixes"]) == _joined(shown["prefixes"]):
            found.pop("prefixes", None)
        return found


def overlap(one: object, other: object) -> bool:
    """Return whether two ranges of addresses, as CIDRs, have an address in common; False if one is not known."""
    if not (isinstance(one, str) and isinstance(other, str)):
        return False
    first, second = ip_network(one, strict=False), ip_network(other, strict=False)
    return first.version == second.version and first.overlaps(second)


def _missing(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return the ranges that are not in the new ones."""
    return [prefix for prefix in before if _joined([*after, prefix]) != _joined(after)]


def _joined(prefixes: Iterable[str]) -> set[str]:
    """Return the prefixes as Neutron shows them: adjacent and overlapping ones are joined."""
    networks = [ip_network(prefix, strict=False) for prefix in prefixes]
    of_four = [network for network in networks if isinstance(network, IPv4Network)]
    of_six = [network for network in networks if isinstance(network, IPv6Network)]
    return {str(network) for network in (*collapse_addresses(of_four), *collapse_addresses(of_six))}
