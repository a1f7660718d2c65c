"""Hypervisors over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.records import Host
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import server_reference
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page


def _host_view(compute: ComputeService, request: Request, host: Host, detailed: bool) -> dict[str, object]:
    service = compute.hosts.service_of(host.id)
    by_uuid = request.version >= (2, 53)
    view: dict[str, Any] = {
        "id": host.uuid if by_uuid else host.number,
        "hypervisor_hostname": host.id,
        "state": "down" if service is not None and service.forced_down else "up",
        "status": "disabled" if service is not None and service.disabled else "enabled",
    }
    if by_uuid and request.query.boolean("with_servers"):
        servers = compute.hosts.servers_on(host.id)
        view |= {"servers": [server_reference(row) for row in servers]}
    if not detailed:
        return view
    view |= {
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8000000,
        "host_ip": f"192.168.100.{10 + host.number}",
        "service": {
            "id": service.id if by_uuid else service.number,
            "host": host.id,
            "disabled_reason": service.disabled_reason,
        }
        if service is not None
        else {},
    }
    if request.version >= (2, 88):
        return {**view, "uptime": None}
    return {**view, **_capacity(compute, host), "cpu_info": {} if request.version >= (2, 28) else "{}"}


def _capacity(compute: ComputeService, host: Host) -> dict[str, Any]:
    used = compute.hosts.usage(host.id)
    return {
        "vcpus": host.vcpus,
        "memory_mb": host.memory_mb,
        "local_gb": host.local_gb,
        **used._asdict(),
        "free_ram_mb": host.memory_mb - used.memory_mb_used,
        "free_disk_gb": host.local_gb - used.local_gb_used,
        "disk_available_least": host.local_gb - used.local_gb_used,
        "current_workload": 0,
    }


def _hypervisors(compute: ComputeService, request: Request, detailed: bool) -> Response:
    request.context.require()
    rows = list(compute.hosts.rows)
    pattern = request.query.get("hypervisor_hostname_pattern")
    if pattern is not None:
        rows = [row for row in rows if pattern in row.id]
        if not rows:
            raise not_found(f"No hypervisor matching '{pattern}' could be found.")
    shown = page(rows, request.query, key="uuid")
    return Response(shown.body(request, "hypervisors", lambda row: _host_view(compute, request, row, detailed)))


def list_hypervisors(compute: ComputeService, request: Request) -> Response:
    return _hypervisors(compute, request, detailed=False)


def list_hypervisors_detail(compute: ComputeService, request: Request) -> Response:
    return _hypervisors(compute, request, detailed=True)


def _key(request: Request) -> str:
    """The hypervisor, or a part of its name, in the path."""
    return request.vars["hypervisor_id"]


def _hypervisor(compute: ComputeService, request: Request) -> Host:
    request.context.require()
    key, by_uuid = _key(request), request.version >= (2, 53)
    host = next((row for row in compute.hosts.rows if key == (row.uuid if by_uuid else str(row.number))), None)
    if host is None:
        raise not_found(f"Hypervisor with ID '{key}' could not be found.")
    return host


def show_hypervisor(compute: ComputeService, request: Request) -> Response:
    return Response({"hypervisor": _host_view(compute, request, _hypervisor(compute, request), detailed=True)})


def hypervisor_uptime(compute: ComputeService, request: Request) -> Response:
    view = _host_view(compute, request, _hypervisor(compute, request), detailed=False)
    return Response({"hypervisor": {**view, "uptime": "up 1 day,  0:00,  0 users,  load average: 0.00, 0.00, 0.00"}})


def hypervisor_statistics(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    rows = [_capacity(compute, host) for host in compute.hosts.rows]
    total = {field: sum(row[field] for row in rows) for field in rows[0]}
    return Response({"hypervisor_statistics": {"count": len(rows), **total}})


def _search(compute: ComputeService, request: Request) -> list[Host]:
    request.context.require()
    pattern = _key(request)
    rows = [row for row in compute.hosts.rows if pattern in row.id]
    if not rows:
        raise not_found(f"No hypervisor matching '{pattern}' could be found.")
    return rows


def search_hypervisors(compute: ComputeService, request: Request) -> Response:
    rows = _search(compute, request)
    return Response({"hypervisors": [_host_view(compute, request, row, detailed=False) for row in rows]})


def hypervisor_servers(compute: ComputeService, request: Request) -> Response:
    views = []
    for host in _search(compute, request):
        servers = compute.hosts.servers_on(host.id)
        rows = [server_reference(row) for row in servers]
        views.append({**_host_view(compute, request, host, detailed=False), **({"servers": rows} if rows else {})})
    return Response({"hypervisors": views})
