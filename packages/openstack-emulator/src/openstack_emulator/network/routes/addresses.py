"""Handlers of free addresses, and of the ready-made network of a project."""

from __future__ import annotations

from typing import NamedTuple

from openstack_emulator.core.http import Request, Response
from openstack_emulator.network.records.core import Network, Subnet
from openstack_emulator.network.routes.endpoints import actor_of, writer_of
from openstack_emulator.network.rules.attributes import address_of, network_of
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.errors import disallowed
from openstack_emulator.network.rules.resources import State
from openstack_emulator.network.views.api import View


class Counts(NamedTuple):
    """How many addresses a subnet has in its pools, and how many are in use."""

    subnet: Subnet
    total: int
    used: int


def _availability(state: State, network: Network, version: str | None) -> View:
    subnets = state.rows.subnets.select(network_id=network.id)
    counts = [_counts(state, subnet) for subnet in subnets if version in (None, str(subnet.ip_version))]
    return {
        "network_id": network.id,
        "network_name": network.name,
        "project_id": network.project_id,
        "tenant_id": network.project_id,
        "total_ips": sum(count.total for count in counts),
        "used_ips": sum(count.used for count in counts),
        "subnet_ip_availability": [
            {
                "subnet_id": count.subnet.id,
                "subnet_name": count.subnet.name,
                "cidr": count.subnet.cidr,
                "ip_version": network_of(count.subnet.cidr).version,
                "total_ips": count.total,
                "used_ips": count.used,
            }
            for count in counts
        ],
    }


def _counts(state: State, subnet: Subnet) -> Counts:
    pools = [(int(address_of(pool.start)), int(address_of(pool.end))) for pool in subnet.allocation_pools]
    return Counts(subnet, sum(last - first + 1 for first, last in pools), len(state.ports.taken(subnet.id)))


def list_availabilities(network: NetworkService, request: Request) -> Response:
    if not actor_of(request).admin:
        return Response({"network_ip_availabilities": []})
    version = request.query.get("ip_version")
    rows = [_availability(network.state, record, version) for record in network.networks.rows]
    for name in ("network_id", "network_name", "tenant_id", "project_id"):
        if requested := request.query.all(name):
            rows = [row for row in rows if row.get(name) in requested]
    return Response({"network_ip_availabilities": rows})


def show_availability(network: NetworkService, request: Request) -> Response:
    actor = actor_of(request)
    if not actor.admin:
        raise disallowed("get_network_ip_availability")
    record = network.networks.reach(actor, request.vars["id"])
    return Response({"network_ip_availability": _availability(network.state, record, None)})


def show_topology(network: NetworkService, request: Request) -> Response:
    """The network a project may use without making one: found by its name, or made with subnet and router."""
    actor = writer_of(request, "get_auto_allocated_topology")
    project_id = request.vars["project_id"]
    if not actor.admin and project_id != actor.project_id:
        raise disallowed("get_auto_allocated_topology")
    if request.query.get("fields") == "dry-run":
        network.topology.check(project_id)
        return Response({"auto_allocated_topology": {"id": "dry-run=pass", "tenant_id": project_id}})
    allocated = network.topology.get(project_id)
    return Response({"auto_allocated_topology": {"id": allocated, "tenant_id": project_id, "project_id": project_id}})


def delete_topology(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "delete_auto_allocated_topology")
    project_id = request.vars["project_id"]
    if not actor.admin and project_id != actor.project_id:
        raise disallowed("delete_auto_allocated_topology")
    network.topology.delete(project_id)
    return Response(status=204)
