"""Leases over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.reservation.records import Lease
from openstack_emulator.reservation.rules.composition import Reservations
from openstack_emulator.reservation.views import lease_view

READERS = ("reader", "member")


def index(service: Reservations, request: Request) -> Response:
    request.context.require(*READERS)
    return Response({"leases": [lease_view(service, lease) for lease in service.leases.listed(request.context)]})


def create(service: Reservations, request: Request) -> Response:
    request.context.require("member")
    return Response({"lease": lease_view(service, service.leases.create(request))}, 201)


def _lease(service: Reservations, request: Request) -> Lease:
    request.context.require(*READERS if request.method == "GET" else ("member",))
    return service.leases.find(request.context, request.vars["lease_id"])


def show(service: Reservations, request: Request) -> Response:
    return Response({"lease": lease_view(service, _lease(service, request))})


def change(service: Reservations, request: Request) -> Response:
    lease = _lease(service, request)
    service.leases.change(lease, request.json)
    return Response({"lease": {**lease_view(service, lease), "status": "UPDATING"}})


def delete(service: Reservations, request: Request) -> Response:
    service.leases.remove(_lease(service, request))
    return Response(status=204)
