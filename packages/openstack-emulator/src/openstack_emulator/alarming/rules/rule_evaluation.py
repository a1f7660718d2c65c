"""The evaluation of the rules of alarms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.alarming.records import Alarm
from openstack_emulator.alarming.rules.kinds import Comparison, Condition, MeterRule, MetricRule, PoolRule, kind_of
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.search import compare
from openstack_emulator.core.typed import Readable
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.series import Series, combined

UNKNOWN = "insufficient data"
_STATISTICS = {"avg": "mean"}
_METADATA = ("metadata.user_metadata.", "metadata.metering.")


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation found. `state` None: the values show no trend, and the state stays."""

    state: str | None
    reason: str
    data: Mapping[str, Any] = field(default_factory=dict)
    latest: bool = False
    """Whether the latest value is on the alarm's side of the threshold."""


class RuleEvaluator(Rules):
    """Evaluates alarms of all types except for events."""

    def evaluate(self, alarm: Alarm) -> Evaluation:
        """What an alarm's rule says now."""
        return self._evaluate(alarm.project_id, alarm.type, alarm.rule)

    def _evaluate(self, project: str, kind: str, rule: dict[str, Any]) -> Evaluation:
        if kind == "composite":
            return self._composite(project, rule)
        if kind == "loadbalancer_member_health":
            return self._members(project, PoolRule(**rule))
        if kind == "prometheus":
            return Evaluation(UNKNOWN, "This cloud has no Prometheus service.")
        compared = MeterRule(**rule) if kind == "threshold" else MetricRule(**rule)
        try:
            values = self._values(project, kind, compared)
        except ApiError as error:
            return Evaluation(UNKNOWN, f"The metrics cannot be read: {error}")
        return _threshold(compared, values)

    def _composite(self, project: str, rule: dict[str, Any]) -> Evaluation:
        if "type" in rule:
            return self._evaluate(project, *kind_of(rule))
        ((operator, rules),) = rule.items()
        evaluations = [self._composite(project, part) for part in rules]
        states = [each.state or ("alarm" if each.latest else "ok") for each in evaluations]
        deciding, other = ("alarm", "ok") if operator == "or" else ("ok", "alarm")
        state = deciding if deciding in states else UNKNOWN if UNKNOWN in states else other
        data = {"type": "composite", "composition_form": operator}
        reasons = "; ".join(each.reason for each in evaluations)
        return Evaluation(state, f"Composite rule ({operator}) is {state}: {reasons}", data)

    def _members(self, project: str, rule: PoolRule) -> Evaluation:
        """Evaluate the operating status of the pool's members."""
        if not self.cloud.has(LoadBalancing):
            return Evaluation(UNKNOWN, "This cloud has no load balancers.")
        octavia = self.cloud.of(LoadBalancing)
        found = octavia.tables.members.select(pool_id=rule.pool_id, project_id=project)
        if not found:
            return Evaluation(UNKNOWN, f"Pool {rule.pool_id} has no members.")
        unhealthy = [member.id for member in found if octavia.operating.of(member) == "ERROR"]
        reason = f"{len(unhealthy)} of {len(found)} members of pool {rule.pool_id} are unhealthy."
        data = {
            "pool_id": rule.pool_id,
            "unhealthy_members": unhealthy,
            "stack_id": rule.stack_id,
            "asg_id": rule.autoscaling_group_id,
        }
        return Evaluation("alarm" if unhealthy else "ok", reason, data)

    def _values(self, project: str, kind: str, rule: MeterRule | MetricRule) -> list[float]:
        """The values of the last periods. Raises ApiError for metrics that cannot be read, or are not there."""
        if not self.cloud.has(TimeSeriesDatabase):
            raise ApiError(503, "this cloud has no metric service")
        database = self.cloud.of(TimeSeriesDatabase)
        if isinstance(rule, MeterRule):
            step, series = float(rule.period), self._of_meter(database, project, rule)
        else:
            step, series = float(rule.granularity), _of_metrics(database, project, kind, rule)
        periods, now = rule.periods, self.cloud.clock.now()
        earliest = now - step * (periods + 1)
        return [series[moment] for moment in sorted(series) if earliest <= moment <= now][-periods:]

    def _of_meter(self, database: TimeSeriesDatabase, project: str, rule: MeterRule) -> Series:
        """The values of a meter, of the resources that have what the rule's query says."""
        database.servers.follow()
        servers = self.cloud.table_of("nova", "servers")
        step, method, conditions = float(rule.period), _STATISTICS.get(rule.statistic, rule.statistic), rule.conditions
        found = []
        for metric in database.metrics.rows:
            if project not in metric.owners:
                continue
            resource = database.resources.rows.get(metric.resource_id or "")
            server = servers.get(metric.resource_id or "") if servers is not None else None
            if metric.name == rule.meter_name and all(
                _satisfies(condition, resource or {}, server or {}) for condition in conditions
            ):
                found.append(database.metrics.aggregate(metric, step, method))
        return combined(found, method)


def _of_metrics(database: TimeSeriesDatabase, project: str, kind: str, rule: MetricRule) -> Series:
    """The values of metrics. Raises ApiError for metrics that are not there, or have no such values."""
    step, method = float(rule.granularity), rule.aggregation_method
    if kind == "gnocchi_aggregation_by_metrics_threshold":
        metrics = [database.metrics.rows.require(key) for key in rule.metrics]
    else:
        expression = {"=": {"id": rule.resource_id}} if rule.query is None else json.loads(rule.query)
        chosen = database.resources.select(rule.resource_type, expression, project)
        named = [database.metrics.named(resource, rule.metric) for resource in chosen]
        metrics = [metric for metric in named if metric is not None]
    metrics = [metric for metric in metrics if project in metric.owners]
    if not metrics:
        raise ApiError(404, "no such metric")
    if kind == "gnocchi_resources_threshold":
        return database.metrics.series(metrics[0], step, method)
    return database.metrics.combined(metrics, step, method)


def _threshold(rule: Comparison, values: Sequence[float]) -> Evaluation:
    """Evaluate values: all on one side of the threshold decide the state."""
    periods, operator = rule.periods, rule.comparison_operator
    data = {"type": "threshold", "count": len(values), "most_recent": values[-1] if values else None}
    if len(values) < periods:
        reason = f"{periods} datapoints are needed; there are {len(values)}."
        return Evaluation(UNKNOWN, reason, {**data, "disposition": "unknown"})
    beyond = [compare(operator, value, float(rule.threshold)) for value in values]
    side = "outside" if beyond[-1] else "inside"
    reason = f"{sum(beyond)} of {periods} samples are {operator} {rule.threshold}, the most recent is {values[-1]:g}."
    state = "alarm" if all(beyond) else None if any(beyond) else "ok"
    return Evaluation(state, reason, {**data, "disposition": side}, beyond[-1])


def _satisfies(condition: Condition, resource: Readable, server: Readable) -> bool:
    """Whether a resource has what a condition of a meter's query says."""
    name, metadata = condition.field, server.get("metadata") or {}
    for prefix in _METADATA:
        if name.startswith(prefix):
            key = name.removeprefix(prefix)
            have = metadata.get(f"metering.{key}", metadata.get(key))
            break
    else:
        bare = name.removeprefix("metadata.")
        have = resource.get({"resource_id": "id", "resource": "id", "project": "project_id"}.get(bare, bare))
    return have is not None and compare(condition.operator, have, condition.typed_value)
