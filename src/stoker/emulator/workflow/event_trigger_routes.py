"""The routes of event triggers."""

from __future__ import annotations

from stoker.emulator.core.component import using
from stoker.emulator.core.http import Request, Response
from stoker.emulator.workflow import views
from stoker.emulator.workflow.event_triggers import EventTriggers
from stoker.emulator.workflow.fields import body_of
from stoker.emulator.workflow.lists import everywhere, listing

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
