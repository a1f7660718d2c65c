"""Volumes of servers over HTTP."""

from __future__ import annotations

from openstack_emulator.compute.records import BlockDevice, RequestedDevice, Server
from openstack_emulator.compute.routes.bodies import TAG, found
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import attachment_view
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check


def list_volumes(compute: ComputeService, request: Request) -> Response:
    rows = compute.attachments.block_devices.of_server(found(compute, request))
    offset = request.query.integer("offset") or 0
    shown = page(rows[offset:], request.query, key="volume_id").rows
    return Response({"volumeAttachments": [attachment_view(request, row) for row in shown]})


def _device(compute: ComputeService, request: Request, server: Server) -> BlockDevice:
    """The volume of a server that the path names."""
    return compute.attachments.block_devices.find(server, request.vars["volume_id"])


def show_volume(compute: ComputeService, request: Request) -> Response:
    device = _device(compute, request, found(compute, request))
    return Response({"volumeAttachment": attachment_view(request, device)})


def attach_volume(compute: ComputeService, request: Request) -> Response:
    server, body = found(compute, request), request.object("volumeAttachment")
    checks: dict[str, Check] = {
        "volumeId": fields.identifier,
        "device": fields.nullable(fields.text(0, 255, r"(/dev/)?[a-z0-9]*")),
    }
    if request.version >= (2, 49):
        checks |= {"tag": TAG}
    if request.version >= (2, 79):
        checks |= {"delete_on_termination": fields.boolean}
    check_fields(body, checks, ("volumeId",), "volumeAttachment")
    compute.servers.require_unlocked(request.context, server)
    requested_device = RequestedDevice(
        device=body.get("device"),
        tag=body.get("tag"),
        delete_on_termination=bool(as_boolean(body.get("delete_on_termination", False))),
        boot_index=None,
    )
    device = compute.attachments.block_devices.attach(request.context, server, body["volumeId"], requested_device)
    compute.reports.history.begin(request.context, request.id, server, "attach_volume")
    shown = attachment_view(request, device)
    hidden = ("attachment_id", "bdm_uuid")
    view = {name: value for name, value in shown.items() if name not in hidden}
    return Response({"volumeAttachment": {**view, "id": device.volume_id}})


def update_volume(compute: ComputeService, request: Request) -> Response:
    server, body = found(compute, request), request.object("volumeAttachment")
    device = _device(compute, request, server)
    check_fields(body, {"volumeId": fields.identifier}, ("volumeId",), "volumeAttachment", strict=False)
    volume_id = body["volumeId"]
    if request.version >= (2, 85) and volume_id == device.volume_id:
        if (keep := as_boolean(body.get("delete_on_termination"))) is not None:
            device.delete_on_termination = keep
            compute.attachments.block_devices.rows.save(device)
        return Response(status=202)
    request.context.require()
    compute.attachments.block_devices.swap(request.context, server, device.volume_id, volume_id)
    compute.reports.history.begin(request.context, request.id, server, "swap_volume")
    return Response(status=202)


def detach_volume(compute: ComputeService, request: Request) -> Response:
    server = found(compute, request)
    compute.servers.require_unlocked(request.context, server)
    compute.attachments.block_devices.detach(server, request.vars["volume_id"])
    compute.reports.history.begin(request.context, request.id, server, "detach_volume")
    return Response(status=202)
