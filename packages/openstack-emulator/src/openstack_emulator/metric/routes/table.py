"""All routes of the metric service."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.metric.routes import measures, metrics, policies, resources, types
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.series import AGGREGATIONS

Routes = Mapping[str, Mapping[str, Callable[[TimeSeriesDatabase, Request], Response]]]
_VERSION = ApiVersion("v1.0", (own("/v1/"),), details={"updated": "2015-03-19T00:00:00Z"})


def capabilities(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response({"aggregation_methods": sorted(AGGREGATIONS)})


ROUTES: Routes = {
    "/aggregates": {"POST": measures.aggregates},
    "/aggregation/metric": {"GET": measures.aggregate_metrics},
    "/aggregation/resource/{type}/metric/{name}": {"POST": measures.aggregate_resources},
    "/archive_policy": {"GET": policies.index, "POST": policies.create},
    "/archive_policy/{name}": {"GET": policies.show, "DELETE": policies.delete},
    "/batch/metrics/measures": {"POST": measures.add_batch},
    "/batch/resources/metrics/measures": {"POST": measures.add_resources_batch},
    "/capabilities": {"GET": capabilities},
    "/metric": {"GET": metrics.index, "POST": metrics.create},
    "/metric/{id}": {"GET": metrics.show, "DELETE": metrics.delete},
    "/metric/{id}/measures": {"GET": measures.show, "POST": measures.add},
    "/resource": {"GET": resources.list_kinds},
    "/resource/{type}": {"GET": resources.index, "POST": resources.create},
    "/resource/{type}/{id}": {"GET": resources.show, "PATCH": resources.change, "DELETE": resources.delete},
    "/resource/{type}/{id}/metric": {"GET": resources.list_metrics, "POST": resources.add_metrics},
    "/resource/{type}/{id}/metric/{name}": {"GET": metrics.show_of_resource},
    "/resource/{type}/{id}/metric/{name}/measures": {
        "GET": measures.show_of_resource,
        "POST": measures.add_to_resource,
    },
    "/resource_type": {"GET": types.index, "POST": types.create},
    "/resource_type/{type}": {"GET": types.show, "PATCH": types.change, "DELETE": types.delete},
    "/search/resource/{type}": {"POST": resources.search},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": all_versions(_VERSION, around={"build": "4.6.0"})}}
"""What is directly below the mount: the versions."""
