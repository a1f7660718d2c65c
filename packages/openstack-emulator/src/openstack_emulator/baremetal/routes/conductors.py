"""The conductor over HTTP: there is a single one, which never goes down."""

from __future__ import annotations

from openstack_emulator.baremetal.rules.access import require_path_version, require_system
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.drivers import HOST
from openstack_emulator.baremetal.views import View, conductor_view
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response

SINCE = (1, 49)
"""The microversion that has the path."""
_BRIEF = ("hostname", "conductor_group", "alive", "links")


def _conductor(service: BareMetal, request: Request) -> View:
    require_path_version(request, SINCE)
    require_system(request, "baremetal:conductor:get", "reader")
    now = service.nodes.now()
    return conductor_view(request, min((node.created_at for node in service.nodes.rows), default=now), now)


def index(service: BareMetal, request: Request) -> Response:
    """List conductors; with `detail`, or `fields`, more or other fields of each."""
    conductor = _conductor(service, request)
    if chosen := request.query.get("fields"):
        names: tuple[str, ...] = (*chosen.split(","), "links")
        if unknown := sorted(set(names) - conductor.keys()):
            raise ApiError(400, f'Field(s) "{", ".join(unknown)}" are not valid.')
    else:
        names = tuple(conductor) if request.query.boolean("detail") else _BRIEF
    return Response({"conductors": [{name: conductor[name] for name in names}]})


def show(service: BareMetal, request: Request) -> Response:
    conductor = _conductor(service, request)
    name = request.vars["conductor"]
    if name != HOST:
        raise ApiError(404, f"Conductor {name} could not be found.")
    return Response(conductor)
