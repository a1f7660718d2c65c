"""Services, hosts, pools and capabilities of the back end over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.guards import admin
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.volume.backend import Backend
from openstack_emulator.volume.scheduling import CAPABILITIES
from openstack_emulator.volume.snapshots import Snapshots
from openstack_emulator.volume.tables import BACKEND_HOST, POOL

SWITCHES = ("enable", "disable", "disable-log-reason")
FROZEN = "frozen"
PROPERTIES = {
    "thin_provisioning": ("Thin Provisioning", "Sets thin provisioning."),
    "compression": ("Compression", "Enables compression."),
    "qos": ("QoS", "Enables QoS."),
    "replication_enabled": ("Replication", "Enables replication."),
}


def services(backend: Backend, request: Request) -> Response:
    host, binary = request.query.get("host"), request.query.get("binary")
    rows = [
        {
            "binary": row["binary"],
            "host": row["host"],
            "zone": row["zone"],
            "status": "disabled" if row["disabled"] else "enabled",
            "state": "up",
            "updated_at": backend.moment(),
            "disabled_reason": row["disabled_reason"],
            **({"cluster": None} if request.version >= (3, 7) else {}),
            **({"backend_state": "up"} if request.version >= (3, 49) and row["binary"] == "cinder-volume" else {}),
        }
        for row in backend.services
        if binary in (None, row["binary"]) and (host is None or host in (row["host"], row["host"].partition("@")[0]))
    ]
    return Response({"services": rows})


def change_service(backend: Backend, request: Request) -> Response:
    change = request.vars["change"]
    if change in SWITCHES:
        return _switch(backend, change, request.json)
    if change in ("freeze", "thaw"):
        return _freeze(backend, change == "freeze", request.json)
    raise not_found(f"There is no such action on services: {change}.")


def _switch(backend: Backend, change: str, wanted: Any) -> Response:
    checks = {"host": fields.text(1), "binary": fields.text(1), "disabled_reason": fields.text(1)}
    reason_needed = change == "disable-log-reason"
    fields.check_fields(wanted, checks, ("host", "binary", *(("disabled_reason",) if reason_needed else ())))
    row = backend.services.get(f"{wanted['binary']}:{wanted['host']}")
    if row is None:
        raise not_found(f"Service {wanted['binary']} could not be found on host {wanted['host']}.")
    reason = wanted["disabled_reason"] if reason_needed else None
    backend.services.update(row, disabled=change != "enable", disabled_reason=reason)
    status = "disabled" if row["disabled"] else "enabled"
    view = {"host": row["host"], "service": row["binary"], "binary": row["binary"], "status": status}
    shown_reason = {} if change == "disable" else {"disabled_reason": reason}
    return Response({**view, "disabled": row["disabled"], **shown_reason})


def _freeze(backend: Backend, frozen: bool, wanted: Any) -> Response:
    """A frozen back end gets no new backend."""
    fields.check_fields(wanted, {"host": fields.text(1)}, ("host",))
    row = backend.services.get(f"cinder-volume:{wanted['host']}")
    if row is None:
        raise bad_request(f"Invalid input received: No cinder-volume service runs on host {wanted['host']}.")
    if row["frozen"] == frozen:
        raise bad_request(f"Invalid input received: Host is already {'Frozen' if frozen else 'Thawed'}.")
    backend.services.update(row, frozen=frozen, disabled=frozen, disabled_reason=FROZEN if frozen else None)
    return Response(status=200)


def hosts(backend: Backend, request: Request) -> Response:
    rows = [
        {
            "host_name": row["host"],
            "service": row["binary"],
            "zone": row["zone"],
            "service-status": "available",
            "service-state": "disabled" if row["disabled"] else "enabled",
            "last-update": backend.moment(),
        }
        for row in backend.services
    ]
    return Response({"hosts": rows})


def _backend_host(request: Request, name: str) -> str:
    host = request.vars[name]
    if host.partition("#")[0] != BACKEND_HOST:
        raise not_found(f"Host {host} could not be found.")
    return host


def host(snapshots: Snapshots, request: Request) -> Response:
    """What is on a host: in total, and by project."""
    name = _backend_host(request, "host")
    volumes = snapshots.volumes.rows
    projects = sorted({row["project_id"] for row in volumes})
    total = _usage(name, "(total)", list(volumes), list(snapshots.rows))
    by_project = [
        _usage(name, key, volumes.select(project_id=key), snapshots.rows.select(project_id=key)) for key in projects
    ]
    return Response({"host": [{"resource": usage} for usage in (total, *by_project)]})


def _usage(name: str, project: str, volumes: list[Record], snapshots: list[Record]) -> dict[str, str]:
    return {
        "host": name,
        "project": project,
        "volume_count": str(len(volumes)),
        "total_volume_gb": str(sum(row["size"] for row in volumes)),
        "snapshot_count": str(len(snapshots)),
        "total_snapshot_gb": str(sum(row["size"] for row in snapshots)),
    }


def capabilities(backend: Backend, request: Request) -> Response:
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


def pools(backend: Backend, request: Request) -> Response:
    pool: dict[str, Any] = {"name": POOL}
    if request.query.boolean("detail"):
        used = backend.provisioned()
        pool["capabilities"] = {
            **CAPABILITIES,
            "free_capacity_gb": CAPABILITIES["total_capacity_gb"] - used,
            "allocated_capacity_gb": used,
            "provisioned_capacity_gb": used,
            "timestamp": backend.moment(),
        }
    return Response({"pools": [pool]})


ROUTES = merged(
    using(
        Backend,
        {
            "/os-services": {"GET": admin(services)},
            "/os-services/{change}": {"PUT": admin(change_service)},
            "/os-hosts": {"GET": admin(hosts)},
            "/capabilities/{host}": {"GET": admin(capabilities)},
            "/scheduler-stats/get_pools": {"GET": admin(pools)},
        },
    ),
    using(Snapshots, {"/os-hosts/{host}": {"GET": admin(host)}}),
)
