"""Ports of nodes over HTTP."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Port
from openstack_emulator.baremetal.routes.nodes import node_of
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import list_response, new_key, single
from openstack_emulator.baremetal.rules.access import ADMINISTRATORS, may_see_node, require
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.kinds import PORT
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response


def create(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:port:create", *ADMINISTRATORS)
    values, ports = PORT.values(request.version, request.json), service.ports
    ports.require_node(request.context, values["node_uuid"], "baremetal:port:create")
    return single(request, PORT, ports.create(new_key(request, ports.rows, ports.groups), values), 201)


def _selected(service: BareMetal, request: Request) -> list[Port]:
    query, ports = request.query, service.ports
    rows = [row for row in ports.rows if may_see_node(request.context, ports.node_of(row))]
    if (key := query.get("node") or query.get("node_uuid")) is not None:
        node = service.nodes.reach(request, key)
        rows = [row for row in rows if row.node_uuid == node.uuid]
    if (address := query.get("address")) is not None:
        rows = [row for row in rows if row.address == address.lower()]
    if (key := query.get("portgroup")) is not None:
        if request.version < (1, 24):
            raise ApiError(406, "Request not acceptable. The filter portgroup needs a newer API version.")
        group = ports.group(request.context, key)
        rows = [row for row in rows if row.portgroup_uuid == group.uuid]
    return rows


def index(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT, _selected(service, request))


def index_in_full(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT, _selected(service, request), detail=True)


def _of_node(service: BareMetal, request: Request) -> list[Port]:
    return service.ports.rows.select(node_uuid=node_of(service, request).uuid)


def index_of_node(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT, _of_node(service, request))


def index_of_node_in_full(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT, _of_node(service, request), detail=True)


def _found(service: BareMetal, request: Request) -> Port:
    return service.ports.reach(request.context, request.vars["port"])


def show(service: BareMetal, request: Request) -> Response:
    return single(request, PORT, _found(service, request))


def update(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:port:update", *ADMINISTRATORS)
    port = _found(service, request)
    service.ports.change(port, patched(request, PORT, port))
    return single(request, PORT, port)


def delete(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:port:delete", *ADMINISTRATORS)
    service.ports.delete(_found(service, request))
    return Response(status=204)
