"""The metric service: its table of routes."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.cloud import Cloud, Handler, Records, Service
from stoker.emulator.core.component import merged, using
from stoker.emulator.core.errors import ApiError, conflict
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.paging import ordered, page
from stoker.emulator.core.store import Record
from stoker.emulator.metric import measure_routes, type_routes
from stoker.emulator.metric.metrics import Metrics
from stoker.emulator.metric.policies import Policies, policy_view
from stoker.emulator.metric.resources import GENERIC, Resources
from stoker.emulator.metric.series import AGGREGATIONS


class MetricRecords(Records):
    """Archive policies, metrics with their measures, resources and their types."""

    service = "gnocchi"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.policies = Policies(self)
        self.metrics = Metrics(self, self.policies)
        self.resources = Resources(self, self.metrics)

    def seed(self) -> None:
        self.policies.seed()
        self.resources.seed()


# -- archive policies ---------------------------------------------------------------------------------------------


def list_policies(policies: Policies, request: Request) -> Response:
    return Response([policy_view(policy) for policy in policies.rows])


def create_policy(policies: Policies, request: Request) -> Response:
    return Response(policy_view(policies.create(request)), 201)


def show_policy(policies: Policies, request: Request) -> Response:
    return Response(policy_view(policies.rows.require(request.vars["name"])))


def delete_policy(resources: Resources, request: Request) -> Response:
    request.context.require("admin")
    policy = resources.metrics.policies.rows.require(request.vars["name"])
    if resources.metrics.rows.first(policy=policy["id"]) is not None:
        raise conflict(f"Archive policy {policy['id']} is still in use")
    resources.metrics.policies.rows.remove(policy)
    return Response(status=204)


# -- metrics ------------------------------------------------------------------------------------------------------


def list_metrics(resources: Resources, request: Request) -> Response:
    context, metrics = request.context, resources.metrics
    rows = list(metrics.rows) if context.is_admin else metrics.rows.select(project_id=context.project)
    return Response([metrics.view(metric) for metric in page(rows, request.query).rows])


def create_metric(resources: Resources, request: Request) -> Response:
    context, body = request.context, request.json
    key = body.get("resource_id") if isinstance(body, dict) else None
    resource = resources.find(context, GENERIC, key) if isinstance(key, str) else None
    made = resources.metrics.create(body, context.project_id, context.user_id, resource)
    location = {"Location": f"{request.base}/v1/metric/{made['id']}"}
    return Response(resources.metrics.view(made), 201, location)


def show_metric(resources: Resources, request: Request) -> Response:
    return Response(resources.metrics.view(resources.metrics.visible(request.context, request.vars["id"])))


def delete_metric(resources: Resources, request: Request) -> Response:
    resources.metrics.remove(resources.metrics.visible(request.context, request.vars["id"]))
    return Response(status=204)


# -- resources ----------------------------------------------------------------------------------------------------


def _page(resources: Resources, request: Request, rows: list[Record]) -> Response:
    found = page(ordered(rows, request.query), request.query)
    return Response([resources.view(resource) for resource in found.rows])


def _project(request: Request) -> str | None:
    return None if request.context.is_admin else request.context.project


def list_resources(resources: Resources, request: Request) -> Response:
    return _page(resources, request, resources.select(request.vars["type"], None, _project(request)))


def search_resources(resources: Resources, request: Request) -> Response:
    expression = request.json if request.body else None
    return _page(resources, request, resources.select(request.vars["type"], expression, _project(request)))


def create_resource(resources: Resources, request: Request) -> Response:
    made = resources.create(request.vars["type"], request)
    location = {"Location": f"{request.base}/v1/resource/{made['type']}/{made['id']}"}
    return Response(resources.view(made), 201, location)


def _resource(resources: Resources, request: Request) -> Record:
    return resources.find(request.context, request.vars["type"], request.vars["id"])


def show_resource(resources: Resources, request: Request) -> Response:
    return Response(resources.view(_resource(resources, request)))


def change_resource(resources: Resources, request: Request) -> Response:
    resource = _resource(resources, request)
    resources.change(resource, request)
    return Response(resources.view(resource))


def delete_resource(resources: Resources, request: Request) -> Response:
    resources.remove(_resource(resources, request))
    return Response(status=204)


def list_resource_metrics(resources: Resources, request: Request) -> Response:
    found = resources.metrics.of(_resource(resources, request)).values()
    return Response([resources.metrics.view(metric) for metric in found])


def show_resource_metric(resources: Resources, request: Request) -> Response:
    return Response(resources.metrics.view(measure_routes.resource_metric(resources, request)))


def list_kinds(resources: Resources, request: Request) -> Response:
    return Response({kind["id"]: f"{request.base}/v1/resource/{kind['id']}" for kind in resources.types})


# -- about the service --------------------------------------------------------------------------------------------


def capabilities(resources: Resources, request: Request) -> Response:
    return Response({"aggregation_methods": sorted(AGGREGATIONS)})


def versions(gnocchi: Records, request: Request) -> Response:
    links = [{"rel": "self", "href": f"{request.base}/v1/"}]
    version = {"id": "v1.0", "status": "CURRENT", "links": links, "updated": "2015-03-19T00:00:00Z"}
    return Response({"build": "4.6.0", "versions": [version]})


def error_body(error: ApiError) -> dict[str, Any]:
    """Return Gnocchi's form of an error."""
    return {"code": error.status, "title": error.title, "description": error.message}


def _json_only(handler: Handler) -> Handler:
    """Return a handler that refuses a body of another media type than JSON."""

    def checked(records: Any, request: Request) -> Response:
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media not in _JSON and (media or request.body):
            raise ApiError(415, f"The media type {media!r} is not supported: use application/json.")
        return handler(records, request)

    return checked


_JSON = ("application/json", "application/json-patch+json")
_RESOURCE = "/resource/{type}/{id}"
_METRIC = f"{_RESOURCE}/metric/{{name}}"
ROUTES = merged(
    using(
        Policies,
        {
            "/archive_policy": {"GET": list_policies, "POST": create_policy},
            "/archive_policy/{name}": {"GET": show_policy},
        },
    ),
    using(
        Resources,
        {
            "/archive_policy/{name}": {"DELETE": delete_policy},
            "/metric": {"GET": list_metrics, "POST": create_metric},
            "/metric/{id}": {"GET": show_metric, "DELETE": delete_metric},
            "/metric/{id}/measures": {"GET": measure_routes.show, "POST": measure_routes.add},
            "/batch/metrics/measures": {"POST": measure_routes.add_batch},
            "/batch/resources/metrics/measures": {"POST": measure_routes.add_resources_batch},
            "/resource": {"GET": list_kinds},
            "/resource/{type}": {"GET": list_resources, "POST": create_resource},
            _RESOURCE: {"GET": show_resource, "PATCH": change_resource, "DELETE": delete_resource},
            f"{_RESOURCE}/metric": {"GET": list_resource_metrics},
            _METRIC: {"GET": show_resource_metric},
            f"{_METRIC}/measures": {"GET": measure_routes.show_of_resource, "POST": measure_routes.add_to_resource},
            "/search/resource/{type}": {"POST": search_resources},
            "/resource_type": {"GET": type_routes.index, "POST": type_routes.create},
            "/resource_type/{type}": {
                "GET": type_routes.show,
                "PATCH": type_routes.change,
                "DELETE": type_routes.delete,
            },
            "/aggregation/metric": {"GET": measure_routes.aggregate_metrics},
            "/aggregation/resource/{type}/metric/{name}": {"POST": measure_routes.aggregate_resources},
            "/aggregates": {"POST": measure_routes.aggregates},
            "/capabilities": {"GET": capabilities},
        },
    ),
)

METRIC = Service(
    name="gnocchi",
    mount="/metric",
    records=MetricRecords,
    endpoints={"metric": "/metric"},
    prefixes=("/v1",),
    routes={
        path: {name: _json_only(handler) if name in ("POST", "PATCH") else handler for name, handler in methods.items()}
        for path, methods in ROUTES.items()
    },
    root={"/": {"GET": versions}},
    public=frozenset({"GET /"}),
    error_body=error_body,
)
