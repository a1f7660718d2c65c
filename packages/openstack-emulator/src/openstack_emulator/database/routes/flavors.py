"""Flavors over HTTP; no version of a datastore is limited to some."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.database.routes.bodies import key_of
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.flavors import flavor, flavors
from openstack_emulator.database.views import flavor_view


def index(service: DatabaseService, request: Request) -> Response:
    return Response({"flavors": [flavor_view(request, flavor) for flavor in flavors(service.cloud, request)]})


def show(service: DatabaseService, request: Request) -> Response:
    return Response({"flavor": flavor_view(request, flavor(service.cloud, request, key_of(request)))})
