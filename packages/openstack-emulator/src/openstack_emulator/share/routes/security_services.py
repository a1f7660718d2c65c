"""Security services over HTTP."""

from __future__ import annotations

from openstack_emulator.core.filters import Filter, equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.share.records import SecurityService
from openstack_emulator.share.routes.bodies import TEXT, changes_of, member
from openstack_emulator.share.routes.lists import COMMON, LIKE, list_response
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.errors import invalid_input
from openstack_emulator.share.rules.inputs import NewSecurityService
from openstack_emulator.share.views import SINCE_UNIT, security_service_summary, security_service_view

TYPES = ("active_directory", "ldap", "kerberos")
FIELDS = dict.fromkeys(("name", "description", "dns_ip", "server", "domain", "user", "password"), TEXT)
FILTERS: dict[str, Filter] = {
    **COMMON,
    **{name: equal(name) for name in ("id", "type", "dns_ip", "server", "domain", "user")},
}
QUERY = frozenset(
    {*FILTERS, *LIKE, "all_tenants", "share_network_id", "project_id", "limit", "offset", "marker", "sort_key",
     "sort_dir", "with_count"}
)  # fmt: skip
"""What a list of security services can be asked for; with anything else, administrators find nothing."""


def _service(systems: SharedFileSystems, request: Request) -> SecurityService:
    return visible(systems.security_services.rows, request.context, request.vars["service_id"])


def _shown(request: Request, service: SecurityService) -> Response:
    return Response({"security_service": security_service_view(request, service)})


def _rows(systems: SharedFileSystems, request: Request) -> list[SecurityService]:
    if request.context.is_admin and any(name not in QUERY for name, _ in request.query.pairs):
        return []
    network_id = request.query.get("share_network_id")
    if network_id:
        return systems.security_services.of_network(request.context, network_id)
    return project_rows(systems.security_services.rows, request)[::-1]


def index(systems: SharedFileSystems, request: Request) -> Response:
    return list_response(request, "security_services", _rows(systems, request), FILTERS, security_service_summary)


def detail(systems: SharedFileSystems, request: Request) -> Response:
    rows = _rows(systems, request)
    return list_response(request, "security_services", rows, FILTERS, lambda row: security_service_view(request, row))


def _fields(request: Request) -> dict[str, Check]:
    return {**FIELDS, **({"ou": TEXT} if request.version >= SINCE_UNIT else {})}


def create(systems: SharedFileSystems, request: Request) -> Response:
    body = member(request, "security_service")
    if (kind := body.get("type")) not in TYPES:
        known = ",".join(TYPES)
        raise invalid_input(f"Invalid type {kind} specified for security service. Valid types are {known}")
    checks = {**_fields(request), "type": fields.text()}
    check_fields(body, checks, where="security_service", strict=False)
    new = NewSecurityService(**{key: body[key] for key in checks if key in body})
    return _shown(request, systems.security_services.create(request.context, new))


def show(systems: SharedFileSystems, request: Request) -> Response:
    return _shown(request, _service(systems, request))


def update(systems: SharedFileSystems, request: Request) -> Response:
    service, body = _service(systems, request), member(request, "security_service")
    checks = _fields(request)
    check_fields(body, checks, where="security_service", strict=False)
    systems.security_services.update(service, changes_of(body, checks))
    return _shown(request, service)


def delete(systems: SharedFileSystems, request: Request) -> Response:
    systems.security_services.delete(_service(systems, request))
    return Response(status=202)
