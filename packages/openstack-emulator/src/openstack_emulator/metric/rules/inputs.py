"""What requests want to be created and changed: archive policies, metrics, resources and their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from openstack_emulator.core.validation.fields import anything, form, items, one_of, optional, text
from openstack_emulator.core.validation.problems import Check, Problem, specific, wrong_type
from openstack_emulator.metric.records import Attribute, ResourceType
from openstack_emulator.metric.rules.series import AGGREGATIONS
from openstack_emulator.metric.rules.types import check_values, described, kept_values, required
from openstack_emulator.metric.rules.validation import (
    check_fields,
    integer,
    no_value,
    seconds,
    timespan,
    timestamp,
)

DEFAULT_POLICY = "low"
_DEFINITION = form({"granularity": timespan, "timespan": timespan, "points": integer(1)})
_POLICY = {
    "name": text(1, None),
    "definition": items(_DEFINITION, minimum=1),
    "aggregation_methods": optional(items(one_of(*AGGREGATIONS))),
    "back_window": optional(integer(0)),
}
_METRIC = {
    "name": optional(text(0, None)),
    "unit": optional(text(0, 31)),
    "archive_policy_name": optional(text(1, None)),
    "resource_id": optional(text(1, None)),
}
_TYPE_NAME = r"[a-zA-Z0-9][a-zA-Z0-9_.-]*"
NamedMetrics = Mapping[str, Any]
"""Metrics of a resource by name: the id of one that exists, or the description of a new one."""


@dataclass(frozen=True)
class NewDefinition:
    """Periods of an archive policy, in seconds; what is None follows from the others."""

    granularity: int | None
    points: int | None
    timespan: int | None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """The periods in a request, whose form has been checked."""
        points = body.get("points")
        return cls(
            _whole_seconds(body.get("granularity")),
            int(points) if points else None,
            _whole_seconds(body.get("timespan")),
        )


def _whole_seconds(span: object) -> int | None:
    """A time of a definition, such as `5 minutes`, in whole seconds; None for none."""
    return round(seconds(span) or 0) if span else None


@dataclass(frozen=True)
class NewPolicy:
    """An archive policy; without methods, it gets the usual ones."""

    name: str
    definition: list[NewDefinition]
    aggregation_methods: list[str]
    back_window: int

    @classmethod
    def from_json(cls, body: Any) -> Self:
        """The policy in a request. Raises ApiError 400."""
        check_fields(body, _POLICY, ("name", "definition"))
        return cls(
            body["name"],
            [NewDefinition.from_json(entry) for entry in body["definition"]],
            body.get("aggregation_methods") or [],
            int(body.get("back_window") or 0),
        )


@dataclass(frozen=True)
class NewMetric:
    """A metric."""

    name: str | None
    unit: str | None
    policy: str

    @classmethod
    def from_json(cls, body: Any) -> Self:
        """The metric in a request, or in the description of a resource. Raises ApiError 400."""
        check_fields(body, _METRIC)
        return cls(body.get("name"), body.get("unit"), body.get("archive_policy_name") or DEFAULT_POLICY)


@dataclass(frozen=True)
class NewType:
    """A type of resources."""

    name: str
    attributes: dict[str, Attribute]

    @classmethod
    def from_json(cls, body: Any) -> Self:
        """The type in a request. Raises ApiError 400."""
        check_fields(body, {"name": text(1, 255, _TYPE_NAME), "attributes": anything}, ("name",))
        return cls(body["name"], described(body.get("attributes")))


@dataclass(frozen=True, kw_only=True)
class NewResource:
    """A resource, with the attributes of its type that the request gives."""

    id: str
    project_id: str | None
    user_id: str | None
    started_at: str | None
    ended_at: str | None
    attributes: dict[str, object]
    metrics: NamedMetrics

    @classmethod
    def from_json(cls, body: Any, resource_type: ResourceType) -> Self:
        """The resource in a request. Raises ApiError 400."""
        attributes = resource_type.attributes
        _check(body, {"id": _identifier, **check_values(attributes)}, ["id", *required(attributes)])
        return cls(
            id=body["id"],
            project_id=body.get("project_id"),
            user_id=body.get("user_id"),
            started_at=_stored_time(body.get("started_at")),
            ended_at=_stored_time(body.get("ended_at")),
            attributes=kept_values(body, attributes),
            metrics=body.get("metrics") or {},
        )


@dataclass(frozen=True)
class ResourceChange:
    """Changes of a resource.

    fields: those that every resource has. ended_at: the new end, if there is one.
    """

    fields: Mapping[str, object]
    ended_at: str | None
    attributes: dict[str, Any]
    metrics: NamedMetrics

    @classmethod
    def from_json(cls, body: Any, resource_type: ResourceType) -> Self:
        """The changes in a request. Raises ApiError 400."""
        _check(body, check_values(resource_type.attributes), ())
        attributes, ended = kept_values(body, resource_type.attributes), _stored_time(body.get("ended_at"))
        fields = {name: value for name, value in body.items() if name not in attributes and name != "metrics"}
        return cls(fields | ({"ended_at": ended} if ended else {}), ended, attributes, body.get("metrics") or {})


def _check(body: object, attributes: Mapping[str, Check], needed: Iterable[str]) -> None:
    """Refuse the description of a resource that is wrong; attributes that are not needed may be null."""
    known: dict[str, Check] = {
        "project_id": optional(text(0, None)),
        "user_id": optional(text(0, None)),
        "started_at": timestamp,
        "ended_at": optional(timestamp),
        "metrics": _metrics,
    }
    names = tuple(needed)
    fields = {name: check if name in names else optional(check) for name, check in attributes.items()}
    check_fields(body, {**known, **fields}, names)


def metrics_of(body: Any) -> NamedMetrics:
    """The metrics that a request adds to a resource. Raises ApiError 400."""
    check_fields({"metrics": body}, {"metrics": _metrics})
    found: NamedMetrics = body
    return found


def _metrics(value: Any) -> Problem | None:
    """The problem of an object that does not have metrics by name."""
    if not isinstance(value, dict):
        return wrong_type(value, "object")
    for name, metric in value.items():
        if not isinstance(metric, str | dict):
            return no_value(metric).within(name)
    return None


def _identifier(value: Any) -> Problem | None:
    if not isinstance(value, str) or not value:
        return no_value(value)
    return specific(value, "'/' is not supported in resource id") if "/" in value else None


def time_of(value: str) -> datetime:
    """A time in ISO 8601, in UTC unless it says otherwise."""
    parsed = datetime.fromisoformat(value)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _stored_time(value: str | None) -> str | None:
    """A time in the form in which records have it: ISO 8601 with an offset."""
    return None if value is None else time_of(value).isoformat()
