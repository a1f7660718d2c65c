"""Measures: added, read, aggregated."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.errors import ApiError, bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.metric.aggregates import AGGREGATED, Measured, evaluate, parse
from stoker.emulator.metric.resources import GENERIC, Resources
from stoker.emulator.metric.series import check_aggregation, moment_of, shown

_UNSUPPORTED = ("resample", "reresample", "fill", "transform", "groupby")


def add(resources: Resources, request: Request) -> Response:
    metrics = resources.metrics
    metrics.add_measures(metrics.visible(request.context, request.vars["id"]), metrics.checked(request.json))
    return Response(status=202)


def add_to_resource(resources: Resources, request: Request) -> Response:
    resources.metrics.add_measures(resource_metric(resources, request), resources.metrics.checked(request.json))
    return Response(status=202)


def add_batch(resources: Resources, request: Request) -> Response:
    """Add measures by the ID of the metric."""
    metrics, body = resources.metrics, _object(request.json)
    checked = [(metrics.visible(request.context, key), metrics.checked(given)) for key, given in body.items()]
    for metric, points in checked:
        metrics.add_measures(metric, points)
    return Response(status=202)


def add_resources_batch(resources: Resources, request: Request) -> Response:
    """Add measures by the IDs of resources and the names of their metrics; `create_metrics` creates missing ones."""
    metrics, create, checked = resources.metrics, request.query.boolean("create_metrics"), []
    for key, named in _object(request.json).items():
        resource = resources.find(request.context, GENERIC, key)
        for name, given in _object(named).items():
            listed = isinstance(given, dict)
            wanted = {k: v for k, v in given.items() if k != "measures"} if listed else {}
            points = metrics.checked(given.get("measures") if listed else given)
            metric = metrics.named(resource, name)
            if metric is None and not create:
                raise bad_request(f"Unknown metrics: {name} of resource {key}")
            if metric is None:
                metrics.accept({**wanted, "name": name}, resource)
            checked.append((resource, name, wanted, metric, points))
    for resource, name, wanted, metric, points in checked:
        owner = (resource["project_id"], resource["user_id"])
        target = metric or metrics.named(resource, name) or metrics.create({**wanted, "name": name}, *owner, resource)
        metrics.add_measures(target, points)
    return Response(status=202)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise bad_request("The request body must be a JSON object.")
    return value


def resource_metric(resources: Resources, request: Request) -> Record:
    """Return the metric that the URL names by its resource and name. Raises ApiError 404."""
    resource = resources.find(request.context, request.vars["type"], request.vars["id"])
    metric = resources.metrics.named(resource, request.vars["name"])
    if metric is None:
        raise not_found(f"Metric {request.vars['name']} does not exist")
    return metric


def show(resources: Resources, request: Request) -> Response:
    return _shown(resources, request, resources.metrics.visible(request.context, request.vars["id"]))


def show_of_resource(resources: Resources, request: Request) -> Response:
    return _shown(resources, request, resource_metric(resources, request))


def _shown(resources: Resources, request: Request, metric: Record) -> Response:
    """The values of one metric."""
    _refuse(request)
    method = check_aggregation(request.query.get("aggregation") or "mean")
    start, stop = _bounds(resources, request)
    found: list[list[Any]] = []
    for step in _granularities(resources, request, [metric]):
        found += shown(resources.metrics.series(metric, step, method, start, stop), step)
    return Response(found)


def aggregate_metrics(resources: Resources, request: Request) -> Response:
    """Aggregate the metrics of the query."""
    keys = request.query.all("metric")
    if not keys:
        raise bad_request("At least one metric must be given.")
    return _series(resources, request, [resources.metrics.visible(request.context, key) for key in keys])


def aggregate_resources(resources: Resources, request: Request) -> Response:
    """Aggregate the metric of a name of the resources that the body selects."""
    context = request.context
    expression = request.json if request.body else None
    found = resources.select(request.vars["type"], expression, None if context.is_admin else context.project)
    named = [resources.metrics.named(resource, request.vars["name"]) for resource in found]
    return _series(resources, request, [metric for metric in named if metric is not None])


def _series(resources: Resources, request: Request, metrics: list[Record]) -> Response:
    """The values of several metrics together."""
    query = request.query
    _refuse(request)
    method = check_aggregation(query.get("aggregation") or "mean")
    across = check_aggregation(query.get("reaggregation") or method)
    overlap = _number("needed_overlap", query.get("needed_overlap") or "100")
    start, stop = _bounds(resources, request)
    found: list[list[Any]] = []
    for step in _granularities(resources, request, metrics):
        series = resources.metrics.combined(metrics, step, method, start, stop, overlap, across)
        found += shown(series, step)
    return Response(found)


def _refuse(request: Request) -> None:
    if unsupported := [name for name in _UNSUPPORTED if name in request.query]:
        raise ApiError(501, f"The emulated service does not support the option {unsupported[0]}.")


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise bad_request(f"{value!r} is not a number, for {name}.") from None


def _bounds(resources: Resources, request: Request) -> tuple[float | None, float | None]:
    now = resources.cloud.clock.now()
    start, stop = (request.query.get(name) for name in ("start", "stop"))
    return (moment_of(start, now) if start else None, moment_of(stop, now) if stop else None)


def _granularities(resources: Resources, request: Request, metrics: list[Record]) -> list[float]:
    """Return the granularity of the query, or those that all metrics have, the longest first."""
    if given := request.query.get("granularity"):
        return [_number("granularity", given)]
    if not metrics:
        return []
    common = set.intersection(*(set(resources.metrics.granularities(metric)) for metric in metrics))
    if not common:
        raise bad_request("The metrics have no granularity in common.")
    return sorted(map(float, common), reverse=True)


def aggregates(resources: Resources, request: Request) -> Response:
    """Calculate with metrics: by their IDs, or by their name in the resources of a search."""
    body = _object(request.json)
    _refuse(request)
    operations = body.get("operations")
    expression = parse(operations) if isinstance(operations, str) else operations
    start, stop = _bounds(resources, request)
    named = _named(resources, request, body) if "resource_type" in body else None
    references: dict[str, Record] = {}

    def measured(granularity: float | None) -> Measured:
        def measure(key: str, method: str) -> Measured:
            check_aggregation(method)
            metrics = [resources.metrics.visible(request.context, key)] if named is None else named.get(key, [])
            found: Measured = {}
            for metric in metrics:
                references[metric["id"]] = metric
                if granularity is not None:
                    found[metric["id"], method] = resources.metrics.series(metric, granularity, method, start, stop)
            return found

        return evaluate(expression, measure)

    measured(None)
    steps = _granularities(resources, request, list(references.values()))
    by_step: list[tuple[float, Measured]] = [(step, measured(step)) for step in steps]
    answer: dict[str, Any] = {}
    for step, found in by_step:
        for key, series in found.items():
            _put(answer, key, shown(series, step))
    return Response({"measures": answer, "references": [resources.metrics.view(one) for one in references.values()]})


def _put(answer: dict[str, Any], key: tuple[str, str], rows: list[list[Any]]) -> None:
    name, method = key
    if key == AGGREGATED:
        answer.setdefault(name, []).extend(rows)
    else:
        answer.setdefault(name, {}).setdefault(method, []).extend(rows)


def _named(resources: Resources, request: Request, body: dict[str, Any]) -> dict[str, list[Record]]:
    """Return the metrics of the resources of a search by name."""
    context = request.context
    found: dict[str, list[Record]] = {}
    for resource in resources.select(
        str(body["resource_type"]), body.get("search"), None if context.is_admin else context.project
    ):
        for name, metric in resources.metrics.of(resource).items():
            found.setdefault(name, []).append(metric)
    return found
