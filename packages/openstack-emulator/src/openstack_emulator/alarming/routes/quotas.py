"""Routes of the quotas of projects."""

from __future__ import annotations

from typing import Any

from openstack_emulator.alarming.rules.alarms import UNLIMITED
from openstack_emulator.alarming.rules.composition import Alarming
from openstack_emulator.alarming.rules.validation import invalid
from openstack_emulator.alarming.views import quotas_view
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response


def show(service: Alarming, request: Request) -> Response:
    """The quotas of the caller's project; of another one with `project_id`, for administrators."""
    project = request.query.get("project_id") or request.context.project
    if project != request.context.project_id:
        request.context.require("admin")
    return Response(quotas_view(project, service.alarms.limit_of(project)))


def update(service: Alarming, request: Request) -> Response:
    request.context.require("admin")
    body = request.json
    limits, project = (body.get("quotas"), body.get("project_id")) if isinstance(body, dict) else (None, None)
    if not isinstance(limits, list) or not isinstance(project, str):
        raise bad_request("The request body must have project_id and quotas.")
    limit: Any = UNLIMITED
    for quota in limits:
        limit = quota.get("limit") if isinstance(quota, dict) else None
        if not isinstance(quota, dict) or quota.get("resource") != "alarms":
            raise bad_request("The resource of a quota must be alarms.")
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < UNLIMITED:
            raise invalid("limit", limit, "Value should be greater or equal to -1")
    service.alarms.set_limit(project, limit)
    return Response(quotas_view(project, limit), 201)


def delete(service: Alarming, request: Request) -> Response:
    request.context.require("admin")
    service.alarms.reset_limit(request.vars["project_id"])
    return Response(status=204)
