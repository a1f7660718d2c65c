"""Queues: made, listed, described, shared, emptied."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Record
from openstack_emulator.messaging.access import project_of, project_of_token, share
from openstack_emulator.messaging.claims import claim_of, message_view
from openstack_emulator.messaging.http import json_of, links_after, object_of, page_size
from openstack_emulator.messaging.records import MessagingRecords, check_name, place, settings_of

_EMPTIED = ("subscriptions", "messages")
_PATCH = "application/openstack-messaging-v2.0-json-patch"


def index(zaqar: MessagingRecords, request: Request) -> Response:
    project = project_of(zaqar, request)
    rows = sorted(zaqar.queues.select(project_id=project), key=lambda queue: str(queue["name"]))
    found = page(rows, request.query, page_size(request), key="name")
    detailed = request.query.boolean("detailed")
    queues = [
        {
            "name": row["name"],
            "href": f"/v2/queues/{row['name']}",
            **({"metadata": settings_of(row)} if detailed else {}),
        }
        for row in found.rows
    ]
    return Response({"queues": queues, "links": links_after(request, found.rows, "name")})


def create(zaqar: MessagingRecords, request: Request) -> Response:
    made = zaqar.made_queue(project_of(zaqar, request), request.vars["name"], object_of(request))
    return Response(status=201 if made else 204, headers={"Location": f"/v2/queues/{request.vars['name']}"})


def show(zaqar: MessagingRecords, request: Request) -> Response:
    """The metadata; a queue that has not been made yet has none, and is no error."""
    project, name = project_of(zaqar, request), request.vars["name"]
    check_name(name)
    known = zaqar.queue(project, name)
    return Response(settings_of(known))


def update(zaqar: MessagingRecords, request: Request) -> Response:
    project, name = project_of(zaqar, request), request.vars["name"]
    if request.headers.get("content-type", "").partition(";")[0].strip() != _PATCH:
        accepted = f"Accepted media type for PATCH: {{'Accept-Patch': '{_PATCH}'}}."
        raise ApiError(415, accepted, "415 Unsupported Media Type")
    known = zaqar.queue(project, name)
    if known is None:
        raise not_found(f"Queue {name} does not exist for project {project}")
    zaqar.patch_queue(known, json_of(request))
    return Response(settings_of(known))


def delete(zaqar: MessagingRecords, request: Request) -> Response:
    zaqar.remove_queue(project_of(zaqar, request), request.vars["name"])
    return Response(status=204)


def stats(zaqar: MessagingRecords, request: Request) -> Response:
    """The numbers of messages, and which are the oldest and the newest."""
    name = request.vars["name"]
    found = zaqar.waiting(place(project_of(zaqar, request), name))
    claimed = sum(claim_of(zaqar, message) is not None for message in found)
    shown: dict[str, Any] = {"claimed": claimed, "free": len(found) - claimed, "total": len(found)}
    if found:
        shown |= {"oldest": _when(zaqar, name, found[0]), "newest": _when(zaqar, name, found[-1])}
    return Response({"messages": shown})


def _when(zaqar: MessagingRecords, name: str, message: Record) -> dict[str, Any]:
    created = datetime.fromtimestamp(message["created"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    shown = message_view(zaqar, name, message)
    return {"href": shown["href"], "age": shown["age"], "created": created}


def purge(zaqar: MessagingRecords, request: Request) -> Response:
    kinds = object_of(request).get("resource_types", list(_EMPTIED))
    if not isinstance(kinds, list) or not all(kind in _EMPTIED for kind in kinds):
        raise bad_request(f"Resource types must be a sub set of {{{', '.join(map(repr, _EMPTIED))}}}.")
    zaqar.purge(place(project_of(zaqar, request), request.vars["name"]), kinds)
    return Response(status=204)


def sign(zaqar: MessagingRecords, request: Request) -> Response:
    project = project_of_token(request)
    check_name(request.vars["name"])
    return Response(share(zaqar, project, request.vars["name"], object_of(request)))
