"""Messages for users over HTTP, since microversion 2.37."""

from __future__ import annotations

from openstack_emulator.core.filters import equal
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.share.records import Message
from openstack_emulator.share.routes.lists import created_within, list_response
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.views import message_view

SINCE_TIMES = (2, 52)
NAMES = ("request_id", "resource_id", "resource_type", "action_id", "detail_id", "message_level")
FILTERS = {name: equal(name) for name in NAMES}


def index(systems: SharedFileSystems, request: Request) -> Response:
    """The messages that the caller may see: an administrator sees those of all projects."""
    rows = [row for row in systems.messages.rows if request.context.may_see(row)]
    if request.version >= SINCE_TIMES:
        rows = created_within(request, rows)
    return list_response(request, "messages", rows, FILTERS, lambda row: message_view(request, row))


def _message(systems: SharedFileSystems, request: Request) -> Message:
    return visible(systems.messages.rows, request.context, request.vars["message_id"])


def show(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"message": message_view(request, _message(systems, request))})


def delete(systems: SharedFileSystems, request: Request) -> Response:
    systems.messages.rows.remove(_message(systems, request))
    return Response(status=204)
