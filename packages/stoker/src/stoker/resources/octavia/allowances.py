"""What load balancers and their parts take of Octavia's quotas.

Members of pools and rules of policies are not counted: Octavia lists them below each pool and each policy only.
"""

from __future__ import annotations

from stoker.plugins.preflight import Consumption, Quota, counted
from stoker.resources.neutron.allowances import PORTS, counts

_read = counted(
    "octavia",
    "/lbaas/quotas/{project}",
    "quota",
    {
        "load_balancer": ("/lbaas/loadbalancers", "loadbalancers"),
        "listener": ("/lbaas/listeners", "listeners"),
        "pool": ("/lbaas/pools", "pools"),
        "health_monitor": ("/lbaas/healthmonitors", "healthmonitors"),
        "l7policy": ("/lbaas/l7policies", "l7policies"),
    },
    owner="project_id",
)


def _counts(name: str, label: str) -> tuple[Consumption, ...]:
    return (Consumption(Quota("octavia", name, label, _read(name)), owner="tenant_id"),)


LOAD_BALANCER = (*_counts("load_balancer", "load balancers"), *counts(PORTS))
"""A load balancer, and the port that has its address."""
LISTENER = _counts("listener", "listeners")
POOL = _counts("pool", "pools")
HEALTH_MONITOR = _counts("health_monitor", "health monitors")
L7_POLICY = _counts("l7policy", "policies of listeners")
