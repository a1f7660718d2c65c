"""Records as clients of the metric service see them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from openstack_emulator.metric.records import Attribute, Metric, OwnedRecord, Policy, Resource, ResourceType
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.types import GENERIC, OPTIONS

SHOWN = ("id", "type", "project_id", "user_id", "started_at", "ended_at", "original_resource_id")
"""Fields of resources that are shown as they are kept."""


def policy_view(policy: Policy) -> dict[str, object]:
    """An archive policy."""
    return {
        "name": policy.id,
        "back_window": policy.back_window,
        "aggregation_methods": policy.aggregation_methods,
        "definition": [
            {
                "granularity": _span(item.granularity),
                "points": item.points,
                "timespan": _span(item.granularity * item.points) if item.points else None,
            }
            for item in policy.definition
        ],
    }


def _span(seconds: int) -> str:
    return str(timedelta(seconds=seconds))


def metric_summary(metric: Metric) -> dict[str, object]:
    """A metric as the answer to its creation shows it."""
    return {**_named(metric), "archive_policy_name": metric.policy, **_creation(metric)}


def metric_view(database: TimeSeriesDatabase, metric: Metric) -> dict[str, Any]:
    """A metric as lists show it."""
    return {**_named(metric), **_creation(metric), "archive_policy": policy_view(database.policies.of(metric))}


def metric_detail(database: TimeSeriesDatabase, metric: Metric) -> dict[str, object]:
    """A metric with its resource."""
    shown = metric_view(database, metric)
    resource = database.resources.rows.get(shown.pop("resource_id") or "")
    plain = None if resource is None else _plain_resource(resource, ())
    return {**shown, "resource": plain}


def _named(metric: Metric) -> dict[str, Any]:
    return {"id": metric.id, "name": metric.name, "unit": metric.unit, "resource_id": metric.resource_id}


def _creation(record: OwnedRecord) -> dict[str, object]:
    return {
        "creator": record.creator,
        "created_by_user_id": record.created_by_user_id,
        "created_by_project_id": record.created_by_project_id,
    }


def resource_view(database: TimeSeriesDatabase, resource: Resource, kind: str) -> dict[str, object]:
    """A resource as one of a type; as one of the generic type, it has no attributes of its own type."""
    attributes = () if kind == GENERIC else tuple(database.types.require(resource.type).attributes)
    metrics = {name: metric.id for name, metric in database.metrics.of(resource).items()}
    return {**_plain_resource(resource, attributes), "metrics": metrics}


def _plain_resource(resource: Resource, attributes: tuple[str, ...]) -> dict[str, object]:
    return {
        **{name: resource.get(name) for name in (*SHOWN, *attributes)},
        "revision_start": resource.started_at,
        "revision_end": None,
        **_creation(resource),
    }


def type_view(kind: ResourceType) -> dict[str, object]:
    """A type of resources."""
    attributes = {name: _attribute_view(attribute) for name, attribute in kind.attributes.items()}
    return {"name": kind.id, "attributes": attributes, "state": "active"}


def _attribute_view(attribute: Attribute) -> dict[str, object]:
    shown = ("type", "required", *OPTIONS[attribute.type])
    return {name: value for name, value in asdict(attribute).items() if name in shown}
