"""Interfaces, volumes, security groups and the history of a server over HTTP."""

from __future__ import annotations

from typing import Any

from stoker.emulator.compute.group_proxies import GROUPS, group_view
from stoker.emulator.compute.records import ComputeRecords
from stoker.emulator.compute.server_routes import TAG, found
from stoker.emulator.compute.tables import missing
from stoker.emulator.compute.views import attachment_view, interface_view
from stoker.emulator.core.cloud import Routes
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.internal import ask
from stoker.emulator.core.paging import page
from stoker.emulator.core.store import Record
from stoker.emulator.network.records import NetworkRecords
from stoker.emulator.volume import fields

EVENT_NAMES = {
    "create": "compute__do_build_and_run_instance",
    "delete": "compute_terminate_instance",
    "stop": "compute_stop_instance",
    "start": "compute_start_instance",
    "reboot": "compute_reboot_instance",
    "rebuild": "compute_rebuild_instance",
    "resize": "compute_finish_resize",
    "attach_volume": "compute_attach_volume",
    "detach_volume": "compute_detach_volume",
    "extend_volume": "compute_extend_volume",
    "attach_interface": "compute_attach_interface",
    "detach_interface": "compute_detach_interface",
}


def list_interfaces(compute: ComputeRecords, request: Request) -> Response:
    ports = compute.cloud.of(NetworkRecords).ports_of_device(found(compute, request)["id"])
    return Response({"interfaceAttachments": [interface_view(compute, request, port) for port in ports]})


def show_interface(compute: ComputeRecords, request: Request) -> Response:
    ports = compute.cloud.of(NetworkRecords).ports_of_device(found(compute, request)["id"])
    key = request.vars["port_id"]
    port = next((port for port in ports if port["id"] == key), None)
    if port is None:
        raise not_found(f"Port id {key} not found.")
    return Response({"interfaceAttachment": interface_view(compute, request, port)})


def attach_interface(compute: ComputeRecords, request: Request) -> Response:
    server = found(compute, request)
    body = request.json if request.body else {}
    wanted = (body or {}).get("interfaceAttachment") or {}
    checks: dict[str, fields.Check] = {
        "net_id": fields.nullable(fields.identifier),
        "port_id": fields.nullable(fields.identifier),
        "fixed_ips": fields.nullable(fields.items(fields.anything, 1)),
    }
    if request.version >= (2, 49):
        checks["tag"] = TAG
    fields.check_fields(wanted, checks, where="interfaceAttachment")
    addresses = wanted.get("fixed_ips") or []
    if addresses and not wanted.get("net_id"):
        raise bad_request("Must input network_id when request IP address")
    if wanted.get("net_id") and wanted.get("port_id"):
        raise bad_request("Must not input both network_id and port_id")
    compute.require_unlocked(request.context, server)
    asked = {"port": wanted.get("port_id"), "uuid": wanted.get("net_id"), "tag": wanted.get("tag")}
    for row in addresses:
        fields.check_fields(row, {"ip_address": fields.text(1, 45)}, ("ip_address",), "fixed_ips")
        asked["fixed_ip"] = row["ip_address"]
    compute.note(request.context, request.id, server, "attach_interface")
    try:
        port = compute.attach_interface(request.context, server, asked)
    except ApiError as error:
        compute.end_events(server["id"], "Error", error.message)
        raise
    compute.end_events(server["id"])
    return Response({"interfaceAttachment": interface_view(compute, request, port)})


def detach_interface(compute: ComputeRecords, request: Request) -> Response:
    server = found(compute, request)
    compute.require_unlocked(request.context, server)
    compute.detach_interface(server, request.vars["port_id"])
    compute.note(request.context, request.id, server, "detach_interface")
    return Response(status=202)


def list_volumes(compute: ComputeRecords, request: Request) -> Response:
    rows = compute.block_devices.select(server_id=found(compute, request)["id"])
    offset = request.query.integer("offset") or 0
    shown = page(rows[offset:], request.query, key="volume_id").rows
    return Response({"volumeAttachments": [attachment_view(request, row) for row in shown]})


def show_volume(compute: ComputeRecords, request: Request) -> Response:
    device = compute.device_for(found(compute, request), request.vars["volume_id"])
    return Response({"volumeAttachment": attachment_view(request, device)})


def attach_volume(compute: ComputeRecords, request: Request) -> Response:
    server, wanted = found(compute, request), request.object("volumeAttachment")
    checks: dict[str, fields.Check] = {
        "volumeId": fields.identifier,
        "device": fields.nullable(fields.text(0, 255, r"(/dev/)?[a-z0-9]*")),
    }
    if request.version >= (2, 49):
        checks["tag"] = TAG
    if request.version >= (2, 79):
        checks["delete_on_termination"] = fields.boolean
    fields.check_fields(wanted, checks, ("volumeId",), "volumeAttachment")
    compute.require_unlocked(request.context, server)
    asked = {
        "volume_id": wanted["volumeId"],
        "device": wanted.get("device"),
        "tag": wanted.get("tag"),
        "delete_on_termination": bool(fields.as_boolean(wanted.get("delete_on_termination", False))),
    }
    device = compute.attach_volume(request.context, server, asked)
    compute.note(request.context, request.id, server, "attach_volume")
    return Response({"volumeAttachment": {**attachment_view(request, device), "id": device["volume_id"]}})


def update_volume(compute: ComputeRecords, request: Request) -> Response:
    server, wanted, volume_id = found(compute, request), request.object("volumeAttachment"), request.vars["volume_id"]
    device = compute.device_for(server, volume_id)
    fields.check_fields(wanted, {"volumeId": fields.identifier}, ("volumeId",), "volumeAttachment", strict=False)
    if request.version >= (2, 85) and wanted["volumeId"] == volume_id:
        if (keep := fields.as_boolean(wanted.get("delete_on_termination"))) is not None:
            compute.block_devices.update(device, delete_on_termination=keep)
        return Response(status=202)
    request.context.require()
    compute.swap_volume(request.context, server, volume_id, wanted["volumeId"])
    compute.note(request.context, request.id, server, "swap_volume")
    return Response(status=202)


def detach_volume(compute: ComputeRecords, request: Request) -> Response:
    server = found(compute, request)
    compute.require_unlocked(request.context, server)
    compute.detach_volume(server, request.vars["volume_id"])
    compute.note(request.context, request.id, server, "detach_volume")
    return Response(status=202)


def list_security_groups(compute: ComputeRecords, request: Request) -> Response:
    """The groups of a server, as `/os-security-groups` shows them."""
    groups = compute.security_groups(found(compute, request))
    found_ = [ask(compute.cloud, request, "GET", f"{GROUPS}/{group['id']}")["security_group"] for group in groups]
    return Response({"security_groups": [group_view(compute, request, group) for group in found_]})


def _history(compute: ComputeRecords, request: Request) -> list[Record]:
    """What was done to the server, latest first; since 2.21 also to one that is gone."""
    key = request.vars["server_id"]
    rows = compute.events.select(server_id=key)[::-1]
    if key in compute.servers or request.version < (2, 21) or not rows:
        compute.server_for(request.context, key)
    elif not request.context.is_admin and rows[0]["server_project_id"] != request.context.project_id:
        raise missing("servers", key)
    return rows


def _event_view(request: Request, event: Record) -> dict[str, Any]:
    view = {
        "action": event["action"],
        "instance_uuid": event["server_id"],
        "request_id": event["id"],
        "user_id": event["user_id"],
        "project_id": event["project_id"],
        "start_time": event["start"],
        "message": "Error" if event["result"] == "Error" else None,
    }
    if request.version >= (2, 58):
        view["updated_at"] = event["updated"]
    return view


def list_events(compute: ComputeRecords, request: Request) -> Response:
    rows = _history(compute, request)
    if request.version < (2, 58):
        return Response({"instanceActions": [_event_view(request, row) for row in rows]})
    shown = page(rows, request.query)
    body: dict[str, Any] = {"instanceActions": [_event_view(request, row) for row in shown.rows]}
    if shown.next_marker is not None:
        body["links"] = shown.links(request)
    return Response(body)


def show_event(compute: ComputeRecords, request: Request) -> Response:
    rows, key = _history(compute, request), request.vars["request_id"]
    event = next((row for row in rows if row["id"] == key), None)
    if event is None:
        raise not_found(f"Action for request_id {key} on instance {request.vars['server_id']} not found")
    view = _event_view(request, event)
    if request.context.is_admin or request.version >= (2, 51):
        view["events"] = [_step_view(request, event)]
    return Response({"instanceAction": view})


def _step_view(request: Request, event: Record) -> dict[str, Any]:
    view = {
        "event": EVENT_NAMES.get(event["action"], f"compute_{event['action']}_instance"),
        "start_time": event["start"],
        "finish_time": event["finish"],
        "result": event["result"],
    }
    if request.context.is_admin or request.version < (2, 51):
        view["traceback"] = None
    if request.version >= (2, 62):
        view["hostId"] = event["host"] or ""
        if request.context.is_admin:
            view["host"] = event["host"]
    if request.version >= (2, 84):
        view["details"] = event["message"]
    return view


def diagnostics(compute: ComputeRecords, request: Request) -> Response:
    request.context.require()
    server = found(compute, request)
    if server["vm_state"] not in ("active", "rescued", "paused"):
        raise conflict(f"Instance {server['id']} is not running: it is in vm_state {server['vm_state']}.")
    flavor, ports = server["flavor"], compute.cloud.of(NetworkRecords).ports_of_device(server["id"])
    if request.version < (2, 48):
        return Response({**{f"cpu{at}_time": 0 for at in range(flavor["vcpus"])}, "memory": flavor["ram"] * 1024})
    counts = dict.fromkeys(
        (f"{way}_{what}" for way in ("rx", "tx") for what in ("octets", "errors", "drop", "packets", "rate")), 0
    )
    return Response(
        {
            "state": "running" if server["vm_state"] == "active" else "paused",
            "driver": "libvirt",
            "hypervisor": "kvm",
            "hypervisor_os": "linux",
            "uptime": 0,
            "config_drive": server["config_drive"] == "True",
            "num_cpus": flavor["vcpus"],
            "num_nics": len(ports),
            "num_disks": len(compute.block_devices.select(server_id=server["id"])) + bool(server["image_id"]),
            "disk_details": [],
            "cpu_details": [{"id": at, "time": 0, "utilisation": 0} for at in range(flavor["vcpus"])],
            "nic_details": [{"mac_address": port["mac_address"], **counts} for port in ports],
            "memory_details": {"maximum": flavor["ram"], "used": flavor["ram"]},
        }
    )


def show_password(compute: ComputeRecords, request: Request) -> Response:
    """The encrypted password that the guest has set: none, as no guest runs."""
    found(compute, request)
    return Response({"password": ""})


def clear_password(compute: ComputeRecords, request: Request) -> Response:
    found(compute, request)
    return Response(status=204)


def list_shares(compute: ComputeRecords, request: Request) -> Response:
    """None: the cloud has no shared file systems."""
    found(compute, request)
    return Response({"shares": []})


def no_share(compute: ComputeRecords, request: Request) -> Response:
    found(compute, request)
    key = request.vars.get("share_id") or request.object("share").get("share_id")
    raise not_found(f"Share {key} could not be found.")


SHARE_ROUTES: Routes = {
    "/servers/{server_id}/shares": {"GET": list_shares, "POST": no_share},
    "/servers/{server_id}/shares/{share_id}": {"GET": no_share, "DELETE": no_share},
}
