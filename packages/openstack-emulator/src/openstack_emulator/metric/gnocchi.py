"""The metric service: its table of routes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlencode

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Handler, Records, Service
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import Record
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.metric import measure_routes, type_routes
from openstack_emulator.metric.bodies import Invalid, integer, invalid, refusal
from openstack_emulator.metric.metrics import Metrics
from openstack_emulator.metric.policies import Policies, policy_view
from openstack_emulator.metric.resources import GENERIC, SHOWN, Resources
from openstack_emulator.metric.series import AGGREGATIONS


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
    made = policies.create(request)
    return Response(policy_view(made), 201, {"Location": f"{request.base}/v1/archive_policy/{made['id']}"})


def show_policy(policies: Policies, request: Request) -> Response:
    return Response(policy_view(policies.rows.require(request.vars["name"])))


def delete_policy(resources: Resources, request: Request) -> Response:
    request.context.require("admin")
    policy = resources.metrics.policies.rows.require(request.vars["name"])
    if resources.metrics.rows.first(policy=policy["id"]) is not None:
        raise bad_request(f"Archive policy {policy['id']} is still in use")
    resources.metrics.policies.rows.remove(policy)
    return Response(status=204)


# -- metrics ------------------------------------------------------------------------------------------------------


def list_metrics(resources: Resources, request: Request) -> Response:
    context, metrics, query = request.context, resources.metrics, request.query
    rows = [metric for metric in metrics.rows if context.is_admin or _of_project(resources, metric, context.project)]
    fields = {"id": "id", "name": "name", "unit": "unit", "resource_id": "resource_id", "archive_policy_name": "policy"}
    for name, field in fields.items():
        if wanted := query.all(name):
            rows = [metric for metric in rows if metric[field] in wanted]
    return _paged(request, rows, frozenset(fields), metrics.view)


def _of_project(resources: Resources, metric: Record, project: str | None) -> bool:
    """Whether a metric is listed for a project: it belongs to one of its resources."""
    resource = resources.rows.get(metric["resource_id"]) if metric["resource_id"] else None
    return resource is not None and resource["project_id"] == project


def create_metric(resources: Resources, request: Request) -> Response:
    context, body = request.context, request.json
    key = body.get("resource_id") if isinstance(body, dict) else None
    resource = resources.find(context, GENERIC, key) if isinstance(key, str) else None
    made = resources.metrics.create(body, context.project_id, context.user_id, resource)
    location = {"Location": f"{request.base}/v1/metric/{made['id']}"}
    return Response(resources.metrics.summary(made), 201, location)


def _shown_metric(resources: Resources, metric: Record) -> Response:
    shown = resources.metrics.view(metric)
    key = shown.pop("resource_id")
    resource = resources.rows.get(key) if key else None
    return Response({**shown, "resource": None if resource is None else _plain(resources.view(resource, GENERIC))})


def _plain(resource: dict[str, Any]) -> dict[str, Any]:
    """A resource as its metrics show it."""
    return {name: value for name, value in resource.items() if name != "metrics"}


def show_metric(resources: Resources, request: Request) -> Response:
    return _shown_metric(resources, resources.metrics.visible(request.context, request.vars["id"]))


def delete_metric(resources: Resources, request: Request) -> Response:
    resources.metrics.remove(resources.metrics.visible(request.context, request.vars["id"]))
    return Response(status=204)


# -- resources ----------------------------------------------------------------------------------------------------


def _paged(
    request: Request, rows: list[Record], fields: Collection[str], view: Callable[[Record], dict[str, Any]]
) -> Response:
    """Return the page of a list that the query asks for, with a link to the next one."""
    query = request.query
    if given := query.get("limit"):
        try:
            integer(1)(given)
        except Invalid as error:
            problem = f"{error.reason} for dictionary value @ data['limit']"
            raise refusal("Argument value error", reason=problem) from None
    for part in filter(None, (query.get("sort") or "").split(",")):
        if part.partition(":")[0] not in fields:
            raise bad_request(f"Invalid pagination: `Sort key supplied is invalid: {part.partition(':')[0]}'")
    found = page(ordered(rows, query), query, missing=_no_marker)
    headers = {}
    if given and found.next_marker is not None:
        sort = [("sort", one) for one in filter(None, (query.get("sort") or "").split(","))]
        following = urlencode([("limit", given), ("marker", found.next_marker), *sort])
        headers["Link"] = f'<{request.base}{request.path.removeprefix("/metric")}?{following}>; rel="next"'
    return Response([view(row) for row in found.rows], 200, headers)


def _no_marker(marker: str) -> ApiError:
    return bad_request(f"Invalid pagination: `Invalid marker: `{marker}''")


def _project(request: Request) -> str | None:
    return None if request.context.is_admin else request.context.project


def _listed(resources: Resources, request: Request, expression: Any) -> Response:
    kind = request.vars["type"]
    rows = resources.select(kind, expression, _project(request))
    fields = {*SHOWN, "revision_start", "revision_end", *resources.types.require(kind)["attributes"]}
    return _paged(request, rows, fields, lambda resource: resources.view(resource, kind))


def list_resources(resources: Resources, request: Request) -> Response:
    return _listed(resources, request, None)


def search_resources(resources: Resources, request: Request) -> Response:
    return _listed(resources, request, request.query.get("filter") or (request.json if request.body else None))


def _answer(resources: Resources, request: Request, resource: Record, status: int = 200) -> Response:
    """Return the answer that shows one resource."""
    shown = resources.view(resource, request.vars["type"])
    entity = hashlib.sha1(repr(sorted(shown.items(), key=str)).encode(), usedforsecurity=False).hexdigest()
    started = datetime.fromisoformat(resource["started_at"]).replace(tzinfo=UTC)
    headers = {"ETag": f'"{entity}"', "Last-Modified": format_datetime(started, usegmt=True)}
    if status == 201:
        headers["Location"] = f"{request.base}/v1/resource/{resource['type']}/{resource['id']}"
    return Response(shown, status, headers)


def create_resource(resources: Resources, request: Request) -> Response:
    return _answer(resources, request, resources.create(request.vars["type"], request), 201)


def _resource(resources: Resources, request: Request) -> Record:
    return resources.find(request.context, request.vars["type"], request.vars["id"])


def show_resource(resources: Resources, request: Request) -> Response:
    return _answer(resources, request, _resource(resources, request))


def change_resource(resources: Resources, request: Request) -> Response:
    resource = _resource(resources, request)
    resources.change(resource, request)
    return _answer(resources, request, resource)


def delete_resource(resources: Resources, request: Request) -> Response:
    resources.remove(_resource(resources, request))
    return Response(status=204)


def list_resource_metrics(resources: Resources, request: Request) -> Response:
    found = resources.metrics.of(_resource(resources, request)).values()
    return Response([resources.metrics.view(metric) for metric in found])


def add_resource_metrics(resources: Resources, request: Request) -> Response:
    resources.add_metrics(_resource(resources, request), request.json, request.context)
    return list_resource_metrics(resources, request)


def show_resource_metric(resources: Resources, request: Request) -> Response:
    return _shown_metric(resources, measure_routes.resource_metric(resources, request))


def list_kinds(resources: Resources, request: Request) -> Response:
    return Response({kind["id"]: f"{request.base}/v1/resource/{kind['id']}" for kind in resources.types})


# -- about the service --------------------------------------------------------------------------------------------


def capabilities(resources: Resources, request: Request) -> Response:
    return Response({"aggregation_methods": sorted(AGGREGATIONS)})


_VERSION = ApiVersion("v1.0", (own("/v1/"),), details={"updated": "2015-03-19T00:00:00Z"})


def _json_only(handler: Handler) -> Handler:
    """Return a handler that refuses a body of another media type than JSON."""

    def checked(records: Any, request: Request) -> Response:
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media not in _JSON and (media or request.body):
            raise ApiError(415, f"The media type {media!r} is not supported: use application/json.")
        if request.body:
            try:
                _ = request.json
            except ApiError as error:
                raise invalid("Expected object or value", cause="Unable to decode body") from error
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
            f"{_RESOURCE}/metric": {"GET": list_resource_metrics, "POST": add_resource_metrics},
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
    root={"/": {"GET": all_versions(_VERSION, around={"build": "4.6.0"})}},
    public=frozenset({"GET /"}),
    error_body=error_bodies.gnocchi,
    sends_request_id=False,
)
