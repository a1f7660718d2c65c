"""The records of alarms, their history and the quotas of projects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from openstack_emulator.alarming.notifying import Notifier, without_trust
from openstack_emulator.alarming.rules import ACTIONS, RESTRICTED_SCHEMES, alarm_of, scheme_of
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.store import Record

FIRST_STATE = "insufficient data"
MOST_HISTORY = 1000
"""Entries of an alarm's history that are kept."""
UNLIMITED = -1
_NOTED = ("type", "enabled", "name", "description", "timestamp", "user_id", "project_id", "state", "state_timestamp",
          "state_reason", "ok_actions", "alarm_actions", "insufficient_data_actions", "repeat_actions",
          "time_constraints", "severity", "rule")  # fmt: skip
"""The fields of an alarm that its history has."""


class Alarms(Component):
    """Alarms: `{id, project_id, user_id, name, type, rule, state, …}`. All actions are called from here."""

    def __init__(self, records: Records, notifier: Notifier) -> None:
        super().__init__(records)
        self.rows = records.collection("alarms", ("project_id", "type"), missing=missing)
        self.history = records.collection("history", ("alarm_id",), internal=True)
        self.limits = records.collection("quotas", internal=True)
        self._notifier = notifier

    def visible(self, context: Context, key: str) -> Record:
        """Return an alarm that the caller may see. Raises ApiError 404."""
        alarm = self.rows.require(key)
        if not context.may_see(alarm):
            raise missing(key)
        return alarm

    def listed(self, context: Context, project: str | None = None) -> list[Record]:
        """Return the alarms of a project, which is the caller's own by default. Raises ApiError 401 for another one."""
        return self.rows.select(project_id=self._allowed(context, project))

    def listed_everywhere(self, context: Context) -> list[Record]:
        """Return the alarms of all projects. Raises ApiError 403 unless the caller is an administrator."""
        context.require("admin")
        return list(self.rows)

    def create(self, request: Request) -> Record:
        """Create the alarm that a request describes. Raises ApiError."""
        context, wanted = request.context, _wanted(request)
        project = self._owner(context, request.json)
        _restrict(wanted, context, project)
        self._check_quota(project, context.user_id)
        moment = self.moment()
        alarm = {
            "id": new_id(),
            "project_id": project,
            "user_id": context.user_id,
            "state": FIRST_STATE,
            "state_timestamp": moment,
            "state_reason": "Not evaluated yet",
            "timestamp": moment,
            "evaluate_timestamp": self.evaluation_moment(),
            **wanted,
        }
        for name in ACTIONS.values():
            alarm[name] = self._notifier.with_trusts(alarm[name], request)
        self.rows.add(alarm)
        self.note(alarm, "creation", context, _detail(alarm))
        return alarm

    def change(self, alarm: Record, request: Request) -> None:
        """Replace everything of an alarm that a request can set. Raises ApiError."""
        wanted, before = _wanted(request), actions_of(alarm)
        if wanted["type"] != alarm["type"]:
            raise conflict(f"The type of alarm {alarm['id']} is {alarm['type']} and cannot be changed.")
        _restrict(wanted, request.context, alarm["project_id"])
        for name in ACTIONS.values():
            wanted[name] = self._notifier.with_trusts(wanted[name], request, alarm[name])
        state = wanted.pop("state", alarm["state"])
        shown = _detail(alarm)
        self.rows.update(alarm, **wanted, timestamp=self.moment())
        kept = actions_of(alarm)
        self._notifier.end_trusts([url for url in before if url not in kept])
        changed = {
            key: value for key, value in _detail(alarm).items() if shown.get(key) != value and key != "timestamp"
        }
        if changed:
            self.note(alarm, "rule change", request.context, changed)
        if state != alarm["state"]:
            self.set_state(alarm, state, "Manually set via API", {}, request.context)

    def remove(self, alarm: Record, context: Context) -> None:
        """Remove an alarm and the trusts of its actions."""
        self.rows.remove(alarm)
        self._notifier.end_trusts(actions_of(alarm))
        self.note(alarm, "deletion", context, _detail(alarm))

    def set_state(self, alarm: Record, state: str, reason: str, data: Record, context: Context | None = None) -> None:
        """Set the state, and call the state's actions: at a change, or always if the alarm repeats its actions."""
        previous, moment = alarm["state"], self.moment()
        if state != previous:
            self.rows.update(alarm, state=state, state_timestamp=moment, state_reason=reason, timestamp=moment)
            self.note(alarm, "state transition", context, {"state": state, "transition_reason": reason})
        elif alarm["state_reason"] != reason:
            self.rows.update(alarm, state_reason=reason)
        if state != previous or alarm["repeat_actions"]:
            notification = {
                "alarm_id": alarm["id"],
                "alarm_name": alarm["name"],
                "severity": alarm["severity"],
                "previous": previous,
                "current": state,
                "reason": reason,
                "reason_data": data,
            }
            self._notifier.call_actions(alarm[ACTIONS[state]], alarm, notification)

    def evaluation_moment(self) -> str:
        """Return the time of day as Aodh keeps the time of an evaluation: without a fraction of the second."""
        return self.records.timestamp("%Y-%m-%dT%H:%M:%S")

    def note(self, alarm: Record, kind: str, context: Context | None, detail: Record) -> None:
        """Add an entry to the history of an alarm; one of an evaluation, without a caller, has the severity, too."""
        entry = {
            "id": new_id(),
            "alarm_id": alarm["id"],
            "type": kind,
            "detail": json.dumps(detail),
            "user_id": None if context is None else context.user_id,
            "project_id": alarm["project_id"] if context is None else context.project_id,
            "on_behalf_of": alarm["project_id"],
            "timestamp": self.moment(),
        }
        if context is None:
            entry["severity"] = alarm["severity"]
        self.history.add(entry)
        entries = self.history.select(alarm_id=alarm["id"])
        for old in entries[: len(entries) - MOST_HISTORY]:
            self.history.remove(old)

    def limit_of(self, project: str) -> int:
        """Return how many alarms a project may have; -1 for no limit."""
        known = self.limits.get(project)
        return UNLIMITED if known is None else int(known["alarms"])

    def _check_quota(self, project: str, user: str) -> None:
        limit = self.limit_of(project)
        if limit != UNLIMITED and len(self.rows.select(project_id=project)) >= limit:
            raise ApiError(403, f"Alarm quota exceeded for user {user} on project {project}")

    def _owner(self, context: Context, body: Any) -> str:
        """Return the project of a new alarm: another one than the caller's for administrators only."""
        return self._allowed(context, body.get("project_id"))

    def _allowed(self, context: Context, project: Any) -> str:
        wanted = project or context.project
        if wanted != context.project and not context.is_admin:
            raise ApiError(401, f"Not Authorized to access project {wanted}")
        return str(wanted)


def actions_of(alarm: Record) -> list[str]:
    """Return all actions of an alarm."""
    return [url for name in ACTIONS.values() for url in alarm[name]]


def missing(key: str) -> ApiError:
    """Return the 404 for an alarm."""
    return not_found(f"Alarm {key} not found")


def view(alarm: Record) -> dict[str, Any]:
    """Return an alarm as clients see it."""
    shown = {key: value for key, value in alarm.items() if key not in ("id", "rule") and not key.startswith("_")}
    return {"alarm_id": alarm["id"], **shown, **_shown_actions(alarm), f"{alarm['type']}_rule": alarm["rule"]}


def _shown_actions(alarm: Record) -> dict[str, list[str]]:
    """Return the actions of each state without the IDs of their trusts, which other members could use."""
    return {name: [without_trust(url) for url in alarm[name]] for name in ACTIONS.values()}


def _detail(alarm: Record) -> dict[str, Any]:
    """Return an alarm as its history has it: its rule is called `rule` whatever its type."""
    return {"alarm_id": alarm["id"]} | {name: alarm[name] for name in _NOTED} | _shown_actions(alarm)


def views(alarms: Iterable[Record]) -> list[dict[str, Any]]:
    """Return alarms as clients see them."""
    return [view(alarm) for alarm in alarms]


def _wanted(request: Request) -> dict[str, Any]:
    """Return the alarm that a request describes. Raises ApiError 400, and 401 for an action that users may not set."""
    wanted = alarm_of(request.json)
    for name in () if request.context.is_admin else ACTIONS.values():
        for action in request.json.get(name) or ():
            if scheme_of(action) in RESTRICTED_SCHEMES:
                raise ApiError(401, f"You are not authorized to create action: {action}")
    return wanted


def _restrict(wanted: Record, context: Context, project: str) -> None:
    """Restrict the query of a rule to the resources of the project; again with each change, as Aodh does."""
    if wanted["type"] == "gnocchi_aggregation_by_resources_threshold" and not context.is_admin:
        own = {"or": [{"=": {"created_by_project_id": project}}, {"=": {"project_id": project}}]}
        rule = wanted["rule"]
        wanted["rule"] = {**rule, "query": json.dumps({"and": [own, json.loads(rule["query"])]})}
