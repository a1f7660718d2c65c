"""Creation of load balancers and their parts, one at a time or all in one request."""

from __future__ import annotations

from collections import Counter
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.loadbalancer.records import L7Policy, Listener, LoadBalancer, Pool, Provisioned
from openstack_emulator.loadbalancer.rules.addresses import VirtualAddresses
from openstack_emulator.loadbalancer.rules.consistency import Consistency, check_protocols
from openstack_emulator.loadbalancer.rules.inputs import NewBalancer, NewObject, NewPool, PoolName
from openstack_emulator.loadbalancer.rules.operators import Offerings
from openstack_emulator.loadbalancer.rules.provisioning import SECONDS_TO_BUILD, SECONDS_TO_CHANGE, Provisioning
from openstack_emulator.loadbalancer.rules.quotas import Quotas
from openstack_emulator.loadbalancer.rules.siblings import Siblings
from openstack_emulator.loadbalancer.rules.tables import P, Tables

PROVIDERS = {"amphora": "The Octavia Amphora driver.", "octavia": "Deprecated alias of the Octavia Amphora driver."}
PARENTS: dict[type[Provisioned], str] = {Listener: "listener_id", Pool: "pool_id", L7Policy: "l7policy_id"}
"""The field of the objects in an object of a kind that has its ID."""


class Draft(Siblings):
    """Objects of one load balancer that a request creates: checked one after the other, and stored together."""

    def __init__(self, creation: Creation, caller: Context, balancer: LoadBalancer) -> None:
        super().__init__(creation.tables, caller, balancer)
        self._creation = creation
        self._first_pools: list[tuple[str, Pool]] = []

    def add(self, new_object: NewObject[P], container: Provisioned | None = None) -> P:
        """Draft an object, in a container, and those that it contains. Raises ApiError 400, 404 and 409."""
        parent = {} if container is None else {PARENTS[type(container)]: container.id}
        record = self._creation.new_record(
            new_object, self.balancer.project_id, load_balancer_id=self.balancer.id, id=new_id(), **parent
        )
        if new_object.pool is not None:
            self._use(record, new_object.pool)
        self._creation.consistency.check(self, record)
        if isinstance(new_object, NewPool) and new_object.listener_id is not None:
            self._become_default(record, new_object.listener_id)
        self.new_records.append(record)
        for part in new_object.parts:
            self.add(part, record)
        return record

    def _use(self, record: Provisioned, pool: NewPool | PoolName) -> None:
        """Have a listener or a policy use a pool of this request."""
        if isinstance(record, Listener):
            if record.default_pool_id:
                raise bad_request("default_pool and default_pool_id exclude each other.")
            record.default_pool_id = self._pool(pool).id
        elif isinstance(record, L7Policy):
            record.redirect_pool_id = self._pool(pool).id

    def _pool(self, new_pool: NewPool | PoolName) -> Pool:
        if isinstance(new_pool, NewPool):
            return self.add(new_pool)
        found = [record for record in self.new_records if isinstance(record, Pool) and record.name == new_pool.name]
        if not found:
            raise bad_request(f"The request contains no pool with the name {new_pool.name!r}.")
        return found[0]

    def _become_default(self, pool: Provisioned, listener_id: str) -> None:
        """Have a listener send requests to a pool by default. Raises ApiError 400, 404 and 409."""
        listener = self.part(Listener, listener_id)
        if isinstance(pool, Pool):
            check_protocols(listener, pool)
            if listener.default_pool_id:
                raise conflict("This listener already has a default pool")
            self._first_pools.append((listener_id, pool))

    def create(self) -> None:
        """Store the draft; everything is pending for a while. Raises ApiError 403 for a quota that is used up."""
        self.store()
        seconds = SECONDS_TO_BUILD if self.balancer in self.new_records else SECONDS_TO_CHANGE
        self._creation.provisioning.begin(self.balancer, {"PENDING_CREATE": self.new_records}, seconds)

    def store(self) -> None:
        """Store the draft, as far as quotas permit. Raises ApiError 403."""
        self._creation.quotas.admit(self.balancer.project_id, Counter(type(record) for record in self.new_records))
        if self.balancer in self.new_records:
            self._creation.addresses.take(self.balancer)
        for record in self.new_records:
            self.tables.of(type(record)).add(record)
            if isinstance(record, L7Policy):
                self._creation.provisioning.arrange(record.listener_id, record)
        for listener_id, pool in self._first_pools:
            listener = self.tables.listeners.require(listener_id)
            listener.default_pool_id = pool.id
            self.tables.listeners.save(listener)


class Creation(Rules):
    """Creates load balancers and their parts."""

    def __init__(
        self,
        records: Records,
        tables: Tables,
        addresses: VirtualAddresses,
        provisioning: Provisioning,
        quotas: Quotas,
        offerings: Offerings,
    ) -> None:
        super().__init__(records)
        self.tables, self.addresses, self.provisioning, self.quotas = tables, addresses, provisioning, quotas
        self.consistency = Consistency(addresses)
        self._offerings = offerings

    def new_record(self, new_object: NewObject[P], project_id: str, **more: Any) -> P:
        """A new object, which is not in its table yet; `more` are its ID and those of what it is in."""
        return new_object.kind(
            **new_object.settings,
            **more,
            project_id=project_id,
            created_at=self.provisioning.now(),
            updated_at=None,
            provisioning_status="PENDING_CREATE",
        )

    def draft(self, caller: Context, balancer: LoadBalancer) -> Draft:
        """A draft of further parts of a load balancer."""
        return Draft(self, caller, balancer)

    def create_balancer(self, caller: Context, new_balancer: NewBalancer) -> LoadBalancer:
        """Create a load balancer with what it contains. Raises ApiError 400, 403, 409."""
        project_id = new_balancer.project_id or caller.project
        if project_id != caller.project_id:
            caller.require()
        key = new_id()
        own = {"vip_vnic_type": "normal", "owns_port": True, "failovers": 0}
        balancer = self.new_record(new_balancer, project_id, id=key, load_balancer_id=key, **own)
        if balancer.provider not in PROVIDERS:
            raise bad_request(f"Provider '{balancer.provider}' is not enabled.")
        self._offerings.check(balancer.flavor_id, balancer.availability_zone)
        self.addresses.place(caller, balancer)
        draft = self.draft(caller, balancer)
        draft.new_records.append(balancer)
        for part in new_balancer.parts:
            draft.add(part)
        draft.create()
        return balancer

    def create_part(self, caller: Context, new_object: NewObject[P], container: Provisioned) -> P:
        """Create a part of a load balancer; the container is this itself, or the object that the part is in.

        Raises: ApiError 400, 403, 404 and 409.
        """
        balancer = self.tables.balancer(container)
        self.provisioning.require_mutable(balancer)
        draft = self.draft(caller, balancer)
        record = draft.add(new_object, None if new_object.kind in (Listener, Pool) else container)
        draft.create()
        return record
