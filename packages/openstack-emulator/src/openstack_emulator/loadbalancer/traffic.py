"""What load balancers do with the connections of guests, as drivers of guests understand it."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.guests.topology import Balancer, Listener, Member, Monitor, Pool
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.loadbalancer.kinds import HEALTH_MONITOR, LISTENER, LOAD_BALANCER, MEMBER, POOL, Kind
from openstack_emulator.network.guest_topology import TopologyView
from openstack_emulator.network.records import NetworkRecords

PASSED_ON = frozenset({"TCP", "HTTP", "HTTPS", "PROXY"})
"""The protocols of listeners and pools whose connections are passed on."""
PROBES = frozenset({"TCP", "HTTP", "HTTPS", "TLS-HELLO", "PING"})
"""The types of health monitors that probe members."""
WORKING = ("ACTIVE", "PENDING_UPDATE")
Rows = Mapping[Kind, Collection]


def balancers(rows: Rows, network: NetworkRecords) -> tuple[Balancer, ...]:
    """Return the load balancers with what of them is in operation."""
    found = (_balancer(rows, network, row) for row in rows[LOAD_BALANCER] if _works(row))
    return tuple(one for one in found if one is not None)


def _works(record: Record) -> bool:
    return bool(record["admin_state_up"] and record["provisioning_status"] in WORKING)


def _balancer(rows: Rows, network: NetworkRecords, balancer: Record) -> Balancer | None:
    port = network.ports.rows.get(balancer["vip_port_id"] or "")
    if port is None:
        return None
    link, routes = TopologyView(network).attachment(port)
    pools = {row["id"]: _pool(rows, row) for row in _parts(rows, POOL, balancer)}
    listeners = [_listener(row, pools) for row in _parts(rows, LISTENER, balancer)]
    return Balancer(balancer["id"], link, routes, tuple(listeners), tuple(pools.values()))


def _parts(rows: Rows, kind: Kind, balancer: Record) -> list[Record]:
    found = rows[kind].select(load_balancer_id=balancer["id"])
    return [row for row in found if _works(row) and row["protocol"] in PASSED_ON]


def _listener(listener: Record, pools: dict[str, Pool]) -> Listener:
    pool = pools.get(listener["default_pool_id"] or "")
    sources = tuple(listener["allowed_cidrs"] or ())
    most = None if listener["connection_limit"] < 0 else listener["connection_limit"]
    return Listener(listener["protocol_port"], pool, listener["protocol"] == "HTTP", sources, most)


def _pool(rows: Rows, pool: Record) -> Pool:
    members = [row for row in rows[MEMBER].select(pool_id=pool["id"]) if _works(row)]
    monitor = rows[HEALTH_MONITOR].first(pool_id=pool["id"])
    probed = monitor is not None and _works(monitor) and monitor["type"] in PROBES
    return Pool(
        tuple(_member(row) for row in members),
        pool["lb_algorithm"],
        by_source=(pool["session_persistence"] or {}).get("type") == "SOURCE_IP",
        announces=pool["protocol"] == "PROXY",
        monitor=_monitor(monitor) if monitor is not None and probed else None,
    )


def _member(member: Record) -> Member:
    probed = (member["monitor_address"] or member["address"], member["monitor_port"] or member["protocol_port"])
    address, port = member["address"], member["protocol_port"]
    return Member(member["id"], address, port, member["weight"], bool(member["backup"]), probed)


def _monitor(monitor: Record) -> Monitor:
    return Monitor(
        monitor["type"],
        monitor["delay"],
        monitor["timeout"],
        monitor["max_retries"],
        monitor["max_retries_down"],
        monitor["http_method"] or "GET",
        monitor["url_path"] or "/",
        monitor["domain_name"] or "",
        _codes(monitor["expected_codes"] or "200"),
    )


def _codes(expected: str) -> frozenset[int]:
    """Return the statuses of `200`, `200,202` or `200-204`."""
    first, _, last = expected.partition("-")
    if last:
        return frozenset(range(int(first), int(last) + 1))
    return frozenset(int(one) for one in expected.split(","))
