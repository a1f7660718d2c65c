"""The conductor over HTTP: there is a single one, which never goes down."""

from __future__ import annotations

from typing import Any

from openstack_emulator.baremetal.http import needs, require_system
from openstack_emulator.baremetal.nodes import DRIVERS, HOST, Nodes
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response

CONDUCTORS_SINCE = (1, 49)
"""The microversion that has the path."""
_BRIEF = ("hostname", "conductor_group", "alive", "links")


def _conductor(nodes: Nodes, request: Request) -> dict[str, Any]:
    needs(request, CONDUCTORS_SINCE)
    require_system(request, "baremetal:conductor:get", "reader")
    now = nodes.now()
    return {
        "hostname": HOST,
        "conductor_group": "",
        "alive": True,
        "drivers": list(DRIVERS),
        "created_at": min((node["created_at"] for node in nodes.rows), default=now),
        "updated_at": now,
        "links": [
            {"rel": "self", "href": f"{request.base}/v1/conductors/{HOST}"},
            {"rel": "bookmark", "href": f"{request.base}/conductors/{HOST}"},
        ],
    }


def index(nodes: Nodes, request: Request) -> Response:
    """List conductors; with `detail`, or `fields`, more or other fields of each."""
    conductor = _conductor(nodes, request)
    if chosen := request.query.get("fields"):
        names: tuple[str, ...] = (*chosen.split(","), "links")
        if unknown := sorted(set(names) - conductor.keys()):
            raise ApiError(400, f'Field(s) "{", ".join(unknown)}" are not valid.')
    else:
        names = tuple(conductor) if request.query.boolean("detail") else _BRIEF
    return Response({"conductors": [{name: conductor[name] for name in names}]})


def show(nodes: Nodes, request: Request) -> Response:
    conductor = _conductor(nodes, request)
    name = request.vars["conductor"]
    if name != HOST:
        raise ApiError(404, f"Conductor {name} could not be found.")
    return Response(conductor)


CONDUCTOR_ROUTES = using(Nodes, {"/conductors": {"GET": index}, "/conductors/{conductor}": {"GET": show}})
