"""Virtual interfaces (VIFs) of nodes over HTTP."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Node
from openstack_emulator.baremetal.routes.nodes import node_of
from openstack_emulator.baremetal.rules.access import require_path_version
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response

SINCE = (1, 28)
"""The microversion that has the path."""


def index(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    node = node_of(service, request)
    return Response({"vifs": [{"id": vif} for vif in service.vifs.attached(node)]})


def _changeable(service: BareMetal, request: Request, action: str) -> Node:
    require_path_version(request, SINCE)
    return service.nodes.changeable(request, request.vars["node"], f"baremetal:node:vif:{action}")


def attach(service: BareMetal, request: Request) -> Response:
    node = _changeable(service, request, "attach")
    vif = request.json.get("id") if isinstance(request.json, dict) else None
    if not isinstance(vif, str) or not vif:
        raise bad_request("The request body must be a JSON object with a string 'id'.")
    service.vifs.attach(node, vif)
    return Response(status=204)


def detach(service: BareMetal, request: Request) -> Response:
    service.vifs.detach(_changeable(service, request, "detach"), request.vars["vif"])
    return Response(status=204)


def detach_nothing(service: BareMetal, request: Request) -> Response:
    """Refuse to detach without the name of a VIF. Raises ApiError 400."""
    _changeable(service, request, "detach")
    raise bad_request("Missing mandatory parameter: vif_ident")
