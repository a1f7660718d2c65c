"""The routes of event triggers."""

from __future__ import annotations

from openstack_emulator.core.component import using
from openstack_emulator.core.http import Request, Response
from openstack_emulator.workflow import views
from openstack_emulator.workflow.event_triggers import EventTriggers
from openstack_emulator.workflow.fields import body_of
from openstack_emulator.workflow.lists import everywhere, listing

_FIELDS = frozenset({
    "name", "workflow_id", "exchange", "topic", "event", "workflow_input", "workflow_params", "scope",
})  # fmt: skip


def list_triggers(triggers: EventTriggers, request: Request) -> Response:
    rows = triggers.sharing.listed(list(triggers.rows), request.context, everywhere(request))
    return listing(request, rows, views.trigger, "event_triggers")


def create_trigger(triggers: EventTriggers, request: Request) -> Response:
    return Response(views.trigger(triggers.create(request.context, body_of(request, "event_trigger", _FIELDS))), 201)


def show_trigger(triggers: EventTriggers, request: Request) -> Response:
    return Response(views.trigger(triggers.find(request.context, request.vars["id"])))


def change_trigger(triggers: EventTriggers, request: Request) -> Response:
    row = triggers.change(request.context, request.vars["id"], body_of(request, "event_trigger", _FIELDS))
    return Response(views.trigger(row))


def delete_trigger(triggers: EventTriggers, request: Request) -> Response:
    triggers.remove(request.context, request.vars["id"])
    return Response(status=204)


ROUTES = using(
    EventTriggers,
    {
        "/event_triggers": {"GET": list_triggers, "POST": create_trigger},
        "/event_triggers/{id}": {"GET": show_trigger, "PUT": change_trigger, "DELETE": delete_trigger},
    },
)
