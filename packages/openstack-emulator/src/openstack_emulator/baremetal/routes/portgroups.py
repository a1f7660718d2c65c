"""Groups of ports over HTTP."""

from __future__ import annotations

from openstack_emulator.baremetal.records import PortGroup
from openstack_emulator.baremetal.routes.nodes import node_of
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import list_response, new_key, single
from openstack_emulator.baremetal.rules.access import ADMINISTRATORS, may_see_node, require, require_path_version
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.kinds import PORT, PORT_GROUP
from openstack_emulator.core.http import Request, Response

SINCE = (1, 23)
BELOW_SINCE = (1, 24)
"""The microversion that has the paths below nodes and groups."""


def create(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    require(request, "baremetal:portgroup:create", *ADMINISTRATORS)
    values, ports = PORT_GROUP.values(request.version, request.json), service.ports
    ports.require_node(request.context, values["node_uuid"], "baremetal:portgroup:create")
    return single(request, PORT_GROUP, ports.create_group(new_key(request, ports.rows, ports.groups), values), 201)


def _selected(service: BareMetal, request: Request) -> list[PortGroup]:
    require_path_version(request, SINCE)
    ports = service.ports
    rows = [row for row in ports.groups if may_see_node(request.context, ports.node_of(row))]
    if (key := request.query.get("node")) is not None:
        node = service.nodes.reach(request, key)
        rows = [row for row in rows if row.node_uuid == node.uuid]
    if (address := request.query.get("address")) is not None:
        rows = [row for row in rows if row.address == address.lower()]
    return rows


def index(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT_GROUP, _selected(service, request))


def index_in_full(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT_GROUP, _selected(service, request), detail=True)


def _of_node(service: BareMetal, request: Request) -> list[PortGroup]:
    require_path_version(request, BELOW_SINCE)
    return service.ports.groups.select(node_uuid=node_of(service, request).uuid)


def index_of_node(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT_GROUP, _of_node(service, request))


def index_of_node_in_full(service: BareMetal, request: Request) -> Response:
    return list_response(request, PORT_GROUP, _of_node(service, request), detail=True)


def _found(service: BareMetal, request: Request) -> PortGroup:
    return service.ports.group(request.context, request.vars["group"])


def show(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    return single(request, PORT_GROUP, _found(service, request))


def list_ports(service: BareMetal, request: Request) -> Response:
    require_path_version(request, BELOW_SINCE)
    return list_response(request, PORT, service.ports.rows.select(portgroup_uuid=_found(service, request).uuid))


def update(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    require(request, "baremetal:portgroup:update", *ADMINISTRATORS)
    group = _found(service, request)
    service.ports.change_group(group, patched(request, PORT_GROUP, group))
    return single(request, PORT_GROUP, group)


def delete(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    require(request, "baremetal:portgroup:delete", *ADMINISTRATORS)
    service.ports.delete_group(_found(service, request))
    return Response(status=204)
