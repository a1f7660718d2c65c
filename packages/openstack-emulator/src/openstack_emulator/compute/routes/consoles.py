"""Consoles of servers over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.routes.bodies import found
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.consoles import require_launched
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.core.validation.objects import check_fields

Handler = Callable[[ComputeService, Request, Server, Any], Response]
FIRST_PORT = 5900
DIRECT = "spice-direct"
KINDS = ("novnc", "xvpvnc", "spice-html5", "serial", "rdp-html5", "webmks")
"""The types that a request may name; those of `CONSOLES` are served."""
LOCAL_CONSOLES = {
    "os-getVNCConsole": ("novnc", "xvpvnc"),
    "os-getSPICEConsole": ("spice-html5",),
    "os-getRDPConsole": ("rdp-html5",),
    "os-getSerialConsole": ("serial",),
}
CONSOLES = {
    "vnc": ("novnc", "xvpvnc"),
    "spice": ("spice-html5", DIRECT),
    "rdp": ("rdp-html5",),
    "serial": ("serial",),
    "mks": ("webmks",),
}


def console_output(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    checks = {"length": fields.nullable(fields.integer(-1))}
    check_fields(arguments or {}, checks, where="os-getConsoleOutput")
    require_launched(server)
    length = as_integer((arguments or {}).get("length"))
    lines = compute.consoles.output(server).splitlines()
    if length is not None and length >= 0:
        lines = lines[-length:] if length else []
    return Response({"output": "\n".join(lines)})


def local_console(name: str) -> Handler:
    """The console actions of the microversions before 2.6."""

    def act(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
        check_fields(arguments, {"type": fields.one_of(*LOCAL_CONSOLES[name])}, ("type",), name)
        kind = arguments["type"]
        return Response({"console": {"type": kind, "url": compute.consoles.open(server, kind)}})

    return act


def remote_console(compute: ComputeService, request: Request) -> Response:
    server, body = found(compute, request), request.object("remote_console")
    kinds = KINDS if request.version < (2, 99) else (*KINDS, DIRECT)
    checks = {"protocol": fields.one_of(*CONSOLES), "type": fields.one_of(*kinds)}
    check_fields(body, checks, ("protocol", "type"), "remote_console")
    kind = body["type"]
    if kind not in CONSOLES[body["protocol"]]:
        raise bad_request(f"Invalid console type {kind}")
    url = compute.consoles.open(server, kind)
    return Response({"remote_console": {**body, "url": url}})


def show_token(compute: ComputeService, request: Request) -> Response:
    """Where the console of a token is, for the console proxy."""
    request.context.require()
    server = compute.consoles.server_of(request.vars["token"])
    if server is None:
        raise not_found("Token not found")
    view: dict[str, Any] = {
        "instance_uuid": server.id,
        "host": server.host,
        "port": FIRST_PORT + server.number % 1000,
        "internal_access_path": None,
    }
    if request.version >= (2, 99):
        view |= {"tls_port": None}
    return Response({"console": view})
