"""Services, hosts, pools and capabilities of the back end over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.constants import BACKEND_HOST, POOL
from openstack_emulator.volume.rules.scheduling import CAPABILITIES, CAPACITY_GIGABYTES
from openstack_emulator.volume.views import host_view, process_view, usage_view

SWITCHES = ("enable", "disable", "disable-log-reason")
FROZEN = "frozen"
PROPERTIES = {
    "thin_provisioning": ("Thin Provisioning", "Sets thin provisioning."),
    "compression": ("Compression", "Enables compression."),
    "qos": ("QoS", "Enables QoS."),
    "replication_enabled": ("Replication", "Enables replication."),
}


def services(storage: BlockStorage, request: Request) -> Response:
    host, binary = request.query.get("host"), request.query.get("binary")
    rows = [
        process_view(request, row, storage.backend.moment())
        for row in storage.backend.services
        if binary in (None, row.binary) and (host is None or host in (row.host, row.host.partition("@")[0]))
    ]
    return Response({"services": rows})


def change_service(storage: BlockStorage, request: Request) -> Response:
    change = request.vars["change"]
    if change in SWITCHES:
        return _switch(storage, change, request.json)
    if change in ("freeze", "thaw"):
        return _freeze(storage, change == "freeze", request.json)
    raise not_found(f"There is no such action on services: {change}.")


def _switch(storage: BlockStorage, change: str, body: Any) -> Response:
    checks = {"host": fields.text(1), "binary": fields.text(1), "disabled_reason": fields.text(1)}
    reason_needed = change == "disable-log-reason"
    check_fields(body, checks, ("host", "binary", *(("disabled_reason",) if reason_needed else ())))
    binary, host = body["binary"], body["host"]
    row = storage.backend.services.get(f"{binary}:{host}")
    if row is None:
        raise not_found(f"Service {binary} could not be found on host {host}.")
    reason = body["disabled_reason"] if reason_needed else None
    row.disabled, row.disabled_reason = change != "enable", reason
    storage.backend.services.save(row)
    status = "disabled" if row.disabled else "enabled"
    view = {"host": row.host, "service": row.binary, "binary": row.binary, "status": status}
    shown_reason = {} if change == "disable" else {"disabled_reason": reason}
    return Response({**view, "disabled": row.disabled, **shown_reason})


def _freeze(storage: BlockStorage, frozen: bool, body: Any) -> Response:
    """A frozen back end gets no new volumes."""
    check_fields(body, {"host": fields.text(1)}, ("host",))
    host = body["host"]
    row = storage.backend.services.get(f"cinder-volume:{host}")
    if row is None:
        raise bad_request(f"Invalid input received: No cinder-volume service runs on host {host}.")
    if row.frozen == frozen:
        raise bad_request(f"Invalid input received: Host is already {'Frozen' if frozen else 'Thawed'}.")
    row.frozen, row.disabled, row.disabled_reason = frozen, frozen, FROZEN if frozen else None
    storage.backend.services.save(row)
    return Response(status=200)


def hosts(storage: BlockStorage, request: Request) -> Response:
    return Response({"hosts": [host_view(row, storage.backend.moment()) for row in storage.backend.services]})


def _backend_host(request: Request, name: str) -> str:
    host = request.vars[name]
    if host.partition("#")[0] != BACKEND_HOST:
        raise not_found(f"Host {host} could not be found.")
    return host


def host(storage: BlockStorage, request: Request) -> Response:
    """What is on a host: in total, and by project."""
    name = _backend_host(request, "host")
    volumes, snapshots = storage.volumes.rows, storage.snapshots.rows
    projects = sorted({row.project_id for row in volumes})
    total = usage_view(name, "(total)", list(volumes), list(snapshots))
    by_project = [
        usage_view(name, key, volumes.select(project_id=key), storage.snapshots.rows.select(project_id=key))
        for key in projects
    ]
    return Response({"host": [{"resource": usage} for usage in (total, *by_project)]})


def capabilities(storage: BlockStorage, request: Request) -> Response:
    name = _backend_host(request, "host")
    shown = {
        key: CAPABILITIES[key] for key in ("vendor_name", "volume_backend_name", "driver_version", "storage_protocol")
    }
    properties = {
        key: {"title": title, "description": description, "type": "boolean"}
        for key, (title, description) in PROPERTIES.items()
    }
    return Response(
        {
            **shown,
            "namespace": f"OS::Storage::Capabilities::{name}",
            "pool_name": None,
            "display_name": None,
            "description": None,
            "visibility": None,
            "replication_targets": [],
            "properties": properties,
        }
    )


def pools(storage: BlockStorage, request: Request) -> Response:
    if not request.query.boolean("detail"):
        return Response({"pools": [{"name": POOL}]})
    used = storage.backend.provisioned()
    now = {
        **CAPABILITIES,
        "free_capacity_gb": CAPACITY_GIGABYTES - used,
        "allocated_capacity_gb": used,
        "provisioned_capacity_gb": used,
        "timestamp": storage.backend.moment(),
    }
    return Response({"pools": [{"name": POOL, "capabilities": now}]})
