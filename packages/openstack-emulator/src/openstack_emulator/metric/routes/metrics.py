"""Routes of metrics, by themselves and as those of a resource."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.metric.records import Metric
from openstack_emulator.metric.routes.lists import list_response
from openstack_emulator.metric.routes.paths import found_metric, metric_of_resource
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.inputs import NewMetric
from openstack_emulator.metric.rules.types import GENERIC
from openstack_emulator.metric.views import metric_detail, metric_summary, metric_view

_FIELDS = {"id": "id", "name": "name", "unit": "unit", "resource_id": "resource_id", "archive_policy_name": "policy"}
"""What a query may name, and under which name it is kept."""


def index(database: TimeSeriesDatabase, request: Request) -> Response:
    context, query = request.context, request.query
    rows = [row for row in database.metrics.rows if context.is_admin or _is_of(database, row, context.project)]
    for name, field in _FIELDS.items():
        if requested := query.all(name):
            rows = [row for row in rows if row.get(field) in requested]
    return list_response(request, rows, _FIELDS, lambda row: metric_view(database, row))


def _is_of(database: TimeSeriesDatabase, metric: Metric, project: str | None) -> bool:
    """Whether a metric is listed for a project: it belongs to one of its resources."""
    resource = database.resources.rows.get(metric.resource_id or "")
    return resource is not None and resource.project_id == project


def create(database: TimeSeriesDatabase, request: Request) -> Response:
    context, body = request.context, request.json
    key = body.get("resource_id") if isinstance(body, dict) else None
    resource = database.resources.find(context, GENERIC, key) if isinstance(key, str) else None
    new_metric = NewMetric.from_json(body)
    metric = database.metrics.create(new_metric, context.project_id, context.user_id, resource)
    return Response(metric_summary(metric), 201, {"Location": f"{request.base}/v1/metric/{metric.id}"})


def show(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response(metric_detail(database, found_metric(database, request)))


def delete(database: TimeSeriesDatabase, request: Request) -> Response:
    database.metrics.remove(found_metric(database, request))
    return Response(status=204)


def show_of_resource(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response(metric_detail(database, metric_of_resource(database, request)))
