"""Metrics and their measures."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.metric.bodies import check_fields, invalid, nullable, refusal, text
from openstack_emulator.metric.policies import Policies, longest, policy_view
from openstack_emulator.metric.series import Series, aggregated, combined, moment_of

MOST_POINTS = 20_000
"""Measures of a metric that are kept; the oldest are dropped."""
DEFAULT_POLICY = "low"


class Metrics(Component):
    """Metrics: `{id, name, unit, resource_id, policy, project_id, created_by_…}`, and their measures `{id, points}`."""

    def __init__(self, records: Records, policies: Policies) -> None:
        super().__init__(records)
        self.rows = records.collection("metrics", ("resource_id", "project_id"), missing=_missing)
        self._measures = records.collection("measures", internal=True)
        self.policies = policies

    def visible(self, context: Context, key: str) -> Record:
        """Return a metric that the caller may see. Raises ApiError 404 and 403."""
        metric = self.rows.require(key)
        if not context.is_admin and context.project not in owners(metric):
            raise ApiError(403, "Insufficient privileges")
        return metric

    def accept(self, wanted: Any, resource: Record | None = None) -> Record:
        """Return name, unit and policy of a metric that a request describes. Raises ApiError 400, or 409 if the
        resource has a metric of the name.
        """
        fields = {
            "name": nullable(text()),
            "unit": nullable(text(0, 31)),
            "archive_policy_name": nullable(text(1)),
            "resource_id": nullable(text(1)),
        }
        check_fields(wanted, fields)
        name, policy = wanted.get("name"), wanted.get("archive_policy_name") or DEFAULT_POLICY
        if policy not in self.policies.rows:
            raise bad_request(f"Archive policy {policy} does not exist")
        if name is not None and "/" in name:
            raise bad_request("'/' is not supported in metric name")
        if resource is not None and self.named(resource, name) is not None:
            raise conflict(f"Named metric {name} already exists")
        return {"name": name, "unit": wanted.get("unit"), "policy": policy}

    def create(self, wanted: Any, project: str | None, user: str | None, resource: Record | None = None) -> Record:
        """Create a metric. Raises ApiError, see `accept`."""
        return self.rows.add(
            {
                "id": new_id(),
                **self.accept(wanted, resource),
                "resource_id": None if resource is None else resource["id"],
                "project_id": project if resource is None else resource["project_id"],
                "created_by_project_id": project,
                "created_by_user_id": user,
            }
        )

    def remove(self, metric: Record) -> None:
        """Remove a metric with its measures."""
        self.rows.remove(metric)
        kept = self._measures.get(metric["id"])
        if kept is not None:
            self._measures.remove(kept)

    def of(self, resource: Record) -> dict[str, Record]:
        """Return the metrics of a resource by name."""
        return {metric["name"]: metric for metric in self.rows.select(resource_id=resource["id"])}

    def named(self, resource: Record, name: str | None) -> Record | None:
        """Return the metric of a resource with this name."""
        return self.rows.first(resource_id=resource["id"], name=name)

    def checked(self, given: Any) -> list[list[float]]:
        """Return measures as points. Raises ApiError 400."""
        if not isinstance(given, list):
            raise invalid("unexpected measures format")
        now, points = self.cloud.clock.now(), []
        for measure in given:
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
            points.append([moment, value])
        return points

    def add_measures(self, metric: Record, points: Iterable[list[float]]) -> None:
        """Add points to a metric, and drop those that its policy no longer keeps."""
        kept = self._measures.get(metric["id"]) or self._measures.add({"id": metric["id"], "points": []})
        merged = sorted([*kept["points"], *points])[-MOST_POINTS:]
        oldest = merged[-1][0] - longest(self.policies.rows.require(metric["policy"])) if merged else 0.0
        self._measures.update(kept, points=merged[bisect.bisect_left(merged, [oldest]) :])

    def series(
        self, metric: Record, granularity: float, method: str, start: float | None = None, stop: float | None = None
    ) -> Series:
        """Return the aggregated values of a metric, of the periods that begin from `start` on and before `stop`.

        Raises ApiError 404 for a granularity or method that the metric's archive policy does not have.
        """
        policy = self.policies.rows.require(metric["policy"])
        if method not in policy["aggregation_methods"]:
            where = {"metric": metric["id"], "aggregation_method": method}
            raise refusal("Aggregation method does not exist for this metric", 404, detail=where)
        if granularity not in [item["granularity"] for item in policy["definition"]]:
            raise not_found(
                f"Aggregation method '{method}' at granularity '{granularity}' for metric {metric['id']} does not exist"
            )
        found = self.aggregate(metric, granularity, method)
        return {
            then: value
            for then, value in found.items()
            if (start is None or then >= start) and (stop is None or then < stop)
        }

    def aggregate(self, metric: Record, granularity: float, method: str) -> Series:
        """Return the aggregated values of a metric, whatever its archive policy."""
        kept = self._measures.get(metric["id"])
        return aggregated(((then, value) for then, value in kept["points"]) if kept else (), granularity, method)

    def combined(
        self,
        metrics: Sequence[Record],
        granularity: float,
        method: str,
        start: float | None = None,
        stop: float | None = None,
        overlap: float = 0.0,
        across: str | None = None,
    ) -> Series:
        """Return the aggregate of several metrics; `across` is the method between metrics, `method` by default."""
        series = [self.series(metric, granularity, method, start, stop) for metric in metrics]
        return combined(series, across or method, overlap)

    def granularities(self, metric: Record) -> list[int]:
        """Return the granularities of a metric, the longest first."""
        policy = self.policies.rows.require(metric["policy"])
        return sorted((item["granularity"] for item in policy["definition"]), reverse=True)

    def summary(self, metric: Record) -> dict[str, Any]:
        """Return a metric as the answer to its creation shows it."""
        return {
            "id": metric["id"],
            "name": metric["name"],
            "unit": metric["unit"],
            "resource_id": metric["resource_id"],
            "archive_policy_name": metric["policy"],
            **creation(metric),
        }

    def view(self, metric: Record) -> dict[str, Any]:
        """Return a metric as lists show it."""
        shown = self.summary(metric)
        del shown["archive_policy_name"]
        return {**shown, "archive_policy": policy_view(self.policies.rows.require(metric["policy"]))}


def creation(record: Record) -> dict[str, Any]:
    """Return the fields that say who has created a metric or resource."""
    user = record.get("created_by_user_id", record.get("user_id"))
    project = record.get("created_by_project_id", record.get("project_id"))
    return {"creator": f"{user}:{project}", "created_by_user_id": user, "created_by_project_id": project}


def owners(record: Record) -> tuple[str | None, str | None]:
    """Return the projects that may see a metric or resource: its own, and that of its creator."""
    return record.get("project_id"), creation(record)["created_by_project_id"]


def _missing(key: str) -> ApiError:
    return not_found(f"Metric {key} does not exist")
