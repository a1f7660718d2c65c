"""What paths name."""

from __future__ import annotations

from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request
from openstack_emulator.metric.records import Metric, Policy, Resource, ResourceType
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase


def key_of(request: Request) -> str:
    """The ID of a metric or a resource."""
    return request.vars["id"]


def name_of(request: Request) -> str:
    """The name of an archive policy, or of a metric of a resource."""
    return request.vars["name"]


def kind_of(request: Request) -> str:
    """The name of a type of resources."""
    return request.vars["type"]


def found_policy(database: TimeSeriesDatabase, request: Request) -> Policy:
    """The archive policy. Raises ApiError 404."""
    return database.policies.rows.require(name_of(request))


def found_metric(database: TimeSeriesDatabase, request: Request) -> Metric:
    """The metric with an ID. Raises ApiError 404 and 403."""
    return database.metrics.visible(request.context, key_of(request))


def found_type(database: TimeSeriesDatabase, request: Request) -> ResourceType:
    """The type of resources. Raises ApiError 404."""
    return database.types.require(kind_of(request))


def found_resource(database: TimeSeriesDatabase, request: Request) -> Resource:
    """The resource. Raises ApiError 404 and 403."""
    return database.resources.find(request.context, kind_of(request), key_of(request))


def metric_of_resource(database: TimeSeriesDatabase, request: Request) -> Metric:
    """The metric of a resource. Raises ApiError 404 and 403."""
    metric = database.metrics.named(found_resource(database, request), name_of(request))
    if metric is None:
        raise not_found(f"Metric {name_of(request)} does not exist")
    return metric
