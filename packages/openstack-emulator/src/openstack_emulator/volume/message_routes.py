"""User messages over HTTP (since microversion 3.3)."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.component import using, visible
from openstack_emulator.core.filters import equal, project_rows
from openstack_emulator.core.guards import since
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.messages import Messages
from openstack_emulator.volume.views import links

FIELDS = (
    "id",
    "request_id",
    "resource_type",
    "resource_uuid",
    "event_id",
    "message_level",
    "user_message",
    "created_at",
    "guaranteed_until",
)
FILTERS = {name: equal(name) for name in FIELDS[1:6]}


def _message(messages: Messages, request: Request) -> Record:
    return visible(messages.rows, request.context, request.vars["message_id"])


def _view(request: Request, message: Record) -> dict[str, Any]:
    return {**{key: message[key] for key in FIELDS}, "links": links(request, "messages", message)}


def index(messages: Messages, request: Request) -> Response:
    rows = project_rows(messages.rows, request)
    return listing(request, "messages", rows, FILTERS, lambda row: _view(request, row))


def show(messages: Messages, request: Request) -> Response:
    return Response({"message": _view(request, _message(messages, request))})


def delete(messages: Messages, request: Request) -> Response:
    messages.rows.remove(_message(messages, request))
    return Response(status=204)


ROUTES = using(
    Messages,
    {
        "/messages": {"GET": since((3, 3), index)},
        "/messages/{message_id}": {"GET": since((3, 3), show), "DELETE": since((3, 3), delete)},
    },
)
