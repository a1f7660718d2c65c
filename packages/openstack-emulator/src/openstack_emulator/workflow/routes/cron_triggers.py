"""Cron triggers."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.http import Request, Response
from openstack_emulator.workflow import views
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of

_TRIGGER = frozenset({
    "name", "workflow_name", "workflow_id", "workflow_input", "workflow_params", "pattern", "first_execution_time",
    "remaining_executions", "scope",
})  # fmt: skip


def list_triggers(service: Workflows, request: Request) -> Response:
    return list_response(
        request, listed(service, request, list(service.cron_triggers.rows)), views.trigger, "cron_triggers"
    )


def create_trigger(service: Workflows, request: Request) -> Response:
    body: dict[str, Any] = body_of(request, "cron_trigger", _TRIGGER)
    return Response(views.made(views.trigger(service.cron_triggers.create(request, body))), 201)


def show_trigger(service: Workflows, request: Request) -> Response:
    return Response(views.trigger(service.cron_triggers.require(request.context, key(request))))


def delete_trigger(service: Workflows, request: Request) -> Response:
    service.cron_triggers.remove(service.cron_triggers.require(request.context, key(request)))
    return Response(status=204)
