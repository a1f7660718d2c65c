"""Zones over HTTP: the zones themselves, their name servers, and with whom they are shared."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.fields import Check, items, nullable, text, text_map
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record, public
from openstack_emulator.dns.http import (
    LARGEST_TTL,
    LONGEST_DESCRIPTION,
    administrator_of,
    body_of,
    caller_of,
    duplicate,
    enumerated,
    invalid_object,
    listed,
    number,
    problem,
    uuid_of,
)
from openstack_emulator.dns.names import domain_problem, mailbox_problem
from openstack_emulator.dns.pools import NAME_SERVERS
from openstack_emulator.dns.zones import PRIMARY, SECONDARY, Zones

PORT = 53
FILTERS = ("name", "type", "email", "status", "description", "ttl", "serial", "pool_id", "action")
SORT_KEYS = ("name", "tenant_id", "serial", "ttl", "status")
_HEADER_SHARES = "x-designate-delete-shares"


def _master_problem(value: Any) -> str | None:
    """Check `host`, `host:port` or `[IPv6 address]:port`; a host is an address or a name."""
    try:
        split_master(value)
    except (TypeError, ValueError):
        return f"{value!r} is not an IP address or a hostname, with or without a port"
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
    "ttl": number("ttl", 0, LARGEST_TTL),
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
    "masters": items(_master_problem),
}
_FIELDS: dict[str, Check] = {
    **_CHANGEABLE,
    "name": domain_problem,
    "type": nullable(enumerated(PRIMARY, SECONDARY)),
    "ttl": nullable(number("ttl", 0, LARGEST_TTL)),
    "attributes": nullable(text_map()),
    "pool_id": nullable(text(1, 36)),
}
_SHARE_FIELDS: dict[str, Check] = {"target_project_id": text(1, 36)}
_ONLY_FOR = {"email": PRIMARY, "ttl": PRIMARY, "masters": SECONDARY}
"""Fields that zones of one type have only."""


def zone_view(request: Request, zone: Record) -> dict[str, Any]:
    """Return a zone as the API shows it."""
    shared = zone["project_id"] != request.context.project_id and not request.context.is_admin
    return {**public(zone), "shared": shared, "links": {"self": f"{request.base}/v2/zones/{zone['id']}"}}


def _fit(kind: str, fields: Record) -> Record:
    """Return a zone's fields with their types. Raises ApiError 400 for fields that such zones do not have."""
    problems = [
        problem(f"'{name}' is not allowed for a zone of type {kind}", [name, "type"], "value", name)
        for name, only in _ONLY_FOR.items()
        if fields.get(name) and only != kind
    ]
    if problems:
        raise invalid_object(*problems)
    result = dict(fields)
    if result.get("ttl") is not None:
        result["ttl"] = int(result["ttl"])
    if result.get("masters"):
        result["masters"] = [joined_master(*split_master(one)) for one in result["masters"]]
    return result


def index(zones: Zones, request: Request) -> Response:
    return listed(request, "zones", zones.listed(caller_of(request)), zone_view, FILTERS, SORT_KEYS)


def create(zones: Zones, request: Request) -> Response:
    caller, body = caller_of(request), body_of(request, "zone", _FIELDS, ("name",))
    kind = body.get("type") or PRIMARY
    needed = "email" if kind == PRIMARY else "masters"
    if not body.get(needed):
        raise invalid_object(problem(f"'{needed}' is a required property", [needed, "type"], "required", needed))
    zone = zones.create(caller, _fit(kind, {**body, "type": kind}))
    return Response(zone_view(request, zone), 202, {"Location": f"{request.base}/v2/zones/{zone['id']}"})


def show(zones: Zones, request: Request) -> Response:
    return Response(zone_view(request, zones.visible(caller_of(request), uuid_of(request, "zone_id"))))


def update(zones: Zones, request: Request) -> Response:
    zone = zones.changeable(caller_of(request), uuid_of(request, "zone_id"))
    zones.update(zone, _fit(zone["type"], body_of(request, "zone", _CHANGEABLE)))
    return Response(zone_view(request, zone), 202)


def delete(zones: Zones, request: Request) -> Response:
    zone = zones.owned(caller_of(request), uuid_of(request, "zone_id"))
    zones.delete(zone, request.headers.get(_HEADER_SHARES, "").lower() == "true")
    return Response(zone_view(request, zone), 202)


def name_servers(zones: Zones, request: Request) -> Response:
    zones.owned(caller_of(request), uuid_of(request, "zone_id"))
    return Response({"nameservers": list(NAME_SERVERS)})


def abandon(zones: Zones, request: Request) -> Response:
    """Forget a zone without deleting it from name servers; for administrators."""
    zones.abandon(zones.owned(administrator_of(request), uuid_of(request, "zone_id")))
    return Response(status=204)


def copy_again(zones: Zones, request: Request) -> Response:
    """Refuse to copy a secondary zone: the emulator has no such copies."""
    zone = zones.owned(caller_of(request), uuid_of(request, "zone_id"))
    if zone["type"] != SECONDARY:
        raise ApiError(400, "Can't perform an AXFR for a PRIMARY zone", "bad_request")
    raise ApiError(501, "The emulated DNS service does not copy secondary zones from their masters.", "not_implemented")


def move(zones: Zones, request: Request) -> Response:
    """Refuse to move a zone to another pool: only the default pool has a name server."""
    zones.owned(administrator_of(request), uuid_of(request, "zone_id"))
    raise ApiError(501, "The emulated DNS service keeps all zones in the default pool.", "not_implemented")


# -- shares ----------------------------------------------------------------------------------------


def _share_view(request: Request, share: Record) -> dict[str, Any]:
    links = {"self": f"{request.base}/v2/zones/{share['zone_id']}/shares/{share['id']}"}
    return {**share, "links": links}


def list_shares(zones: Zones, request: Request) -> Response:
    zone = zones.owned(caller_of(request), uuid_of(request, "zone_id"))
    rows = zones.shares.select(zone_id=zone["id"])
    return listed(request, "shared_zones", rows, _share_view, ("target_project_id",))


def create_share(zones: Zones, request: Request) -> Response:
    caller = caller_of(request)
    zone = zones.changeable(caller, uuid_of(request, "zone_id"))
    target = body_of(request, "shared_zone", _SHARE_FIELDS, tuple(_SHARE_FIELDS))["target_project_id"]
    if target == zone["project_id"]:
        raise ApiError(400, "Cannot share the zone with the zone owner.", "bad_request")
    if zones.is_shared(zone, target):
        raise duplicate("Shared Zone")
    share = zones.shares.add(
        {
            "id": new_id(),
            "zone_id": zone["id"],
            "project_id": caller.project_id,
            "target_project_id": target,
            "created_at": zones.moment(),
            "updated_at": None,
        }
    )
    return Response(_share_view(request, share), 201)


def _share(zones: Zones, request: Request) -> Record:
    zone = zones.owned(caller_of(request), uuid_of(request, "zone_id"))
    share = zones.shares.require(uuid_of(request, "share_id"))
    if share["zone_id"] != zone["id"]:
        raise zones.shares.missing(share["id"])
    return share


def show_share(zones: Zones, request: Request) -> Response:
    return Response(_share_view(request, _share(zones, request)))


def delete_share(zones: Zones, request: Request) -> Response:
    zones.shares.remove(_share(zones, request))
    return Response(status=204)


ZONE_ROUTES = using(
    Zones,
    {
        "/zones": {"GET": index, "POST": create},
        "/zones/{zone_id}": {"GET": show, "PATCH": update, "DELETE": delete},
        "/zones/{zone_id}/nameservers": {"GET": name_servers},
        "/zones/{zone_id}/tasks/abandon": {"POST": abandon},
        "/zones/{zone_id}/tasks/xfr": {"POST": copy_again},
        "/zones/{zone_id}/tasks/pool_move": {"POST": move},
        "/zones/{zone_id}/shares": {"GET": list_shares, "POST": create_share},
        "/zones/{zone_id}/shares/{share_id}": {"GET": show_share, "DELETE": delete_share},
    },
)
