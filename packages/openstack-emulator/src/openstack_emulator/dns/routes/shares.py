"""With whom zones are shared, over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import text
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.dns.records import ZoneShare
from openstack_emulator.dns.routes.bodies import body_of, uuid_of
from openstack_emulator.dns.routes.callers import caller_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.routes.zones import changeable, owned
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.views import share_view

TARGET = "target_project_id"
_FIELDS: dict[str, Check] = {TARGET: text(1, 36)}


def _found(names: DomainNames, request: Request) -> ZoneShare:
    zone = owned(names, request)
    share = names.zones.shares.require(uuid_of(request, "share_id"))
    if share.zone_id != zone.id:
        raise names.zones.shares.missing(share.id)
    return share


def index(names: DomainNames, request: Request) -> Response:
    rows = names.zones.shares.select(zone_id=owned(names, request).id)
    return list_response(request, "shared_zones", rows, share_view, (TARGET,))


def create(names: DomainNames, request: Request) -> Response:
    zone = changeable(names, request)
    target = body_of(request, "shared_zone", _FIELDS, (TARGET,))[TARGET]
    return Response(share_view(request, names.zones.share(caller_of(request), zone, target)), 201)


def show(names: DomainNames, request: Request) -> Response:
    return Response(share_view(request, _found(names, request)))


def delete(names: DomainNames, request: Request) -> Response:
    names.zones.shares.remove(_found(names, request))
    return Response(status=204)
