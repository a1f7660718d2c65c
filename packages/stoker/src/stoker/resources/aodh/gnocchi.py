"""Alarms on Gnocchi's metrics: OS::Aodh::GnocchiResourcesAlarm and the alarms on aggregated metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from stoker.resources.aodh.base import COMPARISON, EVALUATION_PERIODS, SHARED, THRESHOLD, AlarmResource
from stoker.resources.wire import without_nulls
from stoker.schema.property import Change, Property, Support, Type

_EVALUATED: Mapping[str, Property] = {
    **SHARED,
    "comparison_operator": COMPARISON,
    "evaluation_periods": EVALUATION_PERIODS,
    "granularity": Property(Type.INTEGER, "Length of a period in seconds.", change=Change.UPDATE),
    "aggregation_method": Property(
        description="How the values of a period become one (mean, max, rate:mean, ...).", change=Change.UPDATE
    ),
    "threshold": THRESHOLD,
}


def _required(description: str) -> Property:
    return Property(description=description, required=True, change=Change.UPDATE)


class GnocchiAlarm(AlarmResource):
    """An alarm on metrics: all properties besides those of every alarm are its rule."""

    support = Support(version="2015.1")

    def rule(self, properties: Mapping[str, object]) -> dict[str, Any]:
        return without_nulls({name: properties[name] for name in self.properties if name not in SHARED})


class GnocchiResourcesAlarm(GnocchiAlarm):
    """An alarm on a metric of one resource."""

    type_name = "OS::Aodh::GnocchiResourcesAlarm"
    description = "An alarm on a metric of one resource, such as a server."
    alarm_type = "gnocchi_resources_threshold"

    properties = {
        **_EVALUATED,
        "metric": _required("Name of the metric."),
        "resource_id": _required("ID of the resource, such as a server's."),
        "resource_type": _required("Gnocchi's type of the resource, such as instance."),
    }


class GnocchiAggregationByMetricsAlarm(GnocchiAlarm):
    """An alarm on several metrics."""

    type_name = "OS::Aodh::GnocchiAggregationByMetricsAlarm"
    description = "An alarm on the aggregate of several metrics."
    alarm_type = "gnocchi_aggregation_by_metrics_threshold"

    properties = {
        **_EVALUATED,
        "metrics": Property(Type.LIST, "IDs of the metrics.", required=True, change=Change.UPDATE),
    }


class GnocchiAggregationByResourcesAlarm(GnocchiAlarm):
    """An alarm on a metric of several resources."""

    type_name = "OS::Aodh::GnocchiAggregationByResourcesAlarm"
    description = "An alarm on the aggregate of a metric of several resources, such as the servers of a scaling group."
    alarm_type = "gnocchi_aggregation_by_resources_threshold"

    properties = {
        **_EVALUATED,
        "metric": _required("Name of the metric."),
        "query": _required('Query for the resources, in Gnocchi\'s JSON format: \'{"=": {"server_group": "..."}}\'.'),
        "resource_type": _required("Gnocchi's type of the resources, such as instance."),
    }

    def rule_differences(self, properties: Mapping[str, object], rule: Mapping[str, object]) -> dict[str, object]:
        found = super().rule_differences(properties, rule)
        if "query" in found and _parsed(properties["query"]) == _unrestricted(_parsed(rule.get("query"))):
            del found["query"]
        return found


def _parsed(query: Any) -> object:
    """Return a query as data; one that is not JSON as it is."""
    try:
        return orjson.loads(query)
    except (orjson.JSONDecodeError, TypeError):
        return query


def _unrestricted(query: object) -> object:
    """Return a query without the condition on the project that Aodh puts before it."""
    match query:
        case {"and": [{"or": [{"=": {"created_by_project_id": _}}, *_]}, inner]}:
            return inner
    return query
