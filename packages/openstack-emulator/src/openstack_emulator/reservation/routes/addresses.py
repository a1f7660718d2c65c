"""Floating IPs that can be reserved over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.reservation.records import Address
from openstack_emulator.reservation.routes.allocations import allocation
from openstack_emulator.reservation.routes.leases import READERS
from openstack_emulator.reservation.rules.composition import Reservations
from openstack_emulator.reservation.views import shown


def index(service: Reservations, request: Request) -> Response:
    request.context.require(*READERS)
    return Response({"floatingips": [shown(row) for row in service.addresses.rows]})


def create(service: Reservations, request: Request) -> Response:
    request.context.require()
    return Response({"floatingip": shown(service.addresses.create(request.json))}, 201)


def _address(service: Reservations, request: Request) -> Address:
    request.context.require(*READERS if request.method == "GET" else ())
    return service.addresses.rows.require(request.vars["address_id"])


def show(service: Reservations, request: Request) -> Response:
    return Response({"floatingip": shown(_address(service, request))})


def delete(service: Reservations, request: Request) -> Response:
    service.addresses.remove(_address(service, request))
    return Response(status=204)


def list_allocations(service: Reservations, request: Request) -> Response:
    request.context.require()
    return Response({"allocations": [allocation(service, request, row.id) for row in service.addresses.rows]})
