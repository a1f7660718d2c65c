"""Interfaces, volumes, security groups and the history of a server over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.block_devices import BlockDevices
from openstack_emulator.compute.group_proxies import GROUPS, group_view
from openstack_emulator.compute.interfaces import Interfaces, missing_port
from openstack_emulator.compute.server_routes import TAG, found
from openstack_emulator.compute.servers import Servers
from openstack_emulator.compute.tables import missing
from openstack_emulator.compute.views import ServerViews, attachment_view, interface_view
from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import ask
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Record

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


def topology(views: ServerViews, request: Request) -> Response:
    """The NUMA topology of a server, which has none."""
    found(views.servers, request)
    return Response({"nodes": [], "pagesize_kb": None})


def list_interfaces(interfaces: Interfaces, request: Request) -> Response:
    ports = interfaces.of_server(found(interfaces.servers, request))
    return Response({"interfaceAttachments": [interface_view(interfaces, request, port) for port in ports]})


def show_interface(interfaces: Interfaces, request: Request) -> Response:
    server = found(interfaces.servers, request)
    ports = interfaces.of_server(server)
    key = request.vars["port_id"]
    port = next((port for port in ports if port.id == key), None)
    if port is None:
        raise missing_port(server, key)
    return Response({"interfaceAttachment": interface_view(interfaces, request, port)})


def attach_interface(interfaces: Interfaces, request: Request) -> Response:
    history = interfaces.servers.history
    server = found(interfaces.servers, request)
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
    interfaces.servers.require_unlocked(request.context, server)
    asked = {"port": wanted.get("port_id"), "uuid": wanted.get("net_id"), "tag": wanted.get("tag")}
    for row in addresses:
        fields.check_fields(row, {"ip_address": fields.text(1, 45)}, ("ip_address",), "fixed_ips")
        asked["fixed_ip"] = row["ip_address"]
    history.begin(request.context, request.id, server, "attach_interface")
    try:
        port = interfaces.attach(request.context, server, asked)
    except ApiError as error:
        history.end(server["id"], "Error", error.message)
        raise
    history.end(server["id"])
    return Response({"interfaceAttachment": interface_view(interfaces, request, port)})


def detach_interface(interfaces: Interfaces, request: Request) -> Response:
    server = found(interfaces.servers, request)
    interfaces.servers.require_unlocked(request.context, server)
    interfaces.detach(server, request.vars["port_id"])
    interfaces.servers.history.begin(request.context, request.id, server, "detach_interface")
    return Response(status=202)


def list_volumes(devices: BlockDevices, request: Request) -> Response:
    rows = devices.of_server(found(devices.servers, request))
    offset = request.query.integer("offset") or 0
    shown = page(rows[offset:], request.query, key="volume_id").rows
    return Response({"volumeAttachments": [attachment_view(request, row) for row in shown]})


def show_volume(devices: BlockDevices, request: Request) -> Response:
    device = devices.find(found(devices.servers, request), request.vars["volume_id"])
    return Response({"volumeAttachment": attachment_view(request, device)})


def attach_volume(devices: BlockDevices, request: Request) -> Response:
    server, wanted = found(devices.servers, request), request.object("volumeAttachment")
    checks: dict[str, fields.Check] = {
        "volumeId": fields.identifier,
        "device": fields.nullable(fields.text(0, 255, r"(/dev/)?[a-z0-9]*")),
    }
    if request.version >= (2, 49):
        checks["tag"] = TAG
    if request.version >= (2, 79):
        checks["delete_on_termination"] = fields.boolean
    fields.check_fields(wanted, checks, ("volumeId",), "volumeAttachment")
    devices.servers.require_unlocked(request.context, server)
    asked = {
        "volume_id": wanted["volumeId"],
        "device": wanted.get("device"),
        "tag": wanted.get("tag"),
        "delete_on_termination": bool(fields.as_boolean(wanted.get("delete_on_termination", False))),
    }
    device = devices.attach(request.context, server, asked)
    devices.servers.history.begin(request.context, request.id, server, "attach_volume")
    shown = attachment_view(request, device)
    hidden = ("attachment_id", "bdm_uuid")
    view = {name: value for name, value in shown.items() if name not in hidden}
    return Response({"volumeAttachment": {**view, "id": device["volume_id"]}})


def update_volume(devices: BlockDevices, request: Request) -> Response:
    server, wanted, volume_id = (
        found(devices.servers, request),
        request.object("volumeAttachment"),
        request.vars["volume_id"],
    )
    device = devices.find(server, volume_id)
    fields.check_fields(wanted, {"volumeId": fields.identifier}, ("volumeId",), "volumeAttachment", strict=False)
    if request.version >= (2, 85) and wanted["volumeId"] == volume_id:
        if (keep := fields.as_boolean(wanted.get("delete_on_termination"))) is not None:
            devices.rows.update(device, delete_on_termination=keep)
        return Response(status=202)
    request.context.require()
    devices.swap(request.context, server, volume_id, wanted["volumeId"])
    devices.servers.history.begin(request.context, request.id, server, "swap_volume")
    return Response(status=202)


def detach_volume(devices: BlockDevices, request: Request) -> Response:
    server = found(devices.servers, request)
    devices.servers.require_unlocked(request.context, server)
    devices.detach(server, request.vars["volume_id"])
    devices.servers.history.begin(request.context, request.id, server, "detach_volume")
    return Response(status=202)


def list_security_groups(views: ServerViews, request: Request) -> Response:
    """The groups of a server, as `/os-security-groups` shows them."""
    groups = views.security_groups.of_server(found(views.servers, request))
    found_ = [ask(views.cloud, request, "GET", f"{GROUPS}/{group.id}")["security_group"] for group in groups]
    return Response({"security_groups": [group_view(views.records, request, group) for group in found_]})


def _history(servers: Servers, request: Request) -> list[Record]:
    """The history of a server, latest entry first; since 2.21 also of a deleted one."""
    key = request.vars["server_id"]
    rows = servers.history.rows.select(server_id=key)[::-1]
    if key in servers.rows or request.version < (2, 21) or not rows:
        servers.find(request.context, key)
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


def list_events(servers: Servers, request: Request) -> Response:
    rows = _history(servers, request)
    if request.version < (2, 58):
        return Response({"instanceActions": [_event_view(request, row) for row in rows]})
    shown = page(rows, request.query)
    body: dict[str, Any] = {"instanceActions": [_event_view(request, row) for row in shown.rows]}
    if shown.next_marker is not None:
        body["links"] = shown.links(request)
    return Response(body)


def show_event(servers: Servers, request: Request) -> Response:
    rows, key = _history(servers, request), request.vars["request_id"]
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
    if request.version >= (2, 84) and request.context.is_admin:
        view["details"] = event["message"]
    return view


def diagnostics(views: ServerViews, request: Request) -> Response:
    request.context.require()
    server = found(views.servers, request)
    if server["vm_state"] not in ("active", "rescued", "paused"):
        raise conflict(f"Instance {server['id']} is not running: it is in vm_state {server['vm_state']}.")
    flavor, ports = server["flavor"], views.interfaces.of_server(server)
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
            "num_disks": len(views.block_devices.of_server(server)) + bool(server["image_id"]),
            "disk_details": [],
            "cpu_details": [{"id": at, "time": 0, "utilisation": 0} for at in range(flavor["vcpus"])],
            "nic_details": [{"mac_address": port.mac_address, **counts} for port in ports],
            "memory_details": {"maximum": flavor["ram"], "used": flavor["ram"]},
        }
    )


def show_password(servers: Servers, request: Request) -> Response:
    """The encrypted password that the guest has set by the metadata service."""
    return Response({"password": found(servers, request).get("_guest_password", "")})


def clear_password(servers: Servers, request: Request) -> Response:
    servers.rows.update(found(servers, request), _guest_password="")
    return Response(status=204)


def list_shares(servers: Servers, request: Request) -> Response:
    """None: the cloud has no shared file systems."""
    found(servers, request)
    return Response({"shares": []})


def no_share(servers: Servers, request: Request) -> Response:
    found(servers, request)
    key = request.vars.get("share_id") or request.object("share").get("share_id")
    raise not_found(f"Share {key} could not be found.")
