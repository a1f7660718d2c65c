"""Metrics and their measures."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.metric.records import Measures, Metric, Resource
from openstack_emulator.metric.rules.inputs import NewMetric
from openstack_emulator.metric.rules.policies import Policies, retention
from openstack_emulator.metric.rules.series import Series, aggregated, combined, moment_of
from openstack_emulator.metric.rules.validation import invalid, refusal

MOST_POINTS = 20_000
"""Measures of a metric that are kept; the oldest are dropped."""


class Metrics(Rules):
    """The metrics of all projects, and their measures."""

    def __init__(self, records: Records, policies: Policies) -> None:
        super().__init__(records)
        self.rows = records.table("metrics", Metric, "resource_id", "project_id", missing=_missing)
        self._measures = records.table("measures", Measures, internal=True)
        self._policies = policies

    def visible(self, context: Context, key: str) -> Metric:
        """A metric that the caller may see. Raises ApiError 404 and 403."""
        metric = self.rows.require(key)
        if not context.is_admin and context.project not in metric.owners:
            raise ApiError(403, "Insufficient privileges")
        return metric

    def check(self, new_metric: NewMetric, resource: Resource | None = None) -> None:
        """Raise ApiError 400 for a metric that cannot be created, or 409 if the resource has a metric of the name."""
        if new_metric.policy not in self._policies.rows:
            raise bad_request(f"Archive policy {new_metric.policy} does not exist")
        if new_metric.name is not None and "/" in new_metric.name:
            raise bad_request("'/' is not supported in metric name")
        if resource is not None and self.named(resource, new_metric.name) is not None:
            raise conflict(f"Named metric {new_metric.name} already exists")

    def create(
        self, new_metric: NewMetric, project: str | None, user: str | None, resource: Resource | None = None
    ) -> Metric:
        """Create a metric. Raises ApiError, see `check`."""
        self.check(new_metric, resource)
        return self.rows.add(
            Metric(
                id=new_id(),
                name=new_metric.name,
                unit=new_metric.unit,
                policy=new_metric.policy,
                resource_id=None if resource is None else resource.id,
                project_id=project if resource is None else resource.project_id,
                created_by_project_id=project,
                created_by_user_id=user,
            )
        )

    def remove(self, metric: Metric) -> None:
        """Remove a metric with its measures."""
        self.rows.remove(metric)
        measures = self._measures.get(metric.id)
        if measures is not None:
            self._measures.remove(measures)

    def of(self, resource: Resource) -> dict[str | None, Metric]:
        """The metrics of a resource by name."""
        return {metric.name: metric for metric in self.rows.select(resource_id=resource.id)}

    def named(self, resource: Resource, name: str | None) -> Metric | None:
        """The metric of a resource with this name."""
        return self.rows.first(resource_id=resource.id, name=name)

    def points(self, measures: Any) -> list[list[float]]:
        """The points of the measures in a request. Raises ApiError 400."""
        if not isinstance(measures, list):
            raise invalid("unexpected measures format")
        now = self.cloud.clock.now()
        return [_point(measure, now) for measure in measures]

    def add_measures(self, metric: Metric, points: Iterable[list[float]]) -> None:
        """Add points to a metric, and drop those that its policy no longer keeps."""
        measures = self._measures.get(metric.id) or self._measures.add(Measures(id=metric.id, points=[]))
        merged = sorted([*measures.points, *points])[-MOST_POINTS:]
        oldest = merged[-1][0] - retention(self._policies.of(metric)) if merged else 0.0
        measures.points = merged[bisect.bisect_left(merged, [oldest]) :]
        self._measures.save(measures)

    def series(
        self, metric: Metric, granularity: float, method: str, start: float | None = None, stop: float | None = None
    ) -> Series:
        """The aggregated values of a metric, of the periods that begin from `start` on and before `stop`.

        Raises ApiError 404 for a granularity or method that the metric's archive policy does not have.
        """
        policy = self._policies.of(metric)
        if method not in policy.aggregation_methods:
            where = {"metric": metric.id, "aggregation_method": method}
            raise refusal("Aggregation method does not exist for this metric", 404, detail=where)
        if granularity not in [item.granularity for item in policy.definition]:
            raise not_found(
                f"Aggregation method '{method}' at granularity '{granularity}' for metric {metric.id} does not exist"
            )
        found = self.aggregate(metric, granularity, method)
        return {
            then: value
            for then, value in found.items()
            if (start is None or then >= start) and (stop is None or then < stop)
        }

    def aggregate(self, metric: Metric, granularity: float, method: str) -> Series:
        """The aggregated values of a metric, whatever its archive policy."""
        measures = self._measures.get(metric.id)
        return aggregated(((then, value) for then, value in measures.points) if measures else (), granularity, method)

    def combined(
        self,
        metrics: Sequence[Metric],
        granularity: float,
        method: str,
        start: float | None = None,
        stop: float | None = None,
        overlap: float = 0.0,
        across: str | None = None,
    ) -> Series:
        """The aggregate of several metrics; `across` is the method between metrics, `method` by default."""
        series = [self.series(metric, granularity, method, start, stop) for metric in metrics]
        return combined(series, across or method, overlap)

    def granularities(self, metric: Metric) -> list[int]:
        """The granularities of a metric, the longest first."""
        return sorted((item.granularity for item in self._policies.of(metric).definition), reverse=True)


def _point(measure: object, now: float) -> list[float]:
    """The point of one measure. Raises ApiError 400."""
    if not isinstance(measure, dict):
        raise invalid("unexpected measures format")
    try:
        value = float(measure.get("value"))  # type: ignore[arg-type]  # None has no value
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise invalid("unexpected measures value")
    moment = moment_of(measure.get("timestamp"), now)
    if moment is None:
        raise invalid("unexpected timestamp 'Unable to convert timestamps'")
    return [moment, value]


def _missing(key: str) -> ApiError:
    return not_found(f"Metric {key} does not exist")
