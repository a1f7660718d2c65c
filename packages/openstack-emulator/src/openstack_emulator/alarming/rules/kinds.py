"""The rules of each type of alarm: their fields, defaults and checks, and what evaluations read of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.alarming.rules.validation import AODH, number
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.search import predicate
from openstack_emulator.core.validation.fields import anything, boolean, integer, items, nullable, one_of, text
from openstack_emulator.core.validation.problems import Check, Problem, specific, wrong_type
from openstack_emulator.metric.rules.series import AGGREGATIONS

_OPERATORS = one_of("lt", "le", "eq", "ne", "ge", "gt")
_DEEPEST = 5


def _aggregation(value: object) -> Problem | None:
    if value not in AGGREGATIONS:
        raise bad_request(f"aggregation_method should be in {list(AGGREGATIONS)} not {value}")
    return None


def _json_object(value: Any) -> Problem | None:
    try:
        predicate(json.loads(value), lambda record, name: None)
    except (TypeError, ValueError):
        return specific(value, f"{value!r} is not a query in JSON")
    return None


_CONDITION: Mapping[str, Check] = {
    "field": text(1),
    "op": _OPERATORS,
    "value": anything,
    "type": nullable(one_of("integer", "float", "string", "boolean", "datetime", "")),
}


def _conditions(value: object) -> Problem | None:
    if not isinstance(value, list):
        return wrong_type(value, "array")
    for condition in value:
        AODH.check("data.query", condition, _CONDITION, ("field", "value"))
    return None


@dataclass(frozen=True)
class Form:
    """The fields of a rule: which are required, and the defaults of others."""

    fields: Mapping[str, Check]
    required: tuple[str, ...]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def completed(self, data: Any, name: str) -> dict[str, object]:
        """The rule with its defaults. Raises ApiError 400, and ValueError for a threshold that is no number."""
        AODH.check(f"data.{name}", data, self.fields, self.required)
        rule = {**self.defaults, **{key: value for key, value in data.items() if value is not None}}
        if isinstance(query := rule.get("query"), list):
            rule["query"] = [dict(sorted(condition.items())) for condition in query]
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

RULES: Mapping[str, Form] = {
    "threshold": Form(
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
    "gnocchi_resources_threshold": Form(
        {**_MEASURED, "metric": text(1), "resource_id": text(1), "resource_type": text(1)},
        ("metric", "resource_id", "resource_type", "threshold", "aggregation_method"),
        _MEASURED_DEFAULTS,
    ),
    "gnocchi_aggregation_by_metrics_threshold": Form(
        {**_MEASURED, "metrics": items(text(1))}, ("metrics", "threshold", "aggregation_method"), _MEASURED_DEFAULTS
    ),
    "gnocchi_aggregation_by_resources_threshold": Form(
        {**_MEASURED, "metric": text(1), "resource_type": text(1), "query": _json_object},
        ("metric", "resource_type", "query", "threshold", "aggregation_method"),
        _MEASURED_DEFAULTS,
    ),
    "event": Form(
        {"event_type": nullable(text(1)), "query": nullable(_conditions)}, (), {"event_type": "*", "query": []}
    ),
    "loadbalancer_member_health": Form(
        {"pool_id": text(1), "stack_id": text(1), "autoscaling_group_id": text(1)},
        ("pool_id", "stack_id", "autoscaling_group_id"),
    ),
    "prometheus": Form({**_COMPARED, "query": text(1, 65535)}, ("query", "threshold"), _COMPARED_DEFAULTS),
}
"""The rules by the types of alarms, except for composite ones."""
COMPOSED = tuple(name for name in RULES if name.startswith("gnocchi_"))
"""The types of rules that a composite alarm can have."""
TYPES = (*RULES, "composite")


def kind_of(part: Mapping[str, object]) -> tuple[Any, dict[str, Any]]:
    """The type of a rule within a composite one, and the rule itself."""
    rest = dict(part)
    return rest.pop("type"), rest


def rule_of(kind: str, value: object) -> dict[str, object]:
    """The complete rule of an alarm. Raises ApiError 400, and ValueError for a threshold that is no number."""
    if value is None:
        raise bad_request(f"{kind}_rule must be set for {kind} type alarm")
    return _composite(value, 0) if kind == "composite" else RULES[kind].completed(value, f"{kind}_rule")


def _composite(value: Any, depth: int) -> dict[str, object]:
    if not isinstance(value, dict) or depth > _DEEPEST:
        raise bad_request(f"Invalid composite rule {value!r}: it must be an object, with at most {_DEEPEST} levels.")
    if "type" in value:
        kind, rest = kind_of(value)
        if kind not in COMPOSED:
            raise bad_request(f"The rule type {kind!r} is not supported in composite rules.")
        return {"type": kind, **RULES[kind].completed(rest, "composite_rule")}
    if len(value) != 1 or next(iter(value)) not in ("and", "or"):
        raise bad_request("A composite rule has one key, 'and' or 'or', whose value is a list of rules.")
    ((operator, rules),) = value.items()
    if not isinstance(rules, list):
        raise bad_request(f"The operator {operator!r} of a composite rule needs a list of rules.")
    return {operator: [_composite(rule, depth + 1) for rule in rules]}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What a field must be like. type: that of the value; its own, if there is none."""

    field: str
    value: Any
    op: str | None = None
    type: str | None = None

    @property
    def operator(self) -> str:
        return self.op or "eq"

    @property
    def typed_value(self) -> Any:
        """The value in its type; as it is, when it is no value of the type."""
        try:
            if self.type == "boolean":
                return str(self.value).lower() in ("true", "1", "yes")
            return {"integer": int, "float": float}.get(self.type or "", lambda value: value)(self.value)
        except (TypeError, ValueError):
            return self.value


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Values that are compared with a threshold; they are those of the last periods."""

    threshold: float
    comparison_operator: str
    evaluation_periods: int | str

    @property
    def periods(self) -> int:
        return int(self.evaluation_periods)


@dataclass(frozen=True, kw_only=True)
class MeterRule(Comparison):
    """A rule on the meters of all resources that a query selects. period: in seconds."""

    meter_name: str
    statistic: str
    period: int | str
    query: list[dict[str, Any]]
    exclude_outliers: bool

    @property
    def conditions(self) -> list[Condition]:
        return [Condition(**condition) for condition in self.query]


@dataclass(frozen=True, kw_only=True)
class MetricRule(Comparison):
    """A rule on metrics: some by their IDs, or those with a name of one resource or of those that a query selects.

    granularity: in seconds.
    """

    granularity: int | str
    aggregation_method: str
    metric: str = ""
    metrics: Sequence[str] = ()
    resource_id: str = ""
    resource_type: str = ""
    query: str | None = None


@dataclass(frozen=True, kw_only=True)
class EventRule:
    """A rule on the events of a type, which may be a pattern."""

    event_type: str
    query: list[dict[str, Any]]

    @property
    def conditions(self) -> list[Condition]:
        return [Condition(**condition) for condition in self.query]


@dataclass(frozen=True, kw_only=True)
class PoolRule:
    """A rule on the members of a pool of a load balancer."""

    pool_id: str
    stack_id: str
    autoscaling_group_id: str


@dataclass(frozen=True, kw_only=True)
class Period:
    """When alarms are evaluated: for so many seconds from each moment on that a line of crontab describes."""

    name: str
    start: str
    duration: int | str
    description: str | None = None
    timezone: str | None = None
