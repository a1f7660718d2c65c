"""Handlers beyond create, read, update and delete: router interfaces and routes, sub ports, addresses, gateways."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.network.attributes import ROUTES as ROUTE_LIST
from openstack_emulator.network.errors import invalid
from openstack_emulator.network.handlers import actor_of, writer_of
from openstack_emulator.network.records import NetworkRecords


def _body(request: Request) -> Record:
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    return body


def add_router_interface(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "add_router_interface")
    router = network.routers.reach(actor, request.vars["id"])
    return Response(network.routers.add_interface(actor, router, _body(request)))


def remove_router_interface(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "remove_router_interface")
    router = network.routers.reach(actor, request.vars["id"])
    return Response(network.routers.remove_interface(actor, router, _body(request)))


def _routes(request: Request) -> list[dict[str, str]]:
    try:
        routes: list[dict[str, str]] = ROUTE_LIST(request.object("router").get("routes"))
    except ValueError as error:
        raise invalid("routes", str(error)) from None
    return routes


def add_extraroutes(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "update_router")
    router = network.routers.reach(actor, request.vars["id"])
    network.routers.change_routes(actor, router, added=_routes(request), removed=[])
    return Response({"router": network.routers.view(actor, router)})


def remove_extraroutes(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "update_router")
    router = network.routers.reach(actor, request.vars["id"])
    network.routers.change_routes(actor, router, added=[], removed=_routes(request))
    return Response({"router": network.routers.view(actor, router)})


def add_subports(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "add_subports")
    trunk = network.trunks.reach(actor, request.vars["id"])
    network.trunks.add_subports(actor, trunk, _body(request).get("sub_ports"))
    return Response(network.trunks.view(actor, trunk))


def remove_subports(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "delete_subports")
    trunk = network.trunks.reach(actor, request.vars["id"])
    network.trunks.remove_subports(actor, trunk, _body(request).get("sub_ports"))
    return Response(network.trunks.view(actor, trunk))


def get_subports(network: NetworkRecords, request: Request) -> Response:
    trunk = network.trunks.reach(actor_of(request), request.vars["id"])
    return Response({"sub_ports": trunk["sub_ports"]})


def _change_addresses(network: NetworkRecords, request: Request, **lists: Any) -> Response:
    actor = writer_of(request, "update_address_group")
    group = network.address_groups.reach(actor, request.vars["id"])
    network.address_groups.change_addresses(actor, group, **lists)
    return Response({"address_group": network.address_groups.view(actor, group)})


def add_addresses(network: NetworkRecords, request: Request) -> Response:
    return _change_addresses(network, request, added=_body(request).get("addresses"), removed=[])


def remove_addresses(network: NetworkRecords, request: Request) -> Response:
    return _change_addresses(network, request, added=[], removed=_body(request).get("addresses"))


def connect_network(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "connect_network")
    gateway = network.network_gateways.reach(actor, request.vars["id"])
    return Response(network.network_gateways.connect(actor, gateway, _body(request)))


def disconnect_network(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "disconnect_network")
    gateway = network.network_gateways.reach(actor, request.vars["id"])
    return Response(network.network_gateways.disconnect(actor, gateway, _body(request)))


ACTIONS: Routes = {
    "/routers/{id}/add_router_interface": {"PUT": add_router_interface},
    "/routers/{id}/remove_router_interface": {"PUT": remove_router_interface},
    "/routers/{id}/add_extraroutes": {"PUT": add_extraroutes},
    "/routers/{id}/remove_extraroutes": {"PUT": remove_extraroutes},
    "/trunks/{id}/add_subports": {"PUT": add_subports},
    "/trunks/{id}/remove_subports": {"PUT": remove_subports},
    "/trunks/{id}/get_subports": {"GET": get_subports},
    "/address-groups/{id}/add_addresses": {"PUT": add_addresses},
    "/address-groups/{id}/remove_addresses": {"PUT": remove_addresses},
    "/network-gateways/{id}/connect_network": {"PUT": connect_network},
    "/network-gateways/{id}/disconnect_network": {"PUT": disconnect_network},
}
