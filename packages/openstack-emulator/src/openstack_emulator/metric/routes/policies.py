"""Routes of archive policies."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.metric.routes.paths import found_policy
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.inputs import NewPolicy
from openstack_emulator.metric.views import policy_view


def index(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response([policy_view(policy) for policy in database.policies.rows])


def create(database: TimeSeriesDatabase, request: Request) -> Response:
    request.context.require("admin")
    policy = database.policies.create(NewPolicy.from_json(request.json))
    return Response(policy_view(policy), 201, {"Location": f"{request.base}/v1/archive_policy/{policy.id}"})


def show(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response(policy_view(found_policy(database, request)))


def delete(database: TimeSeriesDatabase, request: Request) -> Response:
    request.context.require("admin")
    policy = found_policy(database, request)
    if database.metrics.rows.first(policy=policy.id) is not None:
        raise bad_request(f"Archive policy {policy.id} is still in use")
    database.policies.rows.remove(policy)
    return Response(status=204)
