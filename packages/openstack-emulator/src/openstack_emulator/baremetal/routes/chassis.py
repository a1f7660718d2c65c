"""Chassis over HTTP: groups of nodes in one enclosure."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Chassis
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import list_response, new_key, single
from openstack_emulator.baremetal.rules.access import ADMINISTRATORS, OBSERVERS, require
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.kinds import CHASSIS, NODE
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response


def create(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:create", *ADMINISTRATORS)
    values, key = CHASSIS.values(request.version, request.json), new_key(request, service.chassis)
    chassis = Chassis(id=key, uuid=key, created_at=service.nodes.now(), updated_at=None, **values)
    return single(request, CHASSIS, service.chassis.add(chassis), 201)


def index(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return list_response(request, CHASSIS, service.chassis)


def index_in_full(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return list_response(request, CHASSIS, service.chassis, detail=True)


def _found(service: BareMetal, request: Request) -> Chassis:
    return service.chassis.require(request.vars["chassis"])


def show(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return single(request, CHASSIS, _found(service, request))


def update(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:update", *ADMINISTRATORS)
    row = _found(service, request)
    service.chassis.update(row, **patched(request, CHASSIS, row), updated_at=service.nodes.now())
    return single(request, CHASSIS, row)


def delete(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:delete", *ADMINISTRATORS)
    row = _found(service, request)
    if service.nodes.rows.first(chassis_uuid=row.uuid) is not None:
        raise bad_request(f"Chassis {row.uuid} contains nodes and cannot be deleted.")
    service.chassis.remove(row)
    return Response(status=204)


def list_nodes(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return list_response(request, NODE, service.nodes.rows.select(chassis_uuid=_found(service, request).uuid))
