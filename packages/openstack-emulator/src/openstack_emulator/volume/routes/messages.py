"""User messages over HTTP (since microversion 3.3)."""

from __future__ import annotations

from openstack_emulator.core.filters import equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.volume.records import Message
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.views import message_view

FILTERS = {name: equal(name) for name in ("request_id", "resource_type", "resource_uuid", "event_id", "message_level")}


def _message(storage: BlockStorage, request: Request) -> Message:
    return visible(storage.messages.rows, request.context, request.vars["message_id"])


def index(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.messages.rows, request)
    return list_response(request, "messages", rows, FILTERS, lambda row: message_view(request, row))


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"message": message_view(request, _message(storage, request))})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.messages.rows.remove(_message(storage, request))
    return Response(status=204)
