"""What load balancers do with the connections of guests, as drivers of guests understand it."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.core.guests import topology
from openstack_emulator.loadbalancer.records import HealthMonitor, Listener, LoadBalancer, Member, Pool, Provisioned
from openstack_emulator.loadbalancer.rules.tables import P, Tables
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.views.guests import TopologyView

PASSED_ON = frozenset({"TCP", "HTTP", "HTTPS", "PROXY"})
"""The protocols of listeners and pools whose connections are passed on."""
PROBES = frozenset({"TCP", "HTTP", "HTTPS", "TLS-HELLO", "PING"})
"""The types of health monitors that probe members."""
WORKING = ("ACTIVE", "PENDING_UPDATE")


def balancers(tables: Tables, network: NetworkService) -> tuple[topology.Balancer, ...]:
    """Return the load balancers with what of them is in operation."""
    found = (_balancer(tables, network, balancer) for balancer in _working(tables.balancers))
    return tuple(record for record in found if record is not None)


def _working(records: Iterable[P]) -> list[P]:
    return [record for record in records if _works(record)]


def _works(record: Provisioned) -> bool:
    return record.admin_state_up and record.provisioning_status in WORKING


def _balancer(tables: Tables, network: NetworkService, balancer: LoadBalancer) -> topology.Balancer | None:
    port = network.ports.rows.get(balancer.vip_port_id or "")
    if port is None:
        return None
    link, routes = TopologyView(network).attachment(port)
    pools = {
        pool.id: _pool(tables, pool)
        for pool in _working(tables.pools.select(load_balancer_id=balancer.id))
        if pool.protocol in PASSED_ON
    }
    listeners = [
        _listener(listener, pools)
        for listener in _working(tables.listeners.select(load_balancer_id=balancer.id))
        if listener.protocol in PASSED_ON
    ]
    return topology.Balancer(balancer.id, link, routes, tuple(listeners), tuple(pools.values()))


def _listener(listener: Listener, pools: dict[str, topology.Pool]) -> topology.Listener:
    pool = pools.get(listener.default_pool_id or "")
    sources = tuple(listener.allowed_cidrs or ())
    most = None if listener.connection_limit < 0 else listener.connection_limit
    return topology.Listener(listener.protocol_port, pool, listener.protocol == "HTTP", sources, most)


def _pool(tables: Tables, pool: Pool) -> topology.Pool:
    members = _working(tables.members.select(pool_id=pool.id))
    monitor = tables.monitors.first(pool_id=pool.id)
    probed = monitor is not None and _works(monitor) and monitor.type in PROBES
    return topology.Pool(
        tuple(_member(member) for member in members),
        pool.lb_algorithm,
        by_source=(pool.session_persistence or {}).get("type") == "SOURCE_IP",
        announces=pool.protocol == "PROXY",
        monitor=_monitor(monitor) if monitor is not None and probed else None,
    )


def _member(member: Member) -> topology.Member:
    probed = (member.monitor_address or member.address, member.monitor_port or member.protocol_port)
    return topology.Member(member.id, member.address, member.protocol_port, member.weight, member.backup, probed)


def _monitor(monitor: HealthMonitor) -> topology.Monitor:
    return topology.Monitor(
        monitor.type,
        monitor.delay,
        monitor.timeout,
        monitor.max_retries,
        monitor.max_retries_down,
        monitor.http_method or "GET",
        monitor.url_path or "/",
        monitor.domain_name or "",
        _codes(monitor.expected_codes or "200"),
    )


def _codes(expected: str) -> frozenset[int]:
    """Return the statuses of `200`, `200,202` or `200-204`."""
    first, _, last = expected.partition("-")
    if last:
        return frozenset(range(int(first), int(last) + 1))
    return frozenset(int(code) for code in expected.split(","))
