"""Alarms, their history and the quotas of projects."""

from __future__ import annotations

import json
from typing import Any

from openstack_emulator.alarming.records import Alarm, HistoryEntry, Limit
from openstack_emulator.alarming.rules.inputs import ACTIONS, NewAlarm
from openstack_emulator.alarming.rules.notifications import Notifier, without_trust
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules

FIRST_STATE = "insufficient data"
MANUAL = "Manually set via API"
"""The reason of a state that a request sets."""
MOST_HISTORY = 1000
"""Entries of an alarm's history that are kept."""
UNLIMITED = -1
_NOTED = ("type", "enabled", "name", "description", "timestamp", "user_id", "project_id", "state", "state_timestamp",
          "state_reason", "ok_actions", "alarm_actions", "insufficient_data_actions", "repeat_actions",
          "time_constraints", "severity", "rule")  # fmt: skip
"""The fields of an alarm that its history has."""


class Alarms(Rules):
    """The alarms of all projects. All actions are called from here."""

    def __init__(self, records: Records, notifier: Notifier) -> None:
        super().__init__(records)
        self.rows = records.table("alarms", Alarm, "project_id", "type", missing=_missing)
        self.history = records.table("history", HistoryEntry, "alarm_id", internal=True)
        self._limits = records.table("quotas", Limit, internal=True)
        self._notifier = notifier

    def visible(self, context: Context, key: str) -> Alarm:
        """An alarm that the caller may see. Raises ApiError 404."""
        alarm = self.rows.require(key)
        if not context.may_see(alarm):
            raise _missing(key)
        return alarm

    def listed(self, context: Context, project: str | None = None) -> list[Alarm]:
        """The alarms of a project, which is the caller's own by default. Raises ApiError 401 for another one."""
        return self.rows.select(project_id=_allowed(context, project))

    def listed_everywhere(self, context: Context) -> list[Alarm]:
        """The alarms of all projects. Raises ApiError 403 unless the caller is an administrator."""
        context.require("admin")
        return list(self.rows)

    def create(self, request: Request, new_alarm: NewAlarm, project: str | None) -> Alarm:
        """Create an alarm for a project, which is the caller's own by default. Raises ApiError.

        request: what the caller acts with, for trusts.
        """
        context = request.context
        owner = _allowed(context, project)
        rule = _restricted(new_alarm, context, owner)
        self._check_quota(owner, context.user_id)
        moment, evaluation, key = self.moment(), self.evaluation_moment(), new_id()
        ok, raised, unknown = (self._notifier.with_trusts(urls, request) for urls in new_alarm.actions.values())
        alarm = self.rows.add(
            Alarm(
                id=key,
                project_id=owner,
                user_id=context.user_id,
                state=new_alarm.state or FIRST_STATE,
                state_timestamp=moment,
                state_reason="Not evaluated yet",
                timestamp=moment,
                evaluate_timestamp=evaluation,
                name=new_alarm.name,
                type=new_alarm.type,
                description=new_alarm.description,
                enabled=new_alarm.enabled,
                repeat_actions=new_alarm.repeat_actions,
                severity=new_alarm.severity,
                time_constraints=new_alarm.time_constraints,
                rule=rule,
                ok_actions=ok,
                alarm_actions=raised,
                insufficient_data_actions=unknown,
            )
        )
        self.note(alarm, "creation", context, _detail(alarm))
        return alarm

    def change(self, request: Request, alarm: Alarm, new_alarm: NewAlarm) -> None:
        """Replace everything of an alarm that a request can set. Raises ApiError."""
        if new_alarm.type != alarm.type:
            raise conflict(f"The type of alarm {alarm.id} is {alarm.type} and cannot be changed.")
        rule = _restricted(new_alarm, request.context, alarm.project_id)
        before, shown = alarm.all_actions, _detail(alarm)
        actions = {
            name: self._notifier.with_trusts(urls, request, actions_now)
            for (name, urls), actions_now in zip(new_alarm.actions.items(), alarm.actions.values(), strict=True)
        }
        alarm.name, alarm.description, alarm.severity = new_alarm.name, new_alarm.description, new_alarm.severity
        alarm.enabled, alarm.repeat_actions = new_alarm.enabled, new_alarm.repeat_actions
        alarm.time_constraints, alarm.rule, alarm.timestamp = new_alarm.time_constraints, rule, self.moment()
        self.rows.update(alarm, **actions)
        actions_now = alarm.all_actions
        self._notifier.end_trusts([url for url in before if url not in actions_now])
        changed = {
            key: value for key, value in _detail(alarm).items() if shown.get(key) != value and key != "timestamp"
        }
        if changed:
            self.note(alarm, "rule change", request.context, changed)
        if new_alarm.state not in (None, alarm.state):
            self.set_state(alarm, new_alarm.state, MANUAL, {}, request.context)

    def remove(self, alarm: Alarm, context: Context) -> None:
        """Remove an alarm and the trusts of its actions."""
        self.rows.remove(alarm)
        self._notifier.end_trusts(alarm.all_actions)
        self.note(alarm, "deletion", context, _detail(alarm))

    def set_state(
        self, alarm: Alarm, state: str, reason: str, data: dict[str, Any], context: Context | None = None
    ) -> None:
        """Set the state, and call the state's actions: at a change, or always if the alarm repeats its actions."""
        previous, moment = alarm.state, self.moment()
        if state != previous:
            alarm.state, alarm.state_timestamp, alarm.state_reason, alarm.timestamp = state, moment, reason, moment
            self.rows.save(alarm)
            self.note(alarm, "state transition", context, {"state": state, "transition_reason": reason})
        elif alarm.state_reason != reason:
            alarm.state_reason = reason
            self.rows.save(alarm)
        if state != previous or alarm.repeat_actions:
            notification = {
                "alarm_id": alarm.id,
                "alarm_name": alarm.name,
                "severity": alarm.severity,
                "previous": previous,
                "current": state,
                "reason": reason,
                "reason_data": data,
            }
            self._notifier.call_actions(alarm.actions[state], alarm, notification)

    def evaluation_moment(self) -> str:
        """The time of day as Aodh keeps the time of an evaluation: without a fraction of the second."""
        return self.records.timestamp("%Y-%m-%dT%H:%M:%S")

    def note(self, alarm: Alarm, kind: str, context: Context | None, detail: dict[str, object]) -> None:
        """Add an entry to the history of an alarm; one of an evaluation, without a caller, has the severity, too."""
        self.history.add(
            HistoryEntry(
                id=new_id(),
                alarm_id=alarm.id,
                type=kind,
                detail=json.dumps(detail),
                user_id=None if context is None else context.user_id,
                project_id=alarm.project_id if context is None else context.project_id,
                on_behalf_of=alarm.project_id,
                timestamp=self.moment(),
                severity=alarm.severity if context is None else None,
            )
        )
        entries = self.history.select(alarm_id=alarm.id)
        for old in entries[: len(entries) - MOST_HISTORY]:
            self.history.remove(old)

    def limit_of(self, project: str) -> int:
        """How many alarms a project may have; -1 for no limit."""
        known = self._limits.get(project)
        return UNLIMITED if known is None else known.alarms

    def set_limit(self, project: str, alarms: int) -> None:
        """Set how many alarms a project may have; -1 for no limit."""
        known = self._limits.get(project)
        if known is None:
            self._limits.add(Limit(id=project, alarms=alarms))
        else:
            self._limits.update(known, alarms=alarms)

    def reset_limit(self, project: str) -> None:
        """Let a project have any number of alarms."""
        known = self._limits.get(project)
        if known is not None:
            self._limits.remove(known)

    def _check_quota(self, project: str, user: str) -> None:
        limit = self.limit_of(project)
        if limit != UNLIMITED and len(self.rows.select(project_id=project)) >= limit:
            raise ApiError(403, f"Alarm quota exceeded for user {user} on project {project}")


def _allowed(context: Context, project: str | None) -> str:
    """The project that a request names; another one than the caller's for administrators only. Raises ApiError 401."""
    project_id = project or context.project
    if project_id != context.project and not context.is_admin:
        raise ApiError(401, f"Not Authorized to access project {project_id}")
    return str(project_id)


def _missing(key: str) -> ApiError:
    """The 404 for an alarm."""
    return not_found(f"Alarm {key} not found")


def _detail(alarm: Alarm) -> dict[str, object]:
    """An alarm as its history has it: its rule is called `rule` whatever its type."""
    return {"alarm_id": alarm.id, **{name: alarm.get(name) for name in _NOTED}, **shown_actions(alarm)}


def shown_actions(alarm: Alarm) -> dict[str, list[str]]:
    """The actions by their fields, without the IDs of their trusts, which other members could use."""
    return {
        name: [without_trust(url) for url in urls] for name, urls in zip(ACTIONS, alarm.actions.values(), strict=True)
    }


def _restricted(new_alarm: NewAlarm, context: Context, project: str) -> dict[str, object]:
    """The rule of an alarm; its query is restricted to the resources of the project, again with each change, as Aodh
    does."""
    if new_alarm.type != "gnocchi_aggregation_by_resources_threshold" or context.is_admin:
        return new_alarm.rule
    own = {"or": [{"=": {"created_by_project_id": project}}, {"=": {"project_id": project}}]}
    return {**new_alarm.rule, "query": json.dumps({"and": [own, json.loads(new_alarm.rule["query"])]})}
