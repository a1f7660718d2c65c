"""The evaluation of alarms, on the cloud's clock, as long as there are alarms to evaluate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from croniter import croniter

from openstack_emulator.alarming.alarms import Alarms
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.search import compare
from openstack_emulator.core.store import Record
from openstack_emulator.core.typed import Readable
from openstack_emulator.loadbalancer.kinds import MEMBER
from openstack_emulator.loadbalancer.records import LoadBalancerRecords
from openstack_emulator.loadbalancer.views import operating_status
from openstack_emulator.metric.records import Metric
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.series import Series, combined
from stoker_foundation.patterns.linear import fits_shell

INTERVAL = 60.0
"""Seconds between evaluations."""
UNKNOWN = "insufficient data"
_STATISTICS = {"avg": "mean"}
_METADATA = ("metadata.user_metadata.", "metadata.metering.")


@dataclass(frozen=True)
class Verdict:
    """What an evaluation found. `state` None: the values show no trend, and the state stays."""

    state: str | None
    reason: str
    data: Mapping[str, Any] = field(default_factory=dict)
    latest: bool = False
    """Whether the latest value is on the alarm's side of the threshold."""


class Evaluator(Component):
    """Evaluates the enabled alarms of all types except for events, which `event` evaluates when they arrive."""

    def __init__(self, records: Records, alarms: Alarms) -> None:
        super().__init__(records)
        self._alarms = alarms
        self._own = records.collection("own", internal=True)
        records.deferrable(self.evaluate, self.evaluate_all, self.event)

    def watch(self) -> None:
        """Schedule the next evaluation, unless it is scheduled or nothing is to be evaluated."""
        polled = any(alarm["enabled"] and alarm["type"] != "event" for alarm in self._alarms.rows)
        if polled and "scheduled" not in self._own:
            self._own.add({"id": "scheduled"})
            # The interval is a duration of the service's configuration, which the cloud's pace does not change.
            self.cloud.transitions.add(INTERVAL, "aodh", self.evaluate_all.__name__, [])

    def evaluate_all(self) -> None:
        """Evaluate every alarm, and schedule the next evaluation."""
        scheduled = self._own.get("scheduled")
        if scheduled is not None:
            self._own.remove(scheduled)
        self.evaluate()
        self.watch()

    def evaluate(self) -> None:
        """Evaluate every alarm."""
        for alarm in self._alarms.rows:
            if alarm["enabled"] and alarm["type"] != "event" and self._in_time(alarm):
                self._evaluate(alarm)

    def _evaluate(self, alarm: Record) -> None:
        verdict = self._judged(alarm, alarm["type"], alarm["rule"])
        state = verdict.state
        if state is None:
            trend = "alarm" if verdict.latest else "ok"
            state = trend if alarm["state"] == UNKNOWN else alarm["state"]
        self._alarms.rows.update(alarm, evaluate_timestamp=self._alarms.evaluation_moment())
        self._alarms.set_state(alarm, state, verdict.reason, dict(verdict.data))

    def _in_time(self, alarm: Record) -> bool:
        """Return whether the moment is in one of the alarm's periods, or it has none."""
        now = self.records.now()
        return not alarm["time_constraints"] or any(_holds(period, now) for period in alarm["time_constraints"])

    def event(self, project: str, event_type: str, traits: Mapping[str, Any]) -> None:
        """Raise the alarms of a project that an event is for."""
        for alarm in self._alarms.rows.select(project_id=project, type="event"):
            rule = alarm["rule"]
            if not (alarm["enabled"] and self._in_time(alarm) and fits_shell(rule["event_type"], event_type)):
                continue
            if all(_matches(condition, event_type, traits) for condition in rule["query"]):
                if alarm["state"] == "alarm" and not alarm["repeat_actions"]:
                    continue
                event = {"event_type": event_type, "traits": dict(traits)}
                reason = f"Event {event_type} hits the query {json.dumps(rule['query'])}."
                self._alarms.set_state(alarm, "alarm", reason, {"type": "event", "event": event})

    # -- verdicts ------------------------------------------------------------------------------------------------

    def _judged(self, alarm: Record, kind: str, rule: Mapping[str, Any]) -> Verdict:
        if kind == "composite":
            return self._composite(alarm, rule)
        if kind == "loadbalancer_member_health":
            return self._members(alarm["project_id"], rule)
        if kind == "prometheus":
            return Verdict(UNKNOWN, "This cloud has no Prometheus service.")
        try:
            values = self._values(alarm["project_id"], kind, rule)
        except (ApiError, KeyError) as error:
            return Verdict(UNKNOWN, f"The metrics cannot be read: {error}")
        return _threshold(rule, values)

    def _composite(self, alarm: Record, rule: Mapping[str, Any]) -> Verdict:
        if "type" in rule:
            return self._judged(alarm, rule["type"], rule)
        ((operator, rules),) = rule.items()
        verdicts = [self._judged(alarm, "composite", part) for part in rules]
        states = [verdict.state or ("alarm" if verdict.latest else "ok") for verdict in verdicts]
        deciding, other = ("alarm", "ok") if operator == "or" else ("ok", "alarm")
        state = deciding if deciding in states else UNKNOWN if UNKNOWN in states else other
        data = {"type": "composite", "composition_form": operator}
        reasons = "; ".join(verdict.reason for verdict in verdicts)
        return Verdict(state, f"Composite rule ({operator}) is {state}: {reasons}", data)

    def _members(self, project: str, rule: Mapping[str, Any]) -> Verdict:
        """Judge by the operating status of the pool's members."""
        if not self.cloud.has(LoadBalancerRecords):
            return Verdict(UNKNOWN, "This cloud has no load balancers.")
        octavia = self.cloud.of(LoadBalancerRecords)
        found = octavia.rows[MEMBER].select(pool_id=rule["pool_id"], project_id=project)
        if not found:
            return Verdict(UNKNOWN, f"Pool {rule['pool_id']} has no members.")
        unhealthy = [member["id"] for member in found if operating_status(octavia, MEMBER, member) == "ERROR"]
        data = {"pool_id": rule["pool_id"], "unhealthy_members": unhealthy, "stack_id": rule["stack_id"]}
        reason = f"{len(unhealthy)} of {len(found)} members of pool {rule['pool_id']} are unhealthy."
        return Verdict("alarm" if unhealthy else "ok", reason, {**data, "asg_id": rule["autoscaling_group_id"]})

    def _values(self, project: str, kind: str, rule: Mapping[str, Any]) -> list[float]:
        """Return the values of the last periods. Raises ApiError for metrics that cannot be read, or are not there."""
        if not self.cloud.has(TimeSeriesDatabase):
            raise ApiError(503, "this cloud has no metric service")
        series, step = self._series(project, kind, rule)
        periods, now = int(rule["evaluation_periods"]), self.cloud.clock.now()
        earliest = now - step * (periods + 1)
        return [series[moment] for moment in sorted(series) if earliest <= moment <= now][-periods:]

    def _series(self, project: str, kind: str, rule: Mapping[str, Any]) -> tuple[Series, float]:
        gnocchi = self.cloud.of(TimeSeriesDatabase)
        if kind == "threshold":
            step, method = float(rule["period"]), _STATISTICS.get(rule["statistic"], rule["statistic"])
            found = self._meter(gnocchi, project, rule)
            return combined([gnocchi.metrics.aggregate(metric, step, method) for metric in found], method), step
        step, method = float(rule["granularity"]), rule["aggregation_method"]
        if kind == "gnocchi_aggregation_by_metrics_threshold":
            metrics = [gnocchi.metrics.rows.require(key) for key in rule["metrics"]]
        else:
            expression = json.loads(rule["query"]) if "query" in rule else {"=": {"id": rule["resource_id"]}}
            chosen = gnocchi.resources.select(rule["resource_type"], expression, project)
            named = [gnocchi.metrics.named(resource, rule["metric"]) for resource in chosen]
            metrics = [metric for metric in named if metric is not None]
        metrics = [metric for metric in metrics if project in metric.owners]
        if not metrics:
            raise ApiError(404, "no such metric")
        if kind == "gnocchi_resources_threshold":
            return gnocchi.metrics.series(metrics[0], step, method), step
        return gnocchi.metrics.combined(metrics, step, method), step

    def _meter(self, gnocchi: TimeSeriesDatabase, project: str, rule: Mapping[str, Any]) -> list[Metric]:
        """Return the metrics of a meter whose resources have the metadata of the rule's query."""
        gnocchi.servers.follow()
        servers = self.cloud.collection_of("nova", "servers")
        found = []
        for metric in gnocchi.metrics.rows:
            if project not in metric.owners:
                continue
            resource = gnocchi.resources.rows.get(metric.resource_id or "")
            server = servers.get(metric.resource_id or "") if servers is not None else None
            if metric.name == rule["meter_name"] and all(
                _described(condition, resource or {}, server or {}) for condition in rule["query"]
            ):
                found.append(metric)
        return found


def _threshold(rule: Mapping[str, Any], values: Sequence[float]) -> Verdict:
    """Judge values: all on one side of the threshold decide the state."""
    periods = int(rule["evaluation_periods"])
    data = {"type": "threshold", "count": len(values), "most_recent": values[-1] if values else None}
    if len(values) < periods:
        reason = f"{periods} datapoints are needed; there are {len(values)}."
        return Verdict(UNKNOWN, reason, {**data, "disposition": "unknown"})
    beyond = [compare(rule["comparison_operator"], value, float(rule["threshold"])) for value in values]
    side = "outside" if beyond[-1] else "inside"
    reason = (
        f"{sum(beyond)} of {periods} samples are {rule['comparison_operator']} {rule['threshold']}, the most recent "
    )
    reason += f"is {values[-1]:g}."
    state = "alarm" if all(beyond) else None if any(beyond) else "ok"
    return Verdict(state, reason, {**data, "disposition": side}, beyond[-1])


def _holds(period: Mapping[str, Any], now: datetime) -> bool:
    local = now.astimezone(ZoneInfo(period.get("timezone") or "UTC"))
    started: datetime = croniter(period["start"], local + timedelta(seconds=1)).get_prev(datetime)
    return now - started.astimezone(UTC) < timedelta(seconds=int(period["duration"]))


def _matches(condition: Mapping[str, Any], event_type: str, traits: Mapping[str, Any]) -> bool:
    name = str(condition["field"]).removeprefix("traits.")
    have = event_type if name == "event_type" else traits.get(name)
    return have is not None and compare(condition.get("op") or "eq", have, _typed(condition))


def _typed(condition: Mapping[str, Any]) -> Any:
    """Return the value of a condition in its type; as it is, when it is no value of the type."""
    value = condition["value"]
    try:
        if condition.get("type") == "boolean":
            return str(value).lower() in ("true", "1", "yes")
        return {"integer": int, "float": float}.get(condition.get("type") or "", lambda given: given)(value)
    except (TypeError, ValueError):
        return value


def _described(condition: Mapping[str, Any], resource: Readable, server: Mapping[str, Any]) -> bool:
    """Return whether a resource has what a condition of a meter's query says."""
    name, metadata = str(condition["field"]), server.get("metadata", {})
    for prefix in _METADATA:
        if name.startswith(prefix):
            key = name.removeprefix(prefix)
            have = metadata.get(f"metering.{key}", metadata.get(key))
            break
    else:
        bare = name.removeprefix("metadata.")
        have = resource.get({"resource_id": "id", "resource": "id", "project": "project_id"}.get(bare, bare))
    return have is not None and compare(condition.get("op") or "eq", have, _typed(condition))
