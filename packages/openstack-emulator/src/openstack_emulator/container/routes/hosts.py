"""The host of all containers over HTTP, and the service process on it."""

from __future__ import annotations

from typing import Any

from openstack_emulator.container.routes.lists import list_response
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.container.rules.hosts import HOST, ZONE
from openstack_emulator.container.views import BINARY, host_view, service_view
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields

_SERVICE = {
    "binary": fields.one_of(BINARY),
    "host": fields.one_of(HOST),
    "disabled_reason": fields.nullable(fields.text()),
    "forced_down": fields.boolean,
}


def index(service: SingleContainers, request: Request) -> Response:
    request.context.require()
    hosts, used = list(service.hosts.rows), service.hosts.used()
    return list_response(request, "hosts", "compute node", hosts, lambda base, host: host_view(base, host, used))


def show(service: SingleContainers, request: Request) -> Response:
    request.context.require()
    host = by_name_or_id(service.hosts.rows, "compute node", request.vars["key"], lambda _: True)
    return Response(host_view(request.base, host, service.hosts.used()))


def list_services(service: SingleContainers, request: Request) -> Response:
    request.context.require()
    now = service.timestamp(TIMESTAMP)
    return Response({"services": [service_view(host, now) for host in service.hosts.rows]})


def _checked_body(request: Request, *names: str) -> dict[str, Any]:
    """The body of a request about the service process, which may have these fields too. Raises ApiError 400, 403."""
    request.context.require()
    body = request.json
    checks = {name: check for name, check in _SERVICE.items() if name in ("binary", "host", *names)}
    if not isinstance(body, dict) or body.keys() - checks.keys():
        raise bad_request(f"The request body must be a JSON object with {', '.join(checks)}.")
    check_fields(body, checks, ("binary", "host"))
    return body


def _save(service: SingleContainers, **shown: object) -> Response:
    service.hosts.rows.save(service.hosts.only)
    return Response({"service": {"host": HOST, "binary": BINARY, **shown}})


def enable(service: SingleContainers, request: Request) -> Response:
    _checked_body(request)
    host = service.hosts.only
    host.disabled, host.disabled_reason = False, None
    return _save(service, disabled=False)


def disable(service: SingleContainers, request: Request) -> Response:
    reason = _checked_body(request, "disabled_reason").get("disabled_reason")
    host = service.hosts.only
    host.disabled, host.disabled_reason = True, reason
    return _save(service, disabled=True, disabled_reason=reason)


def force_down(service: SingleContainers, request: Request) -> Response:
    body = _checked_body(request, "forced_down")
    host = service.hosts.only
    host.forced_down = as_boolean(body.get("forced_down", True))
    return _save(service, forced_down=host.forced_down)


def list_zones(service: SingleContainers, request: Request) -> Response:
    return Response({"availability_zones": [{"availability_zone": ZONE}]})
