"""Names of floating IPs over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import integer, nullable, text
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.dns.routes.bodies import LARGEST_TTL, LONGEST_DESCRIPTION, body_of
from openstack_emulator.dns.routes.callers import caller_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.rules.floating_ips import FloatingIp
from openstack_emulator.dns.rules.inputs import NewName
from openstack_emulator.dns.rules.names import host_problem
from openstack_emulator.dns.views import floating_ip_view

NAME = "ptrdname"
_FIELDS: dict[str, Check] = {
    NAME: nullable(host_problem),
    "ttl": nullable(integer(0, LARGEST_TTL)),
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
}


def _found(names: DomainNames, request: Request) -> FloatingIp:
    return names.floating_ips.floating_ip(caller_of(request), request.vars["floatingip_id"])


def index(names: DomainNames, request: Request) -> Response:
    rows, record_of = names.floating_ips.floating_ips(caller_of(request)), names.floating_ips.record_of
    return list_response(
        request, "floatingips", rows, lambda list_request, row: floating_ip_view(list_request, row, record_of(row))
    )


def show(names: DomainNames, request: Request) -> Response:
    floating_ip = _found(names, request)
    return Response(floating_ip_view(request, floating_ip, names.floating_ips.record_of(floating_ip)))


def update(names: DomainNames, request: Request) -> Response:
    floating_ip = _found(names, request)
    body = body_of(request, "floatingip", _FIELDS, (NAME,))
    if (host := body[NAME]) is None:
        record = names.floating_ips.unset(floating_ip)
    else:
        record = names.floating_ips.set(floating_ip, NewName.from_json(body, host))
    return Response(floating_ip_view(request, floating_ip, record), 202)
