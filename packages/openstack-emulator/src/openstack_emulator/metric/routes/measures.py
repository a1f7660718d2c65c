"""Measures: added, read, aggregated."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.metric.records import Metric
from openstack_emulator.metric.routes.paths import found_metric, kind_of, metric_of_resource, name_of
from openstack_emulator.metric.routes.resources import project_of
from openstack_emulator.metric.rules.aggregates import AGGREGATED, Measured, evaluate, parse
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.inputs import NewMetric
from openstack_emulator.metric.rules.series import moment_of, shown
from openstack_emulator.metric.rules.validation import invalid, refusal, seconds
from openstack_emulator.metric.views import metric_view

_UNSUPPORTED = ("resample", "reresample", "fill", "transform", "groupby")


def add(database: TimeSeriesDatabase, request: Request) -> Response:
    metrics = database.metrics
    metrics.add_measures(found_metric(database, request), metrics.points(request.json))
    return Response(status=202)


def add_to_resource(database: TimeSeriesDatabase, request: Request) -> Response:
    database.metrics.add_measures(metric_of_resource(database, request), database.metrics.points(request.json))
    return Response(status=202)


def add_batch(database: TimeSeriesDatabase, request: Request) -> Response:
    """Add measures by the ID of the metric."""
    metrics, body = database.metrics, _object(request.json)
    if unknown := [key for key in body if key not in metrics.rows]:
        raise bad_request(f"Unknown metrics: {', '.join(unknown)}")
    checked = [(metrics.visible(request.context, key), metrics.points(measures)) for key, measures in body.items()]
    for metric, points in checked:
        metrics.add_measures(metric, points)
    return Response(status=202)


def add_resources_batch(database: TimeSeriesDatabase, request: Request) -> Response:
    """Add measures by the IDs of resources and the names of their metrics; `create_metrics` creates missing ones."""
    metrics, create, checked = database.metrics, request.query.boolean("create_metrics"), []
    context, unknown = request.context, []
    for key, named in _object(request.json).items():
        resource = database.resources.known(context, key)
        for name, measures in _object(named).items():
            listed = isinstance(measures, dict)
            attributes = {k: v for k, v in measures.items() if k != "measures"} if listed else {}
            points = metrics.points(measures.get("measures") if listed else measures)
            metric = None if resource is None else metrics.named(resource, name)
            if resource is None or (metric is None and not create):
                unknown.append(f"{key if resource is None else resource.id}/{name}")
                continue
            if metric is None:
                metrics.check(NewMetric.from_json({**attributes, "name": name}), resource)
            checked.append((resource, name, attributes, metric, points))
    if unknown:
        raise bad_request(f"Unknown metrics: {', '.join(unknown)}")
    for resource, name, attributes, metric, points in checked:
        metric_record = metric or metrics.named(resource, name)
        target = metric_record or metrics.create(
            NewMetric.from_json({**attributes, "name": name}), context.project_id, context.user_id, resource
        )
        metrics.add_measures(target, points)
    return Response(status=202)


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise invalid("expected a dictionary")
    return value


def show(database: TimeSeriesDatabase, request: Request) -> Response:
    return _shown(database, request, found_metric(database, request))


def show_of_resource(database: TimeSeriesDatabase, request: Request) -> Response:
    return _shown(database, request, metric_of_resource(database, request))


def _shown(database: TimeSeriesDatabase, request: Request, metric: Metric) -> Response:
    """The values of one metric."""
    _refuse(request)
    method = request.query.get("aggregation") or "mean"
    start, stop = _bounds(database, request)
    found: list[list[Any]] = []
    for step in _granularities(database, request, [(metric, method)]):
        found += shown(database.metrics.series(metric, step, method, start, stop), step)
    return Response(found)


def aggregate_metrics(database: TimeSeriesDatabase, request: Request) -> Response:
    """Aggregate the metrics of the query."""
    keys = request.query.all("metric")
    if not keys:
        return Response([])
    return _series(database, request, [database.metrics.visible(request.context, key) for key in keys])


def aggregate_resources(database: TimeSeriesDatabase, request: Request) -> Response:
    """Aggregate the metric of a name of the resources that the body selects."""
    context = request.context
    expression = request.json if request.body else None
    found = database.resources.select(kind_of(request), expression, project_of(context))
    named = [database.metrics.named(resource, name_of(request)) for resource in found]
    return _series(database, request, [metric for metric in named if metric is not None])


def _series(database: TimeSeriesDatabase, request: Request, metrics: list[Metric]) -> Response:
    """The values of several metrics together."""
    query = request.query
    _refuse(request)
    method = query.get("aggregation") or "mean"
    across = query.get("reaggregation") or method
    overlap = _number("needed_overlap", query.get("needed_overlap") or "100")
    start, stop = _bounds(database, request)
    found: list[list[Any]] = []
    for step in _granularities(database, request, [(metric, method) for metric in metrics]):
        series = database.metrics.combined(metrics, step, method, start, stop, overlap, across)
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


def _bounds(database: TimeSeriesDatabase, request: Request) -> tuple[float | None, float | None]:
    return _moment(database, request, "start"), _moment(database, request, "stop")


def _moment(database: TimeSeriesDatabase, request: Request, name: str) -> float | None:
    """The time in the query; None without one. Raises ApiError 400."""
    value = request.query.get(name)
    found = moment_of(value, database.cloud.clock.now()) if value else None
    if value and found is None:
        raise _wrong_argument(name, "Must be a datetime or a timestamp")
    return found


def _wrong_argument(name: str, reason: str) -> ApiError:
    return refusal("Argument value error", detail=name, reason=reason)


def _granularities(database: TimeSeriesDatabase, request: Request, references: list[tuple[Metric, str]]) -> list[float]:
    """The granularity of the query, or those that all metrics have, the longest first."""
    if value := request.query.get("granularity"):
        if (step := seconds(value)) is None:
            raise _wrong_argument("granularity", "Unable to parse timespan")
        return [step]
    if not references:
        return []
    common = set.intersection(*(set(database.metrics.granularities(metric)) for metric, _ in references))
    if not common:
        listed = sorted([metric.id, method] for metric, method in references)
        raise refusal("Metrics cannot be aggregated", reason="No granularity match", detail=listed)
    return sorted(map(float, common), reverse=True)


def aggregates(database: TimeSeriesDatabase, request: Request) -> Response:
    """Calculate with metrics: by their IDs, or by their name in the resources of a search."""
    body = _object(request.json)
    _refuse(request)
    operations = body.get("operations")
    expression = parse(operations) if isinstance(operations, str) else operations
    start, stop = _bounds(database, request)
    named = _named(database, request, body) if "resource_type" in body else None
    references: dict[tuple[str, str], Metric] = {}

    def measured(granularity: float | None) -> Measured:
        def measure(key: str, method: str) -> Measured:
            metrics = [_referenced(database, request, key)] if named is None else named.get(key, [])
            found: Measured = {}
            for metric in metrics:
                references[metric.id, method] = metric
                if granularity is not None:
                    found[metric.id, method] = database.metrics.series(metric, granularity, method, start, stop)
            return found

        return evaluate(expression, measure)

    measured(None)
    steps = _granularities(database, request, [(metric, method) for (_, method), metric in references.items()])
    by_step: list[tuple[float, Measured]] = [(step, measured(step)) for step in steps]
    answer: dict[str, Any] = {}
    for step, found in by_step:
        for key, series in found.items():
            _put(answer, key, shown(series, step))
    shown_too = {}
    if request.query.boolean("details"):
        known = {metric.id: metric for metric in references.values()}
        shown_too = {"references": [metric_view(database, metric) for metric in known.values()]}
    return Response({"measures": answer, **shown_too})


def _referenced(database: TimeSeriesDatabase, request: Request, key: str) -> Metric:
    """The metric that an operation names. Raises ApiError 404 and 403."""
    if key not in database.metrics.rows:
        raise refusal("Unknown metrics", 404, reason="Provided metrics don't exists", detail=[key])
    return database.metrics.visible(request.context, key)


def _put(answer: dict[str, Any], key: tuple[str, str], rows: list[list[object]]) -> None:
    name, method = key
    if key == AGGREGATED:
        answer.setdefault(name, []).extend(rows)
    else:
        answer.setdefault(name, {}).setdefault(method, []).extend(rows)


def _named(database: TimeSeriesDatabase, request: Request, body: dict[str, object]) -> dict[str | None, list[Metric]]:
    """The metrics of the resources of a search by name."""
    context = request.context
    found: dict[str | None, list[Metric]] = {}
    for resource in database.resources.select(str(body["resource_type"]), body.get("search"), project_of(context)):
        for name, metric in database.metrics.of(resource).items():
            found.setdefault(name, []).append(metric)
    return found
