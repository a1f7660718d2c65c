"""Consoles of servers: what they have written, and where they can be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoker.emulator.compute.records import ComputeRecords
from stoker.emulator.compute.server_routes import found
from stoker.emulator.core.cloud import Routes, new_id
from stoker.emulator.core.errors import bad_request, conflict, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.volume import fields

Handler = Callable[[ComputeRecords, Request, Record, Any], Response]
LIFETIME = 600
"""Seconds for which the token of a console is good."""
FIRST_PORT = 5900
DIRECT = "spice-direct"
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


def console_output(compute: ComputeRecords, request: Request, server: Record, arguments: Any) -> Response:
    checks = {"length": fields.nullable(fields.integer(-1))}
    fields.check_fields(arguments or {}, checks, where="os-getConsoleOutput")
    if server["launched_at"] is None or server["host"] is None:
        raise conflict(f"Instance {server['id']} is not ready")
    length = fields.as_integer((arguments or {}).get("length"))
    lines = [
        f"[    0.000000] Linux version 5.15.0 ({server['hostname']})",
        f"[    0.{server['number'] % 10**6:06d}] Memory: {server['flavor']['ram'] * 1024}K available",
        f"[    1.000000] smp: Brought up 1 node, {server['flavor']['vcpus']} CPUs",
        f"{server['hostname']} login:",
    ]
    if length is not None and length >= 0:
        lines = lines[-length:] if length else []
    return Response({"output": "\n".join(lines)})


def _console_url(compute: ComputeRecords, server: Record, kind: str) -> str:
    """Where a new console is; nothing listens there, as no guest runs."""
    if server["launched_at"] is None or server["host"] is None:
        raise conflict(f"Instance {server['id']} is not ready")
    now = compute.cloud.clock.now()
    for old in compute.consoles:
        if old["until"] < now:
            compute.consoles.remove(old)
    token = compute.consoles.add({"id": new_id(), "server_id": server["id"], "until": now + LIFETIME})["id"]
    return f"{compute.cloud.endpoint}/console/{kind}?token={token}"


def local_console(name: str) -> Handler:
    """The consoles as they were asked for before 2.6."""

    def act(compute: ComputeRecords, request: Request, server: Record, arguments: Any) -> Response:
        fields.check_fields(arguments, {"type": fields.one_of(*LOCAL_CONSOLES[name])}, ("type",), name)
        kind = arguments["type"]
        return Response({"console": {"type": kind, "url": _console_url(compute, server, kind)}})

    return act


def remote_console(compute: ComputeRecords, request: Request) -> Response:
    server, wanted = found(compute, request), request.object("remote_console")
    checks = {"protocol": fields.one_of(*CONSOLES), "type": fields.text(1)}
    fields.check_fields(wanted, checks, ("protocol", "type"), "remote_console")
    direct = wanted["type"] == DIRECT and request.version < (2, 99)
    if wanted["type"] not in CONSOLES[wanted["protocol"]] or direct:
        raise bad_request(f"Invalid console type {wanted['type']}")
    url = _console_url(compute, server, wanted["type"])
    return Response({"remote_console": {**wanted, "url": url}})


def show_token(compute: ComputeRecords, request: Request) -> Response:
    """Where the console of a token is, for the proxy that leads there."""
    request.context.require()
    console = compute.consoles.get(request.vars["token"])
    server = None if console is None else compute.servers.get(console["server_id"])
    if console is None or server is None or console["until"] < compute.cloud.clock.now():
        raise not_found("Token not found")
    view: Record = {
        "instance_uuid": server["id"],
        "host": server["host"],
        "port": FIRST_PORT + server["number"] % 1000,
        "internal_access_path": None,
    }
    if request.version >= (2, 99):
        view["tls_port"] = None
    return Response({"console": view})


TOKEN_ROUTES: Routes = {"/os-console-auth-tokens/{token}": {"GET": show_token}}
