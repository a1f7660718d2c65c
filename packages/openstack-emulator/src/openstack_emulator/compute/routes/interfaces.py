"""Network interfaces of servers over HTTP."""

from __future__ import annotations

from openstack_emulator.compute.records import RequestedInterface
from openstack_emulator.compute.routes.bodies import TAG, found
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.interfaces import missing_port
from openstack_emulator.compute.views import interface_view
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check


def list_interfaces(compute: ComputeService, request: Request) -> Response:
    ports = compute.attachments.interfaces.of_server(found(compute, request))
    return Response({"interfaceAttachments": [interface_view(compute, request, port) for port in ports]})


def show_interface(compute: ComputeService, request: Request) -> Response:
    server = found(compute, request)
    ports = compute.attachments.interfaces.of_server(server)
    key = request.vars["port_id"]
    port = next((port for port in ports if port.id == key), None)
    if port is None:
        raise missing_port(server, key)
    return Response({"interfaceAttachment": interface_view(compute, request, port)})


def attach_interface(compute: ComputeService, request: Request) -> Response:
    history = compute.reports.history
    server = found(compute, request)
    body = request.json if request.body else {}
    arguments = (body or {}).get("interfaceAttachment") or {}
    checks: dict[str, Check] = {
        "net_id": fields.nullable(fields.identifier),
        "port_id": fields.nullable(fields.identifier),
        "fixed_ips": fields.nullable(fields.items(fields.anything, 1)),
    }
    if request.version >= (2, 49):
        checks |= {"tag": TAG}
    check_fields(arguments, checks, where="interfaceAttachment")
    addresses = arguments.get("fixed_ips") or []
    if addresses and not arguments.get("net_id"):
        raise bad_request("Must input network_id when request IP address")
    if arguments.get("net_id") and arguments.get("port_id"):
        raise bad_request("Must not input both network_id and port_id")
    compute.servers.require_unlocked(request.context, server)
    interface = RequestedInterface(
        port=arguments.get("port_id"), uuid=arguments.get("net_id"), tag=arguments.get("tag")
    )
    for row in addresses:
        check_fields(row, {"ip_address": fields.text(1, 45)}, ("ip_address",), "fixed_ips")
        interface.fixed_ip = row.get("ip_address")
    history.begin(request.context, request.id, server, "attach_interface")
    try:
        port = compute.attachments.interfaces.attach(request.context, server, interface)
    except ApiError as error:
        history.end(server.id, "Error", error.message)
        raise
    history.end(server.id)
    return Response({"interfaceAttachment": interface_view(compute, request, port)})


def detach_interface(compute: ComputeService, request: Request) -> Response:
    server = found(compute, request)
    compute.servers.require_unlocked(request.context, server)
    compute.attachments.interfaces.detach(server, request.vars["port_id"])
    compute.reports.history.begin(request.context, request.id, server, "detach_interface")
    return Response(status=202)
