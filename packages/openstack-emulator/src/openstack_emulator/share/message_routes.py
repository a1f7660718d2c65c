"""Messages for users over HTTP, since microversion 2.37."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.component import visible
from openstack_emulator.core.filters import equal
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.share.lists import created_within, listing
from openstack_emulator.share.messages import Messages
from openstack_emulator.share.views import links

SINCE_TIMES = (2, 52)
NAMES = ("request_id", "resource_id", "resource_type", "action_id", "detail_id", "message_level")
FILTERS = {name: equal(name) for name in NAMES}


def index(messages: Messages, request: Request) -> Response:
    """The messages that the caller may see: an administrator sees those of all projects."""
    rows = [row for row in messages.rows if request.context.may_see(row)]
    if request.version >= SINCE_TIMES:
        rows = created_within(request, rows)
    return listing(request, "messages", rows, FILTERS, lambda row: _view(request, row))


def _view(request: Request, message: Record) -> dict[str, Any]:
    return {**message, "links": links(request, "messages", message)}


def _message(messages: Messages, request: Request) -> Record:
    return visible(messages.rows, request.context, request.vars["message_id"])


def show(messages: Messages, request: Request) -> Response:
    return Response({"message": _view(request, _message(messages, request))})


def delete(messages: Messages, request: Request) -> Response:
    messages.rows.remove(_message(messages, request))
    return Response(status=204)
