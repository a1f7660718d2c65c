"""User messages over HTTP (since microversion 3.3)."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.volume.group_routes import since
from stoker.emulator.volume.lists import equal, listing, project_rows
from stoker.emulator.volume.records import VolumeRecords
from stoker.emulator.volume.views import links

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


def _message(volumes: VolumeRecords, request: Request) -> Record:
    return volumes.visible(volumes.messages, request.context, request.vars["message_id"])


def _view(request: Request, message: Record) -> dict[str, Any]:
    return {**{key: message[key] for key in FIELDS}, "links": links(request, "messages", message)}


def index(volumes: VolumeRecords, request: Request) -> Response:
    rows = project_rows(volumes.messages, request)
    return listing(request, "messages", rows, FILTERS, lambda row: _view(request, row))


def show(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"message": _view(request, _message(volumes, request))})


def delete(volumes: VolumeRecords, request: Request) -> Response:
    volumes.messages.remove(_message(volumes, request))
    return Response(status=204)


ROUTES = {
    "/messages": {"GET": since((3, 3), index)},
    "/messages/{message_id}": {"GET": since((3, 3), show), "DELETE": since((3, 3), delete)},
}
