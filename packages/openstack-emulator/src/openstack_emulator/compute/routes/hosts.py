"""Hosts as before microversion 2.43, over HTTP."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.compute.records import Host, ServerFlavor
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields

SWITCH = fields.one_of("enable", "disable")


def list_hosts(compute: ComputeService, request: Request) -> Response:
    """Every service of every host."""
    request.context.require()
    zone, value = request.query.get("zone"), request.query.get("service")
    rows = [
        (service.host, service.binary.removeprefix("nova-"), compute.aggregates.zone_of_service(service))
        for service in compute.hosts.services
    ]
    shown = [
        {"host_name": host, "service": name, "zone": place}
        for host, name, place in rows
        if (not zone or place == zone) and value in (None, name)
    ]
    return Response({"hosts": shown})


def _host(compute: ComputeService, request: Request) -> Host:
    request.context.require()
    return compute.hosts.rows.require(request.vars["host"])


def show_host(compute: ComputeService, request: Request) -> Response:
    """What a host has, what is in use, and by whom."""
    host = _host(compute, request)
    used = compute.hosts.usage(host.id)
    by_project: dict[str, list[ServerFlavor]] = {}
    for server in compute.hosts.servers_on(host.id):
        by_project.setdefault(server.project_id, []).append(server.flavor)
    everything = [flavor for flavors in by_project.values() for flavor in flavors]
    totals = {
        "(total)": (host.vcpus, host.memory_mb, host.local_gb),
        "(used_now)": (used.vcpus_used, used.memory_mb_used, used.local_gb_used),
        "(used_max)": _sizes(everything),
        **{project: _sizes(flavors) for project, flavors in by_project.items()},
    }
    rows = [
        {"resource": {"host": host.id, "project": project, "cpu": cpu, "memory_mb": memory, "disk_gb": disk}}
        for project, (cpu, memory, disk) in totals.items()
    ]
    return Response({"host": rows})


def _sizes(flavors: list[ServerFlavor]) -> tuple[int, int, int]:
    return (
        sum(flavor.vcpus for flavor in flavors),
        sum(flavor.ram for flavor in flavors),
        sum(flavor.disk + flavor.ephemeral for flavor in flavors),
    )


def update_host(compute: ComputeService, request: Request) -> Response:
    """Enable or disable the hosts service of a host. Its hypervisors have no maintenance mode."""
    request.context.require()
    body = request.json
    check_fields(body, {"status": SWITCH, "maintenance_mode": SWITCH}, where="host")
    if not body:
        raise bad_request("One of status and maintenance_mode is needed.")
    host = _host(compute, request)
    if "maintenance_mode" in body:
        raise _unsupported("a maintenance mode")
    status, service = body["status"], compute.hosts.service_of(host.id)
    if service is not None:
        compute.hosts.services.update(service, disabled=status == "disable", disabled_reason=None)
    return Response({"host": host.id, "status": f"{status}d"})


def power(what: str) -> Callable[[ComputeService, Request], Response]:
    """An action on the power of a host, which libvirt does not support."""

    def act(compute: ComputeService, request: Request) -> Response:
        _host(compute, request)
        raise _unsupported(what)

    return act


def _unsupported(what: str) -> ApiError:
    return ApiError(501, f"The hypervisors of this cloud have no {what}.")
