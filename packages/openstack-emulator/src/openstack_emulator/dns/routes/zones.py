"""Zones over HTTP: the zones themselves, and their name servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import integer, items, nullable, one_of, text, text_map
from openstack_emulator.core.validation.problems import Check, Problem, specific
from openstack_emulator.dns.records import PRIMARY, SECONDARY, Zone
from openstack_emulator.dns.routes.bodies import (
    LARGEST_TTL,
    LONGEST_DESCRIPTION,
    body_of,
    uuid_of,
)
from openstack_emulator.dns.routes.callers import administrator_of, caller_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.rules.errors import invalid_object, problem
from openstack_emulator.dns.rules.inputs import NewZone
from openstack_emulator.dns.rules.names import domain_problem, mailbox_problem
from openstack_emulator.dns.rules.pools import NAME_SERVERS
from openstack_emulator.dns.views import server_view, zone_link, zone_view

PORT = 53
FILTERS = ("name", "type", "email", "status", "description", "ttl", "serial", "pool_id", "action")
SORT_KEYS = ("name", "tenant_id", "serial", "ttl", "status")
_HEADER_SHARES = "x-designate-delete-shares"


def _master_problem(value: object) -> Problem | None:
    """Check `host`, `host:port` or `[IPv6 address]:port`; a host is an address or a name."""
    try:
        split_master(value)
    except (TypeError, ValueError):
        return specific(value, f"{value!r} is not an IP address or a hostname, with or without a port")
    return None


def split_master(value: Any) -> tuple[str, int]:
    """Return the host and port of a master. Raises ValueError or TypeError."""
    if not isinstance(value, str):
        raise TypeError(value)
    host, port = value, str(PORT)
    if value.startswith("["):
        host, _, rest = value[1:].partition("]")
        port = rest.removeprefix(":") or port
    elif value.count(":") == 1:
        host, _, port = value.partition(":")
    if not 0 < int(port) < 65536:
        raise ValueError(port)
    if domain_problem(host.rstrip(".") + ".") is None and re.search("[A-Za-z]", host):
        return host, int(port)
    return str(ip_address(host)), int(port)


def joined_master(host: str, port: int) -> str:
    """Return a master as the API shows it: without the usual port."""
    if port == PORT:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_CHANGEABLE: dict[str, Check] = {
    "email": mailbox_problem,
    "ttl": integer(0, LARGEST_TTL),
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
    "masters": items(_master_problem),
}
_FIELDS: dict[str, Check] = {
    **_CHANGEABLE,
    "name": domain_problem,
    "type": nullable(one_of(PRIMARY, SECONDARY)),
    "ttl": nullable(integer(0, LARGEST_TTL)),
    "attributes": nullable(text_map()),
    "pool_id": nullable(text(1, 36)),
}
_ONLY_FOR = {"email": PRIMARY, "ttl": PRIMARY, "masters": SECONDARY}
"""Fields that zones of one type have only."""


def visible(names: DomainNames, request: Request) -> Zone:
    """The zone in the path, which the caller reaches. Raises ApiError 404."""
    return names.zones.visible(caller_of(request), uuid_of(request, "zone_id"))


def owned(names: DomainNames, request: Request) -> Zone:
    """The zone in the path, which is the caller's. Raises ApiError 404, or 403 for one that is only shared."""
    return names.zones.owned(caller_of(request), uuid_of(request, "zone_id"))


def changeable(names: DomainNames, request: Request) -> Zone:
    """The zone in the path, which the caller may change now. Raises ApiError."""
    return names.zones.changeable(caller_of(request), uuid_of(request, "zone_id"))


def _fit(kind: str, fields: Mapping[str, Any]) -> dict[str, object]:
    """Return a zone's fields with their types. Raises ApiError 400 for fields that such zones do not have."""
    problems = [
        problem(f"'{name}' is not allowed for a zone of type {kind}", [name, "type"], "value", name)
        for name, only in _ONLY_FOR.items()
        if fields.get(name) and only != kind
    ]
    if problems:
        raise invalid_object(*problems)
    result = dict(fields)
    if (ttl := fields.get("ttl")) is not None:
        result["ttl"] = int(ttl)
    if masters := fields.get("masters"):
        result["masters"] = [joined_master(*split_master(master)) for master in masters]
    return result


def index(names: DomainNames, request: Request) -> Response:
    return list_response(request, "zones", names.zones.listed(caller_of(request)), zone_view, FILTERS, SORT_KEYS)


def create(names: DomainNames, request: Request) -> Response:
    caller, body = caller_of(request), body_of(request, "zone", _FIELDS, ("name",))
    kind = body.get("type") or PRIMARY
    needed = "email" if kind == PRIMARY else "masters"
    if not body.get(needed):
        raise invalid_object(problem(f"'{needed}' is a required property", [needed, "type"], "required", needed))
    zone = names.zones.create(caller, NewZone.from_json(_fit(kind, body), kind))
    return Response(zone_view(request, zone), 202, {"Location": zone_link(request, zone.id)})


def show(names: DomainNames, request: Request) -> Response:
    return Response(zone_view(request, visible(names, request)))


def update(names: DomainNames, request: Request) -> Response:
    zone = changeable(names, request)
    names.zones.update(zone, _fit(zone.type, body_of(request, "zone", _CHANGEABLE)))
    return Response(zone_view(request, zone), 202)


def delete(names: DomainNames, request: Request) -> Response:
    zone = owned(names, request)
    names.zones.delete(zone, request.headers.get(_HEADER_SHARES, "").lower() == "true")
    return Response(zone_view(request, zone), 202)


def name_servers(names: DomainNames, request: Request) -> Response:
    owned(names, request)
    return Response({"nameservers": [server_view(server) for server in NAME_SERVERS]})


def abandon(names: DomainNames, request: Request) -> Response:
    """Forget a zone without deleting it from name servers; for administrators."""
    administrator_of(request)
    names.zones.abandon(owned(names, request))
    return Response(status=204)


def retransfer(names: DomainNames, request: Request) -> Response:
    """Refuse to copy a secondary zone: the emulator has no such copies."""
    if owned(names, request).type != SECONDARY:
        raise ApiError(400, "Can't perform an AXFR for a PRIMARY zone", "bad_request")
    raise ApiError(501, "The emulated DNS service does not copy secondary zones from their masters.", "not_implemented")


def move(names: DomainNames, request: Request) -> Response:
    """Refuse to move a zone to another pool: only the default pool has a name server."""
    administrator_of(request)
    owned(names, request)
    raise ApiError(501, "The emulated DNS service keeps all zones in the default pool.", "not_implemented")
