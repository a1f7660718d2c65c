"""The operating states that follow from what objects belong to."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.loadbalancer.records import Listener, LoadBalancer, Member, Pool, Provisioned
from openstack_emulator.loadbalancer.rules.addresses import VirtualAddresses
from openstack_emulator.loadbalancer.rules.tables import Tables
from openstack_emulator.loadbalancer.rules.traffic import PROBES

ONLINE, OFFLINE, DEGRADED, ERROR = "ONLINE", "OFFLINE", "DEGRADED", "ERROR"


class OperatingStates(Rules):
    """Finds out whether objects do their work."""

    def __init__(self, records: Records, tables: Tables, addresses: VirtualAddresses) -> None:
        super().__init__(records)
        self._tables, self._addresses = tables, addresses

    def of(self, record: Provisioned) -> str:
        """Whether an object does its work: OFFLINE until it is built and when it is switched off.

        A pool that no listener sends requests to is OFFLINE. A member without a health monitor is NO_MONITOR. What
        contains failed members is DEGRADED, a pool without any other ones is in ERROR. In a cloud whose load balancers
        reach guests, the probes of health monitors decide, and a member that has not been probed is OFFLINE.
        """
        if record.provisioning_status == "PENDING_CREATE" or not record.admin_state_up:
            return OFFLINE
        if isinstance(record, Member):
            return self._of_member(record)
        if isinstance(record, Pool):
            return self._of_pool(record)
        return DEGRADED if any(self.of(pool) in (DEGRADED, ERROR) for pool in self.pools(record)) else ONLINE

    def _of_member(self, member: Member) -> str:
        monitor = self._tables.monitors.first(pool_id=member.pool_id)
        if monitor is None or not monitor.admin_state_up:
            return "NO_MONITOR"
        if self.cloud.guests.serves_load_balancers and monitor.type in PROBES:
            answers = self.cloud.guests.answers(member.id)
            if answers is None:
                return OFFLINE
        else:
            answers = self._addresses.answers(self._tables.balancer(member), member)
        if not answers:
            return ERROR
        return ONLINE if member.weight else "DRAINING"

    def _of_pool(self, pool: Pool) -> str:
        if not self._tables.listeners_of(pool) and not self._tables.policies_of(pool):
            return OFFLINE
        failed = [self.of(member) == ERROR for member in self._tables.members.select(pool_id=pool.id)]
        return ONLINE if not any(failed) else ERROR if all(failed) else DEGRADED

    def pools(self, record: Provisioned) -> list[Pool]:
        """All pools of a load balancer, or the default pool of a listener."""
        if isinstance(record, LoadBalancer):
            return self._tables.pools.select(load_balancer_id=record.id)
        pool = self._tables.pools.get(record.default_pool_id or "") if isinstance(record, Listener) else None
        return [] if pool is None else [pool]
