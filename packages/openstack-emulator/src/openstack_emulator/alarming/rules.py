"""The body of an alarm and the rules of each type: their fields, defaults and checks."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from croniter import croniter

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.fields import Check, Nested, anything, boolean, integer, items, nullable, text
from openstack_emulator.core.search import predicate
from openstack_emulator.metric.rules.series import AGGREGATIONS

STATES = ("ok", "alarm", "insufficient data")
ACTIONS = {"ok": "ok_actions", "alarm": "alarm_actions", "insufficient data": "insufficient_data_actions"}
SCHEMES = ("http", "https", "trust+http", "trust+https", "trust+zaqar", "zaqar", "trust+heat", "log", "test")
RESTRICTED_SCHEMES = frozenset({"log", "test"})
"""The schemes of actions that only administrators may set."""


def invalid(name: str, value: Any, problem: str) -> ApiError:
    """The 400 for a field with a value that it cannot have."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def check_fields(wanted: Any, fields: Mapping[str, Check], required: Collection[str], where: str) -> None:
    """Refuse an object with a wrong field, in the words of Aodh.

    fields: the check of each field that the object can have.
    where: the path of the object in messages: `data` for the body, `data.event_rule` for its rule.

    Raises: ApiError 400.
    """
    if not isinstance(wanted, dict):
        raise invalid(where, wanted, f"{wanted!r} is not of type 'object'")
    if unknown := [name for name in wanted if name not in fields]:
        raise bad_request(f"Unknown attribute for argument {where}: {', '.join(unknown)}")
    for name in required:
        if wanted.get(name) is None:
            raise invalid(name, None, "Mandatory field missing.")
    for name, value in wanted.items():
        if (problem := fields[name](value)) is not None:
            if isinstance(problem, Nested):
                name, value = problem.name, problem.value
            raise invalid(name, value, problem)


def one_of(*words: str) -> Check:
    return lambda value: None if value in words else f"Value should be one of: {', '.join(words)}"


_OPERATORS = one_of("lt", "le", "eq", "ne", "ge", "gt")
_DEEPEST = 5


def number(value: Any) -> float:
    """The number that a value or a string of one stands for. Raises ValueError, for an infinite one too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"could not convert {type(value).__name__} to float: {value!r}")
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is not finite")
    return found


def _aggregation(value: Any) -> str | None:
    if value not in AGGREGATIONS:
        raise bad_request(f"aggregation_method should be in {list(AGGREGATIONS)} not {value}")
    return None


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
        check_fields(condition, _CONDITION, ("field", "value"), "data.query")
    return None


@dataclass(frozen=True)
class Rule:
    """The fields of a rule: which are required, and the defaults of others."""

    fields: Mapping[str, Check]
    required: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def completed(self, given: Any, name: str) -> dict[str, Any]:
        """Return the rule with its defaults. Raises ApiError 400, and ValueError for a threshold that is no number."""
        check_fields(given, self.fields, self.required, f"data.{name}")
        rule = {**self.defaults, **{key: value for key, value in given.items() if value is not None}}
        if isinstance(rule.get("query"), list):
            rule["query"] = [dict(sorted(condition.items())) for condition in rule["query"]]
        return rule | {key: number(rule[key]) for key in ("threshold",) if key in rule}


_COMPARED: Mapping[str, Check] = {
    "threshold": anything,
    "comparison_operator": nullable(_OPERATORS),
    "evaluation_periods": nullable(integer(1)),
}
_COMPARED_DEFAULTS = {"comparison_operator": "eq", "evaluation_periods": 1}
_MEASURED: Mapping[str, Check] = {
    **_COMPARED,
    "granularity": nullable(integer(1)),
    "aggregation_method": _aggregation,
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
    """Return the complete rule of an alarm. Raises ApiError 400, and ValueError for a threshold that is no number."""
    if given is None:
        raise bad_request(f"{kind}_rule must be set for {kind} type alarm")
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
    if not isinstance(rules, list):
        raise bad_request(f"The operator {operator!r} of a composite rule needs a list of rules.")
    return {operator: [_composite(rule, depth + 1) for rule in rules]}


def _cron(value: Any) -> str | None:
    try:
        croniter.expand(value)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        return str(error)
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
        check_fields(period, _PERIOD, ("name", "start", "duration"), "data.time_constraints")
    names = [period["name"] for period in value]
    return "the names of time constraints must differ" if len(set(names)) < len(names) else None


def scheme_of(action: str) -> str:
    """Return the scheme of an action's URL; an empty string for what is no URL."""
    try:
        return urlsplit(action).scheme
    except ValueError:
        return ""


def _action(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"{value!r} is not of type 'string'"
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
    **{name: nullable(items(_action)) for name in ACTIONS.values()},
}
DEFAULTS: Mapping[str, Any] = {
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
    check_fields(given, _FIELDS, ("name", "type"), "data")
    kind = given["type"]
    try:
        rule = rule_of(kind, body.get(f"{kind}_rule"))
    except ValueError as error:
        raise invalid("data", body, str(error)) from None
    others = sorted(key for key in rules & body.keys() if key != f"{kind}_rule" and body[key] is not None)
    if others:
        raise invalid(others[0], body[others[0]], f"an alarm of type {kind} has a {kind}_rule only")
    description = {"description": _described(kind, rule)}
    wanted = {**DEFAULTS, **description, **{key: value for key, value in given.items() if value is not None}}
    for name in ACTIONS.values():
        wanted[name] = list(dict.fromkeys(map(_shortened, wanted[name])))
    return {**wanted, "rule": rule}


def _described(kind: str, rule: Mapping[str, Any]) -> str:
    """Return the description of an alarm that is given none."""
    return f"Alarm when {rule['event_type']} event occurred." if kind == "event" else f"{kind} alarm rule"


def _shortened(action: str) -> str:
    """Return an action as Aodh keeps it: one that has nothing but a scheme loses its slashes (`log:`)."""
    scheme, _, rest = action.partition("://")
    return action if rest or not action.endswith("://") else f"{scheme}:"
