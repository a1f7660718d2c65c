"""Load balancers and what belongs to them: their tables, and who contains or uses whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.error_bodies import DENIED
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Table
from openstack_emulator.loadbalancer.records import (
    HealthMonitor,
    L7Policy,
    L7Rule,
    Listener,
    LoadBalancer,
    Member,
    Pool,
    Provisioned,
)
from openstack_emulator.loadbalancer.rules.errors import OUTSIDE, missing

P = TypeVar("P", bound=Provisioned)
TITLES: Mapping[type[Provisioned], str] = {
    LoadBalancer: "Load Balancer",
    Listener: "Listener",
    Pool: "Pool",
    Member: "Member",
    HealthMonitor: "Health Monitor",
    L7Policy: "L7 Policy",
    L7Rule: "L7 Rule",
}
"""What messages call the kinds of objects."""


class Tables:
    """A table for each kind of objects."""

    def __init__(self, records: Records) -> None:
        def table(name: str, kind: type[P], *indexes: str) -> Table[P]:
            return records.table(name, kind, "load_balancer_id", *indexes, missing=missing(TITLES[kind]))

        self.balancers = table("loadbalancers", LoadBalancer, "project_id")
        self.listeners = table("listeners", Listener)
        self.pools = table("pools", Pool)
        self.members = table("members", Member, "pool_id")
        self.monitors = table("healthmonitors", HealthMonitor, "pool_id")
        self.policies = table("l7policies", L7Policy, "listener_id")
        self.rules = table("rules", L7Rule, "l7policy_id")
        self._by_kind: Mapping[type[Provisioned], Table[Any]] = {
            L7Rule: self.rules,
            L7Policy: self.policies,
            Member: self.members,
            HealthMonitor: self.monitors,
            Listener: self.listeners,
            Pool: self.pools,
            LoadBalancer: self.balancers,
        }

    def of(self, kind: type[P]) -> Table[P]:
        """The table of a kind."""
        return self._by_kind[kind]

    def save(self, record: Provisioned) -> None:
        """Note that an object was changed."""
        self.of(type(record)).save(record)

    def all_of(self, balancer_id: str) -> Iterator[Provisioned]:
        """A load balancer with everything that belongs to it; what is contained precedes what contains it."""
        for table in self._by_kind.values():
            yield from table.select(load_balancer_id=balancer_id)

    # -- looking up ---------------------------------------------------------------------------------------------

    def reach(self, caller: Context, kind: type[P], key: str) -> P:
        """An object that the caller may see. Raises ApiError 404 for an unknown one, 403 for another project's."""
        record = self.of(kind).require(key)
        if not caller.may_see(record):
            raise forbidden(DENIED)
        return record

    def outer(self, caller: Context, kind: type[P], key: str) -> P:
        """The object that a path names before another one. Raises: see `reach`."""
        if self.of(kind).get(key) is None:
            raise ApiError(404, self.of(kind).missing(key).message, OUTSIDE)
        return self.reach(caller, kind, key)

    def balancer(self, record: Provisioned) -> LoadBalancer:
        """The load balancer that an object belongs to."""
        return self.balancers.require(record.load_balancer_id)

    # -- who contains and uses whom -----------------------------------------------------------------------------

    def within(self, record: Provisioned) -> Iterator[Provisioned]:
        """An object and everything that is deleted together with it."""
        yield record
        for inner in self._parts(record):
            yield from self.within(inner)

    def _parts(self, record: Provisioned) -> list[Provisioned]:
        if isinstance(record, Listener):
            return [*self.policies.select(listener_id=record.id)]
        if isinstance(record, Pool):
            return [*self.members.select(pool_id=record.id), *self.monitors.select(pool_id=record.id)]
        return [*self.rules.select(l7policy_id=record.id)] if isinstance(record, L7Policy) else []

    def around(self, record: Provisioned) -> Iterator[Provisioned]:
        """The objects that are pending together with an object: those which contain or use it."""
        if isinstance(record, Pool):
            yield from self.listeners_of(record)
        elif (container := self._container(record)) is not None:
            yield container
            yield from self.around(container)
        if not isinstance(record, LoadBalancer):
            yield self.balancer(record)

    def _container(self, record: Provisioned) -> Provisioned | None:
        """The pool, policy or listener that an object is in."""
        if isinstance(record, Member | HealthMonitor):
            return self.pools.require(record.pool_id)
        if isinstance(record, L7Rule):
            return self.policies.require(record.l7policy_id)
        return self.listeners.require(record.listener_id) if isinstance(record, L7Policy) else None

    def listeners_of(self, pool: Pool) -> list[Listener]:
        """The listeners whose default pool this is."""
        return self.listeners.select(load_balancer_id=pool.load_balancer_id, default_pool_id=pool.id)

    def policies_of(self, pool: Pool) -> list[L7Policy]:
        """The policies that redirect to a pool."""
        return self.policies.select(load_balancer_id=pool.load_balancer_id, redirect_pool_id=pool.id)

    def ordered_policies(self, listener_id: str) -> list[L7Policy]:
        """The policies of a listener by their positions."""
        return sorted(self.policies.select(listener_id=listener_id), key=lambda policy: policy.position)
