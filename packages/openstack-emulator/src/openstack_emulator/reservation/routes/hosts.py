"""Hosts that can be reserved over HTTP, and their capabilities."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.reservation.records import Host
from openstack_emulator.reservation.routes.allocations import allocation
from openstack_emulator.reservation.rules.composition import Reservations
from openstack_emulator.reservation.rules.dates import STAMP
from openstack_emulator.reservation.rules.hosts import fields_of
from openstack_emulator.reservation.views import property_view


def index(service: Reservations, request: Request) -> Response:
    request.context.require()
    return Response({"hosts": [fields_of(host) for host in service.hosts.rows]})


def create(service: Reservations, request: Request) -> Response:
    request.context.require()
    return Response({"host": fields_of(service.hosts.create(request))}, 201)


def _host(service: Reservations, request: Request) -> Host:
    request.context.require()
    return service.hosts.rows.require(request.vars["host_id"])


def show(service: Reservations, request: Request) -> Response:
    return Response({"host": fields_of(_host(service, request))})


def change(service: Reservations, request: Request) -> Response:
    host = _host(service, request)
    service.hosts.change(host, request.json)
    return Response({"host": fields_of(host)})


def delete(service: Reservations, request: Request) -> Response:
    service.hosts.remove(_host(service, request))
    return Response(status=204)


def list_allocations(service: Reservations, request: Request) -> Response:
    request.context.require()
    return Response({"allocations": [allocation(service, request, host.id) for host in service.hosts.rows]})


def show_allocation(service: Reservations, request: Request) -> Response:
    return Response({"allocation": allocation(service, request, _host(service, request).id)})


def list_properties(service: Reservations, request: Request) -> Response:
    """The names of capabilities: `all` shows the private ones too, `detail` shows values and what is private."""
    show_all, detail = request.query.boolean("all"), request.query.boolean("detail")
    if show_all:
        request.context.require()
    rows = [row for row in service.hosts.properties if show_all or not row.private]
    if not detail:
        return Response({"resource_properties": [{"property": row.id} for row in rows]})
    hosts = list(service.hosts.rows)
    shown: list[dict[str, object]] = []
    for row in rows:
        values = {host.capabilities[row.id] for host in hosts if row.id in host.capabilities}
        shown.append({**property_view(row), "private": row.private, "values": sorted(values)})
    return Response({"resource_properties": shown})


def change_property(service: Reservations, request: Request) -> Response:
    request.context.require()
    name, body = request.vars["name"], request.json
    row = service.hosts.properties.get(name)
    if row is None:
        raise not_found(f"Resource property {name} does not exist.")
    private = body.get("private") if isinstance(body, dict) and len(body) == 1 else None
    if not isinstance(private, bool):
        raise bad_request("The request body must be a JSON object with the boolean private.")
    row.private, row.updated_at = private, service.timestamp(STAMP)
    service.hosts.properties.save(row)
    return Response({"resource_property": {**property_view(row), "private": row.private}})
