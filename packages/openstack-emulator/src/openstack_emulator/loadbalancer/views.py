"""Objects as the load-balancer API shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from openstack_emulator.core.typed import TypedRecord
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
from openstack_emulator.loadbalancer.rules.amphorae import Amphora
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing

View = dict[str, Any]
NOT_SHOWN = frozenset({"load_balancer_id", "pool_id", "l7policy_id"})
QUOTA_ALIASES = {"loadbalancer": "load_balancer", "healthmonitor": "health_monitor"}
"""Second names of quotas."""
NO_TRAFFIC = dict.fromkeys(("active_connections", "bytes_in", "bytes_out", "request_errors", "total_connections"), 0)
"""Statistics: no traffic passes an emulated load balancer."""


def view(service: LoadBalancing, record: Provisioned) -> View:
    """An object as the API shows it."""
    shown = {name: value for name, value in record.to_json().items() if name[0] != "_" and name not in NOT_SHOWN}
    operating = {"tenant_id": record.project_id, "operating_status": service.operating.of(record)}
    return {**shown, **operating, **_RELATIONS[type(record)](service, record)}


def _of_balancer(service: LoadBalancing, balancer: LoadBalancer) -> View:
    return {
        "listeners": _ids(service.tables.listeners.select(load_balancer_id=balancer.id)),
        "pools": _ids(service.tables.pools.select(load_balancer_id=balancer.id)),
        "additional_vips": [],
        "vip_sg_ids": [],
    }


def _of_listener(service: LoadBalancing, listener: Listener) -> View:
    policies = service.tables.ordered_policies(listener.id)
    return {"loadbalancers": [{"id": listener.load_balancer_id}], "l7policies": _ids(policies)}


def _of_pool(service: LoadBalancing, pool: Pool) -> View:
    monitor = service.tables.monitors.first(pool_id=pool.id)
    return {
        "loadbalancers": [{"id": pool.load_balancer_id}],
        "listeners": _ids(service.tables.listeners_of(pool)),
        "members": _ids(service.tables.members.select(pool_id=pool.id)),
        **({} if monitor is None else {"healthmonitor_id": monitor.id}),
    }


def _of_member(service: LoadBalancing, member: Member) -> View:
    return {"vnic_type": "normal"}


def _of_monitor(service: LoadBalancing, monitor: HealthMonitor) -> View:
    return {"pools": [{"id": monitor.pool_id}]}


def _of_policy(service: LoadBalancing, policy: L7Policy) -> View:
    return {"rules": _ids(service.tables.rules.select(l7policy_id=policy.id))}


def _of_rule(service: LoadBalancing, rule: L7Rule) -> View:
    return {}


def _ids(records: Iterable[Provisioned]) -> list[dict[str, str]]:
    return [{"id": record.id} for record in records]


_RELATIONS: Mapping[type[Provisioned], Callable[[LoadBalancing, Any], View]] = {
    LoadBalancer: _of_balancer,
    Listener: _of_listener,
    Pool: _of_pool,
    Member: _of_member,
    HealthMonitor: _of_monitor,
    L7Policy: _of_policy,
    L7Rule: _of_rule,
}
"""What else an object shows of a kind: the objects that it belongs to and that belong to it."""


# -- the tree of states --------------------------------------------------------------------------------------------


def status_tree(service: LoadBalancing, balancer: LoadBalancer) -> View:
    """The states of a load balancer and everything that its listeners use, as a tree."""
    listeners = service.tables.listeners.select(load_balancer_id=balancer.id)
    return {
        **_states(service, balancer),
        "name": balancer.name,
        "listeners": [_listener_states(service, listener) for listener in listeners],
    }


def _states(service: LoadBalancing, record: Provisioned) -> View:
    return {
        "id": record.id,
        "provisioning_status": record.provisioning_status,
        "operating_status": service.operating.of(record),
    }


def _listener_states(service: LoadBalancing, listener: Listener) -> View:
    policies = service.tables.policies.select(listener_id=listener.id)
    pools = [_pool_states(service, pool) for pool in service.operating.pools(listener)]
    shown = {**_states(service, listener), "name": listener.name, "pools": pools}
    return {**shown, "l7policies": [_policy_states(service, policy) for policy in policies]} if policies else shown


def _pool_states(service: LoadBalancing, pool: Pool) -> View:
    members = [
        {
            **_states(service, member),
            "name": member.name,
            "address": member.address,
            "protocol_port": member.protocol_port,
        }
        for member in service.tables.members.select(pool_id=pool.id)
    ]
    shown = {**_states(service, pool), "name": pool.name, "members": members}
    if (monitor := service.tables.monitors.first(pool_id=pool.id)) is None:
        return shown
    return {**shown, "health_monitor": {**_states(service, monitor), "name": monitor.name, "type": monitor.type}}


def _policy_states(service: LoadBalancing, policy: L7Policy) -> View:
    rules = service.tables.rules.select(l7policy_id=policy.id)
    return {
        **_states(service, policy),
        "name": policy.name,
        "action": policy.action,
        "rules": [{**_states(service, rule), "type": rule.type} for rule in rules],
    }


# -- what administrators set up ------------------------------------------------------------------------------------


def operator_view(row: TypedRecord, names: Iterable[str]) -> View:
    """The fields of a flavor, an availability zone or a profile."""
    return {name: row.get(name) for name in names}


def limits_view(limits: Mapping[str, int]) -> View:
    """The limits of projects, some by two names."""
    return {**limits, **{alias: limits[name] for name, alias in QUOTA_ALIASES.items()}}


def quota_view(service: LoadBalancing, project_id: str) -> View:
    """The limits of a project."""
    own = limits_view(service.quotas.limits_of(project_id))
    return {**own, "project_id": project_id, "tenant_id": project_id}


def amphora_view(amphora: Amphora) -> View:
    """A machine of a load balancer."""
    balancer = amphora.balancer
    return {
        "id": amphora.id,
        "compute_id": amphora.server_id,
        "lb_network_ip": amphora.address,
        "vrrp_interface": None,
        "vrrp_id": 1,
        "vrrp_priority": None,
        "cert_expiration": None,
        "cert_busy": False,
        "cached_zone": amphora.zone,
        "image_id": amphora.image_id,
        "compute_flavor": amphora.flavor,
        "loadbalancer_id": balancer.id,
        "status": "ALLOCATED",
        "role": "STANDALONE",
        "ha_ip": balancer.vip_address,
        "ha_port_id": balancer.vip_port_id,
        "vrrp_ip": balancer.vip_address,
        "vrrp_port_id": balancer.vip_port_id,
        "created_at": balancer.created_at,
        "updated_at": balancer.updated_at,
    }
