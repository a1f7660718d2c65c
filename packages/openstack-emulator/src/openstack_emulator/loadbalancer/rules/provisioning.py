"""The states that load balancers and their parts pass through.

While anything of a load balancer is pending, the whole tree is immutable: every other change is refused with 409.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import conflict
from openstack_emulator.core.rules import Rules
from openstack_emulator.loadbalancer.records import L7Policy, LoadBalancer, Pool, Provisioned
from openstack_emulator.loadbalancer.rules.addresses import VirtualAddresses
from openstack_emulator.loadbalancer.rules.errors import failure
from openstack_emulator.loadbalancer.rules.tables import TITLES, Tables
from openstack_emulator.network.rules.composition import NetworkService

SECONDS_TO_BUILD = 5.0
SECONDS_TO_CHANGE = 1.0
TIMESTAMP = "%Y-%m-%dT%H:%M:%S"
ACTIVE = "ACTIVE"


class Provisioning(Rules):
    """Begins changes of load balancers, and ends them later."""

    def __init__(self, records: Records, tables: Tables, addresses: VirtualAddresses) -> None:
        super().__init__(records)
        self._tables, self._addresses = tables, addresses
        records.deferrable(self.finish)

    def now(self) -> str:
        """The time of day as the service writes it."""
        return self.records.timestamp(TIMESTAMP)

    def require_mutable(self, balancer: LoadBalancer, *also: str) -> None:
        """409 unless the load balancer is ACTIVE, or in one of the further states."""
        if balancer.provisioning_status not in (ACTIVE, *also):
            raise conflict(f"{TITLES[LoadBalancer]} {balancer.id} is immutable and cannot be updated.")

    def begin(self, balancer: LoadBalancer, pending: Mapping[str, Iterable[Provisioned]], seconds: float) -> None:
        """Put objects of a load balancer into pending states, and what they belong to into PENDING_UPDATE.

        pending: the objects by the state that they get.
        """
        targets = [(status, record) for status, found in pending.items() for record in found]
        marked = {record.id for _, record in targets}
        for _, record in targets:
            for outer in self._tables.around(record):
                if outer.id not in marked:
                    self._set_status(outer, "PENDING_UPDATE")
        for status, record in targets:
            self._set_status(record, status)
        self.after(seconds, self.finish, balancer.id, sorted(marked))
        self._follow()

    def _set_status(self, record: Provisioned, status: str) -> None:
        record.provisioning_status = status
        self._tables.save(record)

    def _follow(self) -> None:
        """Have guests' networks follow changes of load balancers."""
        if self.cloud.guests.serves_load_balancers:
            self.cloud.of(NetworkService).state.changed()

    def finish(self, balancer_id: str, targets: list[str]) -> None:
        """End everything that is pending in a load balancer; those of `targets` with an injected fault are in ERROR."""
        for record in self._tables.all_of(balancer_id):
            has_fault = record.take_fault() is not None and record.id in targets
            if not record.provisioning_status.startswith("PENDING_"):
                continue
            if record.provisioning_status == "PENDING_DELETE" and not has_fault:
                self._remove(record)
            else:
                record.updated_at = self.now()
                self._set_status(record, "ERROR" if has_fault else ACTIVE)
        self._follow()

    def _remove(self, record: Provisioned) -> None:
        self._tables.of(type(record)).remove(record)
        if isinstance(record, LoadBalancer):
            self._addresses.release(record)
        elif isinstance(record, Pool):
            for listener in self._tables.listeners_of(record):
                listener.default_pool_id = None
                self._tables.listeners.save(listener)
        elif isinstance(record, L7Policy):
            self.arrange(record.listener_id)

    def arrange(self, listener_id: str, placed: L7Policy | None = None) -> None:
        """Number the policies of a listener from 1; `placed` gets the place that its position asks for."""
        others = [policy for policy in self._tables.ordered_policies(listener_id) if policy is not placed]
        if placed is not None:
            others.insert(placed.position - 1, placed)
        for position, policy in enumerate(others, start=1):
            if policy.position != position:
                policy.position = position
                self._tables.policies.save(policy)

    def fail_over(self, balancer: LoadBalancer) -> None:
        """Replace what a load balancer runs on. Raises ApiError 409."""
        self.require_mutable(balancer, "ERROR")
        balancer.failovers += 1
        self.begin(balancer, {"PENDING_UPDATE": [balancer]}, SECONDS_TO_CHANGE)

    def delete(self, record: Provisioned) -> None:
        """Begin the deletion of a part of a load balancer with everything in it. Raises ApiError 409."""
        balancer = self._tables.balancer(record)
        self.require_mutable(balancer)
        if isinstance(record, Pool) and (using := self._tables.policies_of(record)):
            raise conflict(f"Pool {record.id} is in use by L7 policy {using[0].id}.")
        self.begin(balancer, {"PENDING_DELETE": self._tables.within(record)}, SECONDS_TO_CHANGE)

    def delete_balancer(self, balancer: LoadBalancer, cascade: bool) -> None:
        """Begin the deletion of a load balancer. Raises ApiError 409.

        cascade: with everything that belongs to it, which is refused (400) otherwise.
        """
        targets = [*self._tables.all_of(balancer.id)]
        if len(targets) > 1 and not cascade:
            raise failure(f"Cannot delete Load Balancer {balancer.id} - it has children")
        self.require_mutable(balancer, "ERROR")
        self.begin(balancer, {"PENDING_DELETE": targets}, SECONDS_TO_CHANGE)
