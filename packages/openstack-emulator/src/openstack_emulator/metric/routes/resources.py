"""Routes of resources."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from email.utils import format_datetime

from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.metric.records import Resource
from openstack_emulator.metric.routes.lists import list_response
from openstack_emulator.metric.routes.paths import found_resource, found_type, kind_of
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.inputs import NewResource, ResourceChange, metrics_of
from openstack_emulator.metric.views import SHOWN, metric_view, resource_view


def index(database: TimeSeriesDatabase, request: Request) -> Response:
    return _listed(database, request, None)


def search(database: TimeSeriesDatabase, request: Request) -> Response:
    return _listed(database, request, request.query.get("filter") or (request.json if request.body else None))


def _listed(database: TimeSeriesDatabase, request: Request, expression: object) -> Response:
    kind = kind_of(request)
    rows = database.resources.select(kind, expression, project_of(request.context))
    fields = {*SHOWN, "revision_start", "revision_end", *database.types.require(kind).attributes}
    return list_response(request, rows, fields, lambda resource: resource_view(database, resource, kind))


def project_of(context: Context) -> str | None:
    """The project whose resources a caller sees; None for those of all projects."""
    return None if context.is_admin else context.project


def create(database: TimeSeriesDatabase, request: Request) -> Response:
    body, kind = request.json, found_type(database, request)
    resource = database.resources.create(request.context, kind, NewResource.from_json(body, kind))
    return _answer(database, request, resource, 201)


def show(database: TimeSeriesDatabase, request: Request) -> Response:
    return _answer(database, request, found_resource(database, request))


def change(database: TimeSeriesDatabase, request: Request) -> Response:
    resource = found_resource(database, request)
    kind = database.types.require(resource.type)
    change_of_resource = ResourceChange.from_json(request.json, kind)
    database.resources.change(request.context, resource, kind, change_of_resource)
    return _answer(database, request, resource)


def delete(database: TimeSeriesDatabase, request: Request) -> Response:
    database.resources.remove(found_resource(database, request))
    return Response(status=204)


def _answer(database: TimeSeriesDatabase, request: Request, resource: Resource, status: int = 200) -> Response:
    """The answer that shows one resource."""
    shown = resource_view(database, resource, kind_of(request))
    entity = hashlib.sha1(repr(sorted(shown.items(), key=str)).encode(), usedforsecurity=False).hexdigest()
    started = datetime.fromisoformat(resource.started_at).replace(tzinfo=UTC)
    headers = {"ETag": f'"{entity}"', "Last-Modified": format_datetime(started, usegmt=True)}
    if status == 201:
        headers["Location"] = f"{request.base}/v1/resource/{resource.type}/{resource.id}"
    return Response(shown, status, headers)


def list_metrics(database: TimeSeriesDatabase, request: Request) -> Response:
    found = database.metrics.of(found_resource(database, request)).values()
    return Response([metric_view(database, metric) for metric in found])


def add_metrics(database: TimeSeriesDatabase, request: Request) -> Response:
    resource = found_resource(database, request)
    database.resources.add_metrics(request.context, resource, metrics_of(request.json))
    return list_metrics(database, request)


def list_kinds(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response({kind.id: f"{request.base}/v1/resource/{kind.id}" for kind in database.types.rows})
