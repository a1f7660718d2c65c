"""Quotas over HTTP."""

from __future__ import annotations

from openstack_emulator.container_infra.records import Quota
from openstack_emulator.container_infra.routes.fields import fields_of, integer, one_of, text
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.container_infra.rules.quotas import CLUSTER, DEFAULT_LIMIT
from openstack_emulator.container_infra.views import quota_view
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import page_response, require_version

UNSAID_LIMIT = 1
"""The limit that a new quota has if the request names none."""
SINCE = (1, 6)
_KNOWN = {
    "project_id": text(shortest=1),
    "resource": one_of(CLUSTER),
    "hard_limit": integer(0),
}


def _administrator(request: Request) -> None:
    require_version(request, SINCE)
    request.context.require()


def _limit_in(request: Request) -> tuple[str, int]:
    """The project and the limit in the body. Raises ApiError 400."""
    found = fields_of(request, "quota", _KNOWN, ("project_id", "resource"))
    return found["project_id"], found.get("hard_limit", UNSAID_LIMIT)


def _place(request: Request) -> tuple[str, str]:
    """The project and the kind of objects in the path."""
    return request.vars["project_id"], request.vars["resource"]


def index(service: ContainerClusters, request: Request) -> Response:
    _administrator(request)
    table = service.quotas.rows
    every = request.query.boolean("all_tenants")
    rows = list(table) if every else table.select(project_id=request.context.project)
    return page_response(request, "quotas", rows, quota_view, ("all_tenants",))


def create(service: ContainerClusters, request: Request) -> Response:
    _administrator(request)
    return Response(quota_view(request.base, service.quotas.create(*_limit_in(request))), 201)


def show(service: ContainerClusters, request: Request) -> Response:
    """A limit; that of a project without one of its own is the default."""
    project_id, resource = _place(request)
    if not request.context.is_admin and project_id != request.context.project_id:
        raise forbidden("Not authorized.")
    quota = service.quotas.rows.get(f"{project_id}:{resource}")
    if quota is None:
        return Response({"project_id": project_id, "resource": CLUSTER, "hard_limit": DEFAULT_LIMIT})
    return Response(quota_view(request.base, quota))


def _found(service: ContainerClusters, request: Request) -> Quota:
    _administrator(request)
    return service.quotas.rows.require(":".join(_place(request)))


def change(service: ContainerClusters, request: Request) -> Response:
    quota = _found(service, request)
    service.quotas.change(quota, *_limit_in(request))
    return Response(quota_view(request.base, quota), 202)


def delete(service: ContainerClusters, request: Request) -> Response:
    service.quotas.rows.remove(_found(service, request))
    return Response(status=204)
