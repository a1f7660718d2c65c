"""What requests want: alarms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from croniter import croniter

from openstack_emulator.alarming.rules.kinds import TYPES, EventRule, Period, rule_of
from openstack_emulator.alarming.rules.validation import AODH, invalid
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.fields import boolean, integer, items, nullable, one_of, text
from openstack_emulator.core.validation.problems import Check, Problem, specific, wrong_type

STATES = ("ok", "alarm", "insufficient data")
ACTIONS = ("ok_actions", "alarm_actions", "insufficient_data_actions")
"""The fields with the actions of each state, in the order of the states."""
SCHEMES = ("http", "https", "trust+http", "trust+https", "trust+zaqar", "zaqar", "trust+heat", "log", "test")
RESTRICTED_SCHEMES = frozenset({"log", "test"})
"""The schemes of actions that only administrators may set."""


def _cron(value: Any) -> Problem | None:
    try:
        croniter.expand(value)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        return specific(value, str(error))
    return None


def _timezone(value: Any) -> Problem | None:
    try:
        ZoneInfo(value or "UTC")
    except (ValueError, KeyError, OSError, TypeError):
        return specific(value, f"{value!r} is not a time zone")
    return None


_PERIOD: Mapping[str, Check] = {
    "name": text(1),
    "description": nullable(text()),
    "start": _cron,
    "duration": integer(0),
    "timezone": nullable(_timezone),
}


def _periods(value: Any) -> Problem | None:
    if not isinstance(value, list):
        return wrong_type(value, "array")
    for period in value:
        AODH.check("data.time_constraints", period, _PERIOD, ("name", "start", "duration"))
    names = {Period(**period).name for period in value}
    return specific(value, "the names of time constraints must differ") if len(names) < len(value) else None


def scheme_of(action: str) -> str:
    """The scheme of an action's URL; an empty string for what is no URL."""
    try:
        return urlsplit(action).scheme
    except ValueError:
        return ""


def _action(value: Any) -> Problem | None:
    if not isinstance(value, str):
        return wrong_type(value, "string")
    if scheme_of(value) not in SCHEMES:
        raise bad_request(f"Unsupported action {value}")
    return None


_FIELDS: Mapping[str, Check] = {
    "name": text(1),
    "type": one_of(*TYPES),
    "description": nullable(text(0, 2000)),
    "enabled": nullable(boolean),
    "repeat_actions": nullable(boolean),
    "severity": nullable(one_of("low", "moderate", "critical")),
    "state": nullable(one_of(*STATES)),
    "time_constraints": nullable(_periods),
    **{name: nullable(items(_action)) for name in ACTIONS},
}
DEFAULTS: Mapping[str, object] = {
    "enabled": True,
    "repeat_actions": False,
    "severity": "low",
    "time_constraints": [],
}
_READ_ONLY = (
    "alarm_id", "user_id", "project_id", "timestamp", "state_timestamp", "state_reason", "evaluate_timestamp",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NewAlarm:
    """An alarm, or all of an existing one that a request can set.

    actions: by the names of their fields. state: None leaves it.
    """

    name: str
    type: str
    description: str
    enabled: bool
    repeat_actions: bool
    severity: str
    time_constraints: list[dict[str, object]]
    actions: dict[str, list[str]]
    rule: dict[str, Any]
    state: str | None = None

    @classmethod
    def from_json(cls, body: Any, is_admin: bool) -> Self:
        """The alarm in a request, with its defaults. Raises ApiError 400, and 401 for an action that only
        administrators may set."""
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        rules = {f"{name}_rule" for name in TYPES}
        own_fields = {key: value for key, value in body.items() if key not in _READ_ONLY and key not in rules}
        AODH.check("data", own_fields, _FIELDS, ("name", "type"))
        kind = own_fields["type"]
        try:
            rule = rule_of(kind, body.get(f"{kind}_rule"))
        except ValueError as error:
            raise invalid("data", body, str(error)) from None
        others = sorted(key for key in rules & body.keys() if key != f"{kind}_rule" and body[key] is not None)
        if others:
            raise invalid(others[0], body[others[0]], f"an alarm of type {kind} has a {kind}_rule only")
        if not is_admin:
            _refuse_restricted(body)
        fields = {"description": _described(kind, rule)} | {
            key: value for key, value in own_fields.items() if value is not None
        }
        actions = {name: list(dict.fromkeys(map(_shortened, fields.pop(name, ())))) for name in ACTIONS}
        return cls(**{**DEFAULTS, **fields}, actions=actions, rule=rule)


def _refuse_restricted(body: Mapping[str, Any]) -> None:
    for name in ACTIONS:
        for action in body.get(name) or ():
            if scheme_of(action) in RESTRICTED_SCHEMES:
                raise ApiError(401, f"You are not authorized to create action: {action}")


def _described(kind: str, rule: Mapping[str, Any]) -> str:
    """The description of an alarm that is given none."""
    return f"Alarm when {EventRule(**rule).event_type} event occurred." if kind == "event" else f"{kind} alarm rule"


def _shortened(action: str) -> str:
    """An action as Aodh keeps it: one that has nothing but a scheme loses its slashes (`log:`)."""
    scheme, _, rest = action.partition("://")
    return action if rest or not action.endswith("://") else f"{scheme}:"
