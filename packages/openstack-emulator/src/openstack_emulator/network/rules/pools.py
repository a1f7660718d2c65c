"""Subnet pools and address scopes."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import collapse_addresses

from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.network.records.core import AddressScope, Subnet, SubnetPool
from openstack_emulator.network.rules.attributes import IpNetwork, network_of
from openstack_emulator.network.rules.errors import invalid_input
from openstack_emulator.network.rules.kinds.kind import Actor, Values
from openstack_emulator.network.rules.resources import Resources

SHORTEST = {4: 8, 6: 64}
LONGEST = {4: 32, 6: 128}


class AddressScopes(Resources[AddressScope]):
    """Within a scope no two pools may have the same addresses."""

    def prepare_update(self, actor: Actor, record: AddressScope, after: AddressScope, values: Values) -> None:
        if values.get("shared") is False and self.state.sharing.reaches(record.id, None):
            raise bad_request(
                f"Unable to update address scope {record.id} : Shared address scope can't be unshared.",
                "AddressScopeUpdateError",
            )


class SubnetPools(Resources[SubnetPool]):
    """Ranges that subnets are cut from."""

    def prepare_create(self, actor: Actor, draft: SubnetPool, values: Values) -> None:
        prefixes = [network_of(prefix) for prefix in draft.prefixes]
        if not prefixes:
            raise bad_request(
                "Unspecified minimum: a subnet pool needs at least one prefix.", "EmptySubnetPoolPrefixList"
            )
        versions = {prefix.version for prefix in prefixes}
        if len(versions) > 1:
            raise bad_request("Cannot mix IPv4 and IPv6 prefixes in a subnet pool.", "PrefixVersionMismatch")
        version = draft.ip_version = versions.pop()
        draft.prefixes = _merged(prefixes)
        draft.min_prefixlen = values.get("min_prefixlen", SHORTEST[version])
        draft.max_prefixlen = values.get("max_prefixlen", LONGEST[version])
        draft.default_prefixlen = values.get("default_prefixlen", draft.min_prefixlen)
        _check_lengths(draft)
        self._check_scope(actor, draft)
        self._check_default(draft, draft.id)

    def prepare_update(self, actor: Actor, record: SubnetPool, after: SubnetPool, values: Values) -> None:
        _check_lengths(after)
        if "prefixes" in values:
            added = [network_of(prefix) for prefix in after.prefixes]
            present = [network_of(prefix) for prefix in record.prefixes]
            if any(prefix.version != record.ip_version for prefix in added):
                raise bad_request("Cannot mix IPv4 and IPv6 prefixes in a subnet pool.", "PrefixVersionMismatch")
            merged = _merged(added)
            whole = [network_of(prefix) for prefix in merged]
            if not all(any(_inside(old, new) for new in whole) for old in present):
                raise bad_request(
                    "Illegal update to prefixes: Existing prefixes must be a subset of the new prefixes.",
                    "IllegalSubnetPoolPrefixUpdate",
                )
            after.prefixes = merged
        if "prefixes" in values or "address_scope_id" in values:
            self._check_scope(actor, after)
        if values.get("is_default"):
            self._check_default(after, record.id)

    def used(self, record: SubnetPool) -> ApiError:
        return bad_request(self.kind.in_use, "SubnetPoolDeleteError")

    def default_for(self, actor: Actor, version: int) -> SubnetPool:
        """The pool that stands in for none named. Raises: ApiError 400."""
        for pool in self.rows.select(ip_version=version, is_default=True):
            if self.visible(actor, pool):
                return pool
        raise bad_request(f"Bad subnets request: no default subnetpool found for IPv{version}.", "BadRequest")

    def allocate(self, pool: SubnetPool, project_id: str, requested_prefix: str | None, length: int | None) -> str:
        """A free range of the pool: the requested one, or the first of the length (or of the default length).

        Raises: ApiError 400 for bad lengths, 409 `SubnetPoolQuotaExceeded`, and
        `SubnetAllocationError` when no range is left.
        """
        size = (
            network_of(requested_prefix).prefixlen
            if requested_prefix
            else (pool.default_prefixlen if length is None else length)
        )
        if size < pool.min_prefixlen:
            raise bad_request(
                f"Unable to allocate subnet with prefix length {size}, minimum allowed prefix is {pool.min_prefixlen}.",
                "MinPrefixSubnetAllocationError",
            )
        if size > pool.max_prefixlen:
            raise bad_request(
                f"Unable to allocate subnet with prefix length {size}, maximum allowed prefix is {pool.max_prefixlen}.",
                "MaxPrefixSubnetAllocationError",
            )
        subnets = self.state.rows.subnets.select(subnetpool_id=pool.id)
        self._check_pool_quota(pool, [s for s in subnets if s.project_id == project_id], size)
        taken = [network_of(subnet.cidr) for subnet in subnets]
        if requested_prefix is not None:
            return _requested_prefix(pool, network_of(requested_prefix), taken)
        for prefix in sorted(map(network_of, pool.prefixes), key=lambda network: -network.prefixlen):
            if (found := _first_free(prefix, size, taken)) is not None:
                return found
        raise conflict(
            f"Failed to allocate subnet: Insufficient prefix space to allocate subnet size /{size}.",
            "SubnetAllocationError",
        )

    def _check_pool_quota(self, pool: SubnetPool, own: list[Subnet], size: int) -> None:
        """The quota of a pool counts addresses, or /64 networks for IPv6."""
        unit = 32 if pool.ip_version == 4 else 64
        used = sum(2 ** max(unit - network_of(subnet.cidr).prefixlen, 0) for subnet in own)
        if pool.default_quota is not None and used + 2 ** max(unit - size, 0) > pool.default_quota:
            raise conflict("Per-tenant subnet pool prefix quota exceeded.", "SubnetPoolQuotaExceeded")

    def _check_scope(self, actor: Actor, pool: SubnetPool) -> None:
        if pool.address_scope_id is None:
            return
        scope = self.state.rows.address_scopes.require(pool.address_scope_id)
        if scope.ip_version != pool.ip_version:
            raise bad_request(
                f"Illegal subnetpool association: subnetpool {pool.id} cannot associate with address scope "
                f"{scope.id} because subnetpool ip_version is not {scope.ip_version}.",
                "IllegalSubnetPoolIpVersionAssociationToAddressScope",
            )
        if not actor.owns(scope) and not self.state.sharing.reaches(scope.id, actor.project_id):
            raise self.state.of("address_scopes").kind.missing(scope.id)
        mine = [network_of(prefix) for prefix in pool.prefixes]
        for other in self.rows.select(address_scope_id=scope.id):
            if other.id != pool.id and any(network_of(p).overlaps(m) for p in other.prefixes for m in mine):
                raise conflict(
                    "Failed to associate address scope: subnetpools within an address scope must have unique prefixes.",
                    "AddressScopePrefixConflict",
                )

    def _check_default(self, pool: SubnetPool, key: str) -> None:
        if pool.is_default and any(
            other.id != key for other in self.rows.select(ip_version=pool.ip_version, is_default=True)
        ):
            raise invalid_input(
                f"A default subnetpool for this IP family has already been set. Only one default may exist per IP "
                f"family (IPv{pool.ip_version})."
            )


def _check_lengths(pool: SubnetPool) -> None:
    low, middle, high = pool.min_prefixlen, pool.default_prefixlen, pool.max_prefixlen
    if high > LONGEST[pool.ip_version]:
        raise bad_request(f"Illegal prefix bounds: max_prefixlen {high} is too long.", "IllegalSubnetPoolPrefixBounds")
    reason = ""
    if low > high:
        reason = f"min_prefixlen={low}, max_prefixlen={high}"
    elif middle < low:
        reason = f"default_prefixlen={middle}, min_prefixlen={low}"
    elif middle > high:
        reason = f"default_prefixlen={middle}, max_prefixlen={high}"
    if reason:
        raise bad_request(
            f"Illegal prefix bounds: {reason}.",
            "IllegalSubnetPoolPrefixBounds",
        )


def _merged(prefixes: Iterable[IpNetwork]) -> list[str]:
    return [str(prefix) for prefix in collapse_addresses(prefixes)]  # type: ignore[type-var]


def _inside(inner: IpNetwork, outer: IpNetwork) -> bool:
    return inner.overlaps(outer) and inner.prefixlen >= outer.prefixlen


def _requested_prefix(pool: SubnetPool, network: IpNetwork, taken: list[IpNetwork]) -> str:
    inside = any(_inside(network, network_of(prefix)) for prefix in pool.prefixes)
    if not inside or any(network.overlaps(other) for other in taken):
        raise conflict(
            "Failed to allocate subnet: Cannot allocate requested subnet from the available set of prefixes.",
            "SubnetAllocationError",
        )
    return str(network)


def _first_free(prefix: IpNetwork, length: int, taken: list[IpNetwork]) -> str | None:
    """The lowest network of this length within the prefix that overlaps none of the taken ones."""
    if length < prefix.prefixlen:
        return None
    size = 2 ** (prefix.max_prefixlen - length)
    start, end = int(prefix.network_address), int(prefix.broadcast_address)
    for other in sorted(taken, key=lambda network: int(network.network_address)):
        first, last = int(other.network_address), int(other.broadcast_address)
        if last < start:
            continue
        if first >= start + size:
            break
        start = -(-(last + 1) // size) * size
    if start + size - 1 > end:
        return None
    return f"{prefix.network_address + (start - int(prefix.network_address))}/{length}"
