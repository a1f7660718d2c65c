"""The body of an alarm and the rules of each type: their fields, defaults and checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from croniter import croniter

from stoker.emulator.core.errors import bad_request
from stoker.emulator.core.fields import (
    Check,
    anything,
    boolean,
    check_fields,
    integer,
    invalid,
    items,
    nullable,
    one_of,
    text,
)
from stoker.emulator.core.search import predicate
from stoker.emulator.metric.series import AGGREGATIONS

STATES = ("ok", "alarm", "insufficient data")
ACTIONS = {"ok": "ok_actions", "alarm": "alarm_actions", "insufficient data": "insufficient_data_actions"}
SCHEMES = ("http", "https", "trust+http", "trust+https", "trust+zaqar", "zaqar", "trust+heat", "log", "test")
_OPERATORS = one_of("lt", "le", "eq", "ne", "ge", "gt")
_DEEPEST = 5


def number(value: Any) -> str | None:
    """A number, or a string of one; not infinite."""
    try:
        good = not isinstance(value, bool) and abs(float(value)) < float("inf")
    except (TypeError, ValueError):
        good = False
    return None if good else f"{value!r} is not a number"


def _json_object(value: Any) -> str | None:
    try:
        predicate(json.loads(value), lambda record, name: None)
    except (TypeError, ValueError):
        return f"{value!r} is not a query in JSON"
    return None


_CONDITION: Mapping[str, Check] = {
    "field": text(1),
    "op": _OPERATORS,
    "value": anything,
    "type": nullable(one_of("integer", "float", "string", "boolean", "datetime", "")),
}


def _conditions(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"{value!r} is not of type 'array'"
    for condition in value:
        check_fields(condition, _CONDITION, ("field", "value"), "query")
    return None


@dataclass(frozen=True)
class Rule:
    """The fields of a rule: which are required, and the defaults of others."""

    fields: Mapping[str, Check]
    required: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def completed(self, given: Any, name: str) -> dict[str, Any]:
        """Return the rule with its defaults. Raises ApiError 400."""
        check_fields(given, self.fields, self.required, name)
        return {**self.defaults, **{key: value for key, value in given.items() if value is not None}}


_COMPARED: Mapping[str, Check] = {
    "threshold": number,
    "comparison_operator": nullable(_OPERATORS),
    "evaluation_periods": nullable(integer(1)),
}
_COMPARED_DEFAULTS = {"comparison_operator": "eq", "evaluation_periods": 1}
_MEASURED: Mapping[str, Check] = {
    **_COMPARED,
    "granularity": nullable(integer(1)),
    "aggregation_method": one_of(*AGGREGATIONS),
}
_MEASURED_DEFAULTS = {**_COMPARED_DEFAULTS, "granularity": 60}

RULES: Mapping[str, Rule] = {
    "threshold": Rule(
        {
            **_COMPARED,
            "meter_name": text(1),
            "statistic": nullable(one_of("max", "min", "avg", "sum", "count")),
            "period": nullable(integer(1)),
            "query": nullable(_conditions),
            "exclude_outliers": nullable(boolean),
        },
        ("meter_name", "threshold"),
        {**_COMPARED_DEFAULTS, "statistic": "avg", "period": 60, "query": [], "exclude_outliers": False},
    ),
    "gnocchi_resources_threshold": Rule(
        {**_MEASURED, "metric": text(1), "resource_id": text(1), "resource_type": text(1)},
        ("metric", "resource_id", "resource_type", "threshold", "aggregation_method"),
        _MEASURED_DEFAULTS,
    ),
    "gnocchi_aggregation_by_metrics_threshold": Rule(
        {**_MEASURED, "metrics": items(text(1))}, ("metrics", "threshold", "aggregation_method"), _MEASURED_DEFAULTS
    ),
    "gnocchi_aggregation_by_resources_threshold": Rule(
        {**_MEASURED, "metric": text(1), "resource_type": text(1), "query": _json_object},
        ("metric", "resource_type", "query", "threshold", "aggregation_method"),
        _MEASURED_DEFAULTS,
    ),
    "event": Rule(
        {"event_type": nullable(text(1)), "query": nullable(_conditions)}, (), {"event_type": "*", "query": []}
    ),
    "loadbalancer_member_health": Rule(
        {"pool_id": text(1), "stack_id": text(1), "autoscaling_group_id": text(1)},
        ("pool_id", "stack_id", "autoscaling_group_id"),
    ),
    "prometheus": Rule({**_COMPARED, "query": text(1, 65535)}, ("query", "threshold"), _COMPARED_DEFAULTS),
}
"""The rules by the types of alarms, except for composite ones."""
COMPOSED = tuple(name for name in RULES if name.startswith("gnocchi_"))
"""The types of rules that a composite alarm can have."""
TYPES = (*RULES, "composite")


def rule_of(kind: str, given: Any) -> dict[str, Any]:
    """Return the complete rule of an alarm. Raises ApiError 400."""
    if given is None:
        raise bad_request(f"{kind}_rule must be set for an alarm of type {kind}.")
    return _composite(given, 0) if kind == "composite" else RULES[kind].completed(given, f"{kind}_rule")


def _composite(given: Any, depth: int) -> dict[str, Any]:
    if not isinstance(given, dict) or depth > _DEEPEST:
        raise bad_request(f"Invalid composite rule {given!r}: it must be an object, with at most {_DEEPEST} levels.")
    if "type" in given:
        if given["type"] not in COMPOSED:
            raise bad_request(f"The rule type {given['type']!r} is not supported in composite rules.")
        rest = {key: value for key, value in given.items() if key != "type"}
        return {"type": given["type"], **RULES[given["type"]].completed(rest, "composite_rule")}
    if len(given) != 1 or next(iter(given)) not in ("and", "or"):
        raise bad_request("A composite rule has one key, 'and' or 'or', whose value is a list of rules.")
    ((operator, rules),) = given.items()
    if not isinstance(rules, list) or not rules:
        raise bad_request(f"The operator {operator!r} of a composite rule needs a list of rules.")
    return {operator: [_composite(rule, depth + 1) for rule in rules]}


def _cron(value: Any) -> str | None:
    try:
        croniter.expand(value)
    except (ValueError, KeyError, AttributeError, TypeError):
        return f"{value!r} is not a cron expression"
    return None


def _timezone(value: Any) -> str | None:
    try:
        ZoneInfo(value or "UTC")
    except (ValueError, KeyError, OSError, TypeError):
        return f"{value!r} is not a time zone"
    return None


_PERIOD: Mapping[str, Check] = {
    "name": text(1),
    "description": nullable(text()),
    "start": _cron,
    "duration": integer(0),
    "timezone": nullable(_timezone),
}


def _periods(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"{value!r} is not of type 'array'"
    for period in value:
        check_fields(period, _PERIOD, ("name", "start", "duration"), "time_constraints")
    names = [period["name"] for period in value]
    return "the names of time constraints must differ" if len(set(names)) < len(names) else None


def _action(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"{value!r} is not of type 'string'"
    try:
        parts = urlsplit(value)
    except ValueError:
        return f"{value!r} is not a URL"
    return None if parts.scheme in SCHEMES else f"Unsupported action {value}"


_FIELDS: Mapping[str, Check] = {
    "name": text(1),
    "type": one_of(*TYPES),
    "description": nullable(text(0, 2000)),
    "enabled": nullable(boolean),
    "repeat_actions": nullable(boolean),
    "severity": nullable(one_of("low", "moderate", "critical")),
    "state": nullable(one_of(*STATES)),
    "time_constraints": nullable(_periods),
    **{name: nullable(items(_action)) for name in ACTIONS.values()},
}
DEFAULTS: Mapping[str, Any] = {
    "description": "",
    "enabled": True,
    "repeat_actions": False,
    "severity": "low",
    "time_constraints": [],
    **{name: [] for name in ACTIONS.values()},
}
_READ_ONLY = (
    "alarm_id", "user_id", "project_id", "timestamp", "state_timestamp", "state_reason", "evaluate_timestamp",
)  # fmt: skip


def alarm_of(body: Any) -> dict[str, Any]:
    """Return the alarm that a request describes, with its defaults; `state` if it is given. Raises ApiError 400."""
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    rules = {f"{name}_rule" for name in TYPES}
    given = {key: value for key, value in body.items() if key not in _READ_ONLY and key not in rules}
    check_fields(given, _FIELDS, ("name", "type"), "alarm")
    kind = given["type"]
    others = sorted(key for key in rules & body.keys() if key != f"{kind}_rule" and body[key] is not None)
    if others:
        raise invalid(others[0], body[others[0]], f"an alarm of type {kind} has a {kind}_rule only")
    wanted = {**DEFAULTS, **{key: value for key, value in given.items() if value is not None}}
    for name in ACTIONS.values():
        wanted[name] = list(dict.fromkeys(map(_shortened, wanted[name])))
    return {**wanted, "rule": rule_of(kind, body.get(f"{kind}_rule"))}


def _shortened(action: str) -> str:
    """Return an action as Aodh keeps it: one that has nothing but a scheme loses its slashes (`log:`)."""
    scheme, _, rest = action.partition("://")
    return action if rest or not action.endswith("://") else f"{scheme}:"
