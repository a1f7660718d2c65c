"""The evaluation of alarms, on the cloud's clock, as long as there are alarms to evaluate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter

from openstack_emulator.alarming.records import Alarm, Marker
from openstack_emulator.alarming.rules.alarms import Alarms
from openstack_emulator.alarming.rules.kinds import Condition, EventRule, Period
from openstack_emulator.alarming.rules.rule_evaluation import UNKNOWN, RuleEvaluator
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.search import compare
from stoker_foundation.patterns.linear import fits_shell

INTERVAL = 60.0
"""Seconds between evaluations."""


class Evaluator(Rules):
    """Evaluates the enabled alarms of all types except for events, which `event` evaluates when they arrive."""

    def __init__(self, records: Records, alarms: Alarms, rules: RuleEvaluator) -> None:
        super().__init__(records)
        self._alarms = alarms
        self._rules = rules
        self._own = records.table("own", Marker, internal=True)
        records.deferrable(self.evaluate, self.evaluate_all, self.event)

    def watch(self) -> None:
        """Schedule the next evaluation, unless it is scheduled or nothing is to be evaluated."""
        polled = any(alarm.enabled and alarm.type != "event" for alarm in self._alarms.rows)
        if polled and "scheduled" not in self._own:
            self._own.add(Marker(id="scheduled"))
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
            if alarm.enabled and alarm.type != "event" and self._in_time(alarm):
                self._evaluate(alarm)

    def _evaluate(self, alarm: Alarm) -> None:
        evaluation = self._rules.evaluate(alarm)
        state = evaluation.state
        if state is None:
            trend = "alarm" if evaluation.latest else "ok"
            state = trend if alarm.state == UNKNOWN else alarm.state
        alarm.evaluate_timestamp = self._alarms.evaluation_moment()
        self._alarms.rows.save(alarm)
        self._alarms.set_state(alarm, state, evaluation.reason, dict(evaluation.data))

    def _in_time(self, alarm: Alarm) -> bool:
        """Whether the moment is in one of the alarm's periods, or it has none."""
        now = self.records.now()
        return not alarm.time_constraints or any(_holds(Period(**period), now) for period in alarm.time_constraints)

    def event(self, project: str, event_type: str, traits: Mapping[str, object]) -> None:
        """Raise the alarms of a project that an event is for."""
        for alarm in self._alarms.rows.select(project_id=project, type="event"):
            rule = EventRule(**alarm.rule)
            if not (alarm.enabled and self._in_time(alarm) and fits_shell(rule.event_type, event_type)):
                continue
            if all(_matches(condition, event_type, traits) for condition in rule.conditions):
                if alarm.state == "alarm" and not alarm.repeat_actions:
                    continue
                event = {"event_type": event_type, "traits": dict(traits)}
                reason = f"Event {event_type} hits the query {json.dumps(rule.query)}."
                self._alarms.set_state(alarm, "alarm", reason, {"type": "event", "event": event})


def _holds(period: Period, now: datetime) -> bool:
    local = now.astimezone(ZoneInfo(period.timezone or "UTC"))
    started: datetime = croniter(period.start, local + timedelta(seconds=1)).get_prev(datetime)
    return now - started.astimezone(UTC) < timedelta(seconds=int(period.duration))


def _matches(condition: Condition, event_type: str, traits: Mapping[str, object]) -> bool:
    name = condition.field.removeprefix("traits.")
    have = event_type if name == "event_type" else traits.get(name)
    return have is not None and compare(condition.operator, have, condition.typed_value)
