"""Objects as the load-balancer API shows them, and the operating states that follow from what they belong to."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.store import Record
from openstack_emulator.loadbalancer.kinds import (
    HEALTH_MONITOR,
    L7_POLICY,
    L7_RULE,
    LISTENER,
    LOAD_BALANCER,
    MEMBER,
    POOL,
    Kind,
)
from openstack_emulator.loadbalancer.records import LoadBalancerRecords
from openstack_emulator.loadbalancer.traffic import PROBES

NOT_SHOWN = frozenset({"load_balancer_id", "pool_id", "l7policy_id"})
OF_EVERY_KIND = ("id", "project_id", "created_at", "updated_at", "provisioning_status", "operating_status")
RELATIONS = {
    LOAD_BALANCER: ("vip_vnic_type", "additional_vips"),
    LISTENER: ("loadbalancers", "load_balancer_id"),
    POOL: ("loadbalancers", "load_balancer_id", "listeners", "healthmonitor_id"),
    MEMBER: ("vnic_type",),
    HEALTH_MONITOR: ("pools",),
}
"""Further fields of kinds, which requests do not give."""
Ids = list[dict[str, str]]


def view(records: LoadBalancerRecords, kind: Kind, record: Record) -> dict[str, Any]:
    """An object as the API shows it."""
    shown = {name: value for name, value in record.items() if name[0] != "_" and name not in NOT_SHOWN}
    shown["tenant_id"] = record["project_id"]
    shown["operating_status"] = operating_status(records, kind, record)
    return {**shown, **_relations(records, kind, record)}


def filters_of(kind: Kind) -> frozenset[str]:
    """The fields by which objects of a kind can be listed."""
    return frozenset({*kind.fields, *OF_EVERY_KIND, *RELATIONS.get(kind, ())})


def operating_status(records: LoadBalancerRecords, kind: Kind, record: Record) -> str:
    """Whether an object does its work: OFFLINE until it is built and when it is switched off.

    A pool that no listener sends requests to is OFFLINE. A member without a health monitor is NO_MONITOR. What contains
    failed members is DEGRADED, a pool without any other ones is in ERROR. In a cloud whose load balancers reach guests,
    the probes of health monitors decide, and a member that has not been probed is OFFLINE.
    """
    if record["provisioning_status"] == "PENDING_CREATE" or not record["admin_state_up"]:
        return "OFFLINE"
    if kind is MEMBER:
        return _health(records, record)
    if kind is POOL:
        if not records.listeners_of(record) and not _redirects(records, record):
            return "OFFLINE"
        members = records.rows[MEMBER].select(pool_id=record["id"])
        failed = [operating_status(records, MEMBER, row) == "ERROR" for row in members]
        return "ONLINE" if not any(failed) else "ERROR" if all(failed) else "DEGRADED"
    if kind in (LISTENER, LOAD_BALANCER):
        return "DEGRADED" if any(_impaired(records, pool) for pool in _pools(records, kind, record)) else "ONLINE"
    return "ONLINE"


def _health(records: LoadBalancerRecords, member: Record) -> str:
    monitor = records.rows[HEALTH_MONITOR].first(pool_id=member["pool_id"])
    if monitor is None or not monitor["admin_state_up"]:
        return "NO_MONITOR"
    if records.cloud.guests.balancing and monitor["type"] in PROBES:
        answers = records.cloud.guests.answers(member["id"])
        if answers is None:
            return "OFFLINE"
    else:
        answers = records.addresses.answers(records.balancer(member), member)
    if not answers:
        return "ERROR"
    return "ONLINE" if member["weight"] else "DRAINING"


def _redirects(records: LoadBalancerRecords, pool: Record) -> bool:
    policies = records.rows[L7_POLICY].select(load_balancer_id=pool["load_balancer_id"])
    return any(policy["redirect_pool_id"] == pool["id"] for policy in policies)


def _impaired(records: LoadBalancerRecords, pool: Record) -> bool:
    return operating_status(records, POOL, pool) in ("DEGRADED", "ERROR")


def _pools(records: LoadBalancerRecords, kind: Kind, record: Record) -> list[Record]:
    if kind is LOAD_BALANCER:
        return records.rows[POOL].select(load_balancer_id=record["id"])
    pool = records.rows[POOL].get(record["default_pool_id"] or "")
    return [] if pool is None else [pool]


def _relations(records: LoadBalancerRecords, kind: Kind, record: Record) -> dict[str, Any]:
    own = record["id"]
    balancer = [{"id": record["load_balancer_id"]}]
    if kind is LOAD_BALANCER:
        return {
            "listeners": _ids(records, LISTENER, load_balancer_id=own),
            "pools": _ids(records, POOL, load_balancer_id=own),
            "additional_vips": [],
            "vip_sg_ids": [],
        }
    if kind is LISTENER:
        return {"loadbalancers": balancer, "l7policies": _ids(records, L7_POLICY, listener_id=own)}
    if kind is POOL:
        monitor = records.rows[HEALTH_MONITOR].first(pool_id=own)
        return {
            "loadbalancers": balancer,
            "listeners": [{"id": row["id"]} for row in records.listeners_of(record)],
            "members": _ids(records, MEMBER, pool_id=own),
            **({} if monitor is None else {"healthmonitor_id": monitor["id"]}),
        }
    if kind is HEALTH_MONITOR:
        return {"pools": [{"id": record["pool_id"]}]}
    if kind is MEMBER:
        return {"vnic_type": "normal"}
    return {"rules": _ids(records, L7_RULE, l7policy_id=own)} if kind is L7_POLICY else {}


def _ids(records: LoadBalancerRecords, kind: Kind, **equals: str) -> Ids:
    found = records.rows[kind].select(**equals)
    if kind is L7_POLICY:
        found.sort(key=lambda row: int(row["position"]))
    return [{"id": row["id"]} for row in found]


def status_tree(records: LoadBalancerRecords, balancer: Record) -> dict[str, Any]:
    """The states of a load balancer and everything that its listeners use, as a tree."""

    def states(kind: Kind, record: Record, *names: str, **inner: Any) -> dict[str, Any]:
        named = {name: record[name] for name in ("id", *names)}
        own = {"provisioning_status": record["provisioning_status"]}
        return {**named, **own, "operating_status": operating_status(records, kind, record), **inner}

    def pool(record: Record) -> dict[str, Any]:
        members = records.rows[MEMBER].select(pool_id=record["id"])
        shown = states(POOL, record, "name")
        shown["members"] = [states(MEMBER, row, "name", "address", "protocol_port") for row in members]
        if (monitor := records.rows[HEALTH_MONITOR].first(pool_id=record["id"])) is not None:
            shown["health_monitor"] = states(HEALTH_MONITOR, monitor, "name", "type")
        return shown

    def policy(record: Record) -> dict[str, Any]:
        rules = records.rows[L7_RULE].select(l7policy_id=record["id"])
        return states(L7_POLICY, record, "name", "action", rules=[states(L7_RULE, row, "type") for row in rules])

    def listener(record: Record) -> dict[str, Any]:
        policies = records.rows[L7_POLICY].select(listener_id=record["id"])
        pools = [pool(row) for row in _pools(records, LISTENER, record)]
        shown = states(LISTENER, record, "name", pools=pools)
        return {**shown, "l7policies": [policy(row) for row in policies]} if policies else shown

    return states(
        LOAD_BALANCER,
        balancer,
        "name",
        listeners=[listener(row) for row in records.rows[LISTENER].select(load_balancer_id=balancer["id"])],
    )
