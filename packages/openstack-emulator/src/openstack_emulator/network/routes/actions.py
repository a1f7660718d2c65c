"""Handlers beyond create, read, update and delete: router interfaces and routes, sub ports, addresses, gateways."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.typed import to_plain
from openstack_emulator.core.validation.converting import Invalid
from openstack_emulator.network.records.core import Port, Route, Router
from openstack_emulator.network.records.services import Connection, NetworkGateway
from openstack_emulator.network.routes.endpoints import actor_of, writer_of
from openstack_emulator.network.rules.attributes import NEUTRON, integer, text, words_of
from openstack_emulator.network.rules.attributes import ROUTES as ROUTE_LIST
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.views.api import view

KEYS = ("network_id", "segmentation_type", "segmentation_id")
"""What a connection of a network gateway has."""
TEXT = text(2**20)
NUMBER = integer(0, 2**31)


def _body(request: Request) -> dict[str, Any]:
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    return body


def _interface_of(request: Request) -> tuple[str, str]:
    """The IDs of a port and of a subnet, of which one may be empty."""
    body = _body(request)
    return str(body.get("port_id") or ""), str(body.get("subnet_id") or "")


def _interface(router: Router, port: Port) -> Response:
    """What adding and removing an interface answer."""
    subnets = [fixed.subnet_id for fixed in port.fixed_ips]
    return Response(
        {
            "id": router.id,
            "project_id": port.project_id,
            "port_id": port.id,
            "network_id": port.network_id,
            "subnet_id": subnets[0],
            "subnet_ids": subnets,
        }
    )


def add_router_interface(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "add_router_interface")
    router = network.routers.reach(actor, request.vars["id"])
    return _interface(router, network.routers.add_interface(actor, router, *_interface_of(request)))


def remove_router_interface(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "remove_router_interface")
    router = network.routers.reach(actor, request.vars["id"])
    return _interface(router, network.routers.remove_interface(actor, router, *_interface_of(request)))


def _routes(request: Request) -> list[Route]:
    return NEUTRON.converted("routes", request.object("router").get("routes"), ROUTE_LIST)


def add_extraroutes(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "update_router")
    router = network.routers.reach(actor, request.vars["id"])
    network.routers.change_routes(actor, router, added=_routes(request), removed=[])
    return Response({"router": view(network.state, actor, router)})


def remove_extraroutes(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "update_router")
    router = network.routers.reach(actor, request.vars["id"])
    network.routers.change_routes(actor, router, added=[], removed=_routes(request))
    return Response({"router": view(network.state, actor, router)})


def add_subports(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "add_subports")
    trunk = network.trunks.reach(actor, request.vars["id"])
    network.trunks.add_subports(actor, trunk, _body(request).get("sub_ports"))
    return Response(view(network.state, actor, trunk))


def remove_subports(network: NetworkService, request: Request) -> Response:
    actor = writer_of(request, "delete_subports")
    trunk = network.trunks.reach(actor, request.vars["id"])
    network.trunks.remove_subports(actor, trunk, _body(request).get("sub_ports"))
    return Response(view(network.state, actor, trunk))


def get_subports(network: NetworkService, request: Request) -> Response:
    trunk = network.trunks.reach(actor_of(request), request.vars["id"])
    return Response({"sub_ports": [to_plain(sub) for sub in trunk.sub_ports]})


def _change_addresses(network: NetworkService, request: Request, **lists: object) -> Response:
    actor = writer_of(request, "update_address_group")
    group = network.address_groups.reach(actor, request.vars["id"])
    network.address_groups.change_addresses(actor, group, **lists)
    return Response({"address_group": view(network.state, actor, group)})


def add_addresses(network: NetworkService, request: Request) -> Response:
    return _change_addresses(network, request, added=_body(request).get("addresses"), removed=[])


def remove_addresses(network: NetworkService, request: Request) -> Response:
    return _change_addresses(network, request, added=[], removed=_body(request).get("addresses"))


def _connection(request: Request) -> Connection:
    """The connection that a request describes. Raises: ApiError 400."""
    body = _body(request)
    network_id, kind, number = (body.get(key) for key in KEYS)
    if not network_id:
        raise bad_request("Failed to parse request. Required attribute 'network_id' not specified")
    if unknown := body.keys() - set(KEYS):
        raise bad_request(f"Unrecognized attribute(s) '{min(unknown)}'")
    try:
        return Connection(
            network_id=TEXT(network_id), segmentation_type=TEXT(kind or "flat"), segmentation_id=NUMBER(number or 0)
        )
    except Invalid as error:
        raise bad_request(words_of(error)) from None


def _connected(gateway: NetworkGateway, connection: Connection) -> Response:
    return Response({"connection_info": {"network_gateway_id": gateway.id, **to_plain(connection)}})


def connect_network(network: NetworkService, request: Request) -> Response:
    actor, gateways = writer_of(request, "connect_network"), network.network_gateways
    gateway = gateways.reach(actor, request.vars["id"])
    gateways.refuse_unauthorized(actor, gateway, "connect_network")
    connection = _connection(request)
    gateways.connect(actor, gateway, connection)
    return _connected(gateway, connection)


def disconnect_network(network: NetworkService, request: Request) -> Response:
    actor, gateways = writer_of(request, "disconnect_network"), network.network_gateways
    gateway = gateways.reach(actor, request.vars["id"])
    gateways.refuse_unauthorized(actor, gateway, "disconnect_network")
    connection = _connection(request)
    gateways.disconnect(gateway, connection)
    return _connected(gateway, connection)
