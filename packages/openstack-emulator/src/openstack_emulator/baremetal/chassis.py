"""Chassis: groups of nodes in one enclosure."""

from __future__ import annotations

from openstack_emulator.baremetal.http import ADMINISTRATORS, OBSERVERS, TIMESTAMP, listed, new_key, require, single
from openstack_emulator.baremetal.kinds import CHASSIS, NODE
from openstack_emulator.baremetal.nodes import Nodes
from openstack_emulator.baremetal.patching import patched
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection


class Chassis(Component):
    """All chassis."""

    def __init__(self, records: Records, nodes: Nodes, rows: Collection) -> None:
        super().__init__(records)
        self.nodes, self.rows = nodes, rows


def create(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:create", *ADMINISTRATORS)
    values = CHASSIS.values(request)
    now, key = chassis.records.timestamp(TIMESTAMP), new_key(request, chassis.rows)
    made = chassis.rows.add({**values, "id": key, "uuid": key, "created_at": now, "updated_at": None})
    return single(request, CHASSIS, made, 201)


def index(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return listed(request, CHASSIS, chassis.rows)


def index_in_full(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return listed(request, CHASSIS, chassis.rows, detail=True)


def show(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    return single(request, CHASSIS, chassis.rows.require(request.vars["chassis"]))


def update(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:update", *ADMINISTRATORS)
    row = chassis.rows.require(request.vars["chassis"])
    chassis.rows.update(row, **patched(request, CHASSIS, row), updated_at=chassis.records.timestamp(TIMESTAMP))
    return single(request, CHASSIS, row)


def delete(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:delete", *ADMINISTRATORS)
    row = chassis.rows.require(request.vars["chassis"])
    if chassis.nodes.rows.first(chassis_uuid=row["uuid"]) is not None:
        raise bad_request(f"Chassis {row['uuid']} contains nodes and cannot be deleted.")
    chassis.rows.remove(row)
    return Response(status=204)


def list_nodes(chassis: Chassis, request: Request) -> Response:
    require(request, "baremetal:chassis:get", *OBSERVERS)
    row = chassis.rows.require(request.vars["chassis"])
    return listed(request, NODE, chassis.nodes.rows.select(chassis_uuid=row["uuid"]))


CHASSIS_ROUTES = using(
    Chassis,
    {
        "/chassis": {"GET": index, "POST": create},
        "/chassis/detail": {"GET": index_in_full},
        "/chassis/{chassis}": {"GET": show, "PATCH": update, "DELETE": delete},
        "/chassis/{chassis}/nodes": {"GET": list_nodes},
    },
)
