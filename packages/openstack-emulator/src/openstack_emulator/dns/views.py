"""Records as clients of the DNS service see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core.http import Request
from openstack_emulator.core.typed import TypedRecord, to_public
from openstack_emulator.dns.records import (
    NameServer,
    Pool,
    RecordSet,
    ServiceStatus,
    TransferAccept,
    TransferRequest,
    Zone,
    ZoneExport,
    ZoneImport,
    ZoneShare,
    ZoneTask,
)
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.floating_ips import FloatingIp
from openstack_emulator.dns.rules.names import LONGEST
from openstack_emulator.identity.rules.catalog import REGION


def link(request: Request, path: str) -> str:
    """The address of what is at a path."""
    return f"{request.base}/v2/{path}"


def _shown(request: Request, record: TypedRecord, path: str) -> dict[str, object]:
    """A record with its address, which is below a path."""
    return {**to_public(record), "links": {"self": link(request, f"{path}/{record.id}")}}


def zone_view(request: Request, zone: Zone) -> dict[str, object]:
    """A zone, and whether the caller only shares it."""
    shared = zone.project_id != request.context.project_id and not request.context.is_admin
    return {**_shown(request, zone, "zones"), "shared": shared}


def zone_link(request: Request, zone_id: str) -> str:
    """The address of a zone."""
    return link(request, f"zones/{zone_id}")


def share_view(request: Request, share: ZoneShare) -> dict[str, object]:
    """The share of a zone."""
    return _shown(request, share, f"zones/{share.zone_id}/shares")


def recordset_link(request: Request, record: RecordSet) -> str:
    """The address of a record set, below its zone."""
    return link(request, f"zones/{record.zone_id}/recordsets/{record.id}")


def recordset_view(request: Request, record: RecordSet) -> dict[str, object]:
    """A record set."""
    return _shown(request, record, f"zones/{record.zone_id}/recordsets")


def server_view(server: NameServer) -> dict[str, object]:
    """A name server of a pool."""
    return server.to_json()


def floating_ip_view(request: Request, floating_ip: FloatingIp, record: RecordSet | None) -> dict[str, object]:
    """A floating IP with its name, if it has one."""
    key = f"{REGION}:{floating_ip.id}"
    named: dict[str, object] = {
        "ptrdname": None,
        "description": None,
        "ttl": None,
        "status": "INACTIVE",
        "action": "NONE",
    }
    if record is not None:
        named = {
            "ptrdname": None if record.action == "DELETE" else record.records[0],
            "description": record.description,
            "ttl": record.ttl,
            "status": record.status,
            "action": record.action,
        }
    links = {"self": link(request, f"reverse/floatingips/{key}")}
    return {"id": key, "address": floating_ip.address, **named, "links": links}


def transfer_link(request: Request, record: TransferRequest | TransferAccept) -> str:
    """The address of a transfer request, or of an accept."""
    kind = "requests" if isinstance(record, TransferRequest) else "accepts"
    return link(request, f"zones/tasks/transfer_{kind}/{record.id}")


def transfer_request_view(caller: Caller) -> Callable[[Request, TransferRequest], dict[str, object]]:
    """Transfer requests as a caller sees them: the key is shown to their owner only."""

    def view(request: Request, record: TransferRequest) -> dict[str, Any]:
        shown = _shown(request, record, "zones/tasks/transfer_requests")
        if not caller.may_see(record):
            for name in ("key", "project_id"):
                del shown[name]
        return shown

    return view


def transfer_accept_view(request: Request, record: TransferAccept) -> dict[str, object]:
    """An accept of a transfer."""
    links = {"self": transfer_link(request, record), "zone": zone_link(request, record.zone_id)}
    return {**to_public(record), "links": links}


def import_view(request: Request, record: ZoneImport) -> dict[str, object]:
    """An import of a zone."""
    return _task_view(request, record, {"self": link(request, f"zones/tasks/imports/{record.id}")})


def export_view(request: Request, record: ZoneExport) -> dict[str, object]:
    """An export of a zone, with the address of the file once it is complete."""
    place = link(request, f"zones/tasks/exports/{record.id}")
    file = {"export": f"{place}/export"} if record.status == "COMPLETE" else {}
    return _task_view(request, record, {"self": place, **file})


def _task_view(request: Request, record: ZoneTask, links: Mapping[str, str]) -> dict[str, object]:
    zone = {} if record.zone_id is None else {"zone": zone_link(request, record.zone_id)}
    return {**to_public(record), "links": {**links, **zone}}


def operator_view(path: str) -> Callable[[Request, TypedRecord], dict[str, object]]:
    """What an operator has set up, whose collection is at a path."""
    return lambda request, record: _shown(request, record, path)


def pool_view(request: Request, pool: Pool) -> dict[str, object]:
    """A pool with its name servers."""
    return {**_shown(request, pool, "pools"), "ns_records": [server_view(server) for server in pool.ns_records]}


def process_view(request: Request, record: ServiceStatus) -> dict[str, object]:
    """The status of a process."""
    return {**_shown(request, record, "service_statuses"), "heartbeated_at": record.created_at}


def limits_view(limits: Mapping[str, int], largest_page: int) -> dict[str, object]:
    """The limits of a project, and those of all."""
    return {
        **{f"max_{name}": limits[name] for name in ("zones", "zone_recordsets", "zone_records", "recordset_records")},
        "min_ttl": None,
        "max_zone_name_length": LONGEST,
        "max_recordset_name_length": LONGEST,
        "max_page_limit": largest_page,
    }
