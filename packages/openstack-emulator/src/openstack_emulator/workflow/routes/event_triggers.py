"""Event triggers."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.workflow import views
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of

_FIELDS = frozenset({
    "name", "workflow_id", "exchange", "topic", "event", "workflow_input", "workflow_params", "scope",
})  # fmt: skip


def list_triggers(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.event_triggers.rows))
    return list_response(request, rows, views.trigger, "event_triggers")


def create_trigger(service: Workflows, request: Request) -> Response:
    return Response(
        views.trigger(service.event_triggers.create(request.context, body_of(request, "event_trigger", _FIELDS))), 201
    )


def show_trigger(service: Workflows, request: Request) -> Response:
    return Response(views.trigger(service.event_triggers.find(request.context, key(request))))


def change_trigger(service: Workflows, request: Request) -> Response:
    row = service.event_triggers.change(request.context, key(request), body_of(request, "event_trigger", _FIELDS))
    return Response(views.trigger(row))


def delete_trigger(service: Workflows, request: Request) -> Response:
    service.event_triggers.remove(request.context, key(request))
    return Response(status=204)
