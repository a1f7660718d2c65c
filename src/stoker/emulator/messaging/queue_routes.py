"""Queues: made, listed, described, shared, emptied."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.errors import bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.paging import page
from stoker.emulator.messaging.access import project_of, share
from stoker.emulator.messaging.records import MOST_AT_ONCE, RESERVED, MessagingRecords, check_name, place

_EMPTIED = ("messages", "subscriptions")
_DEFAULT_PAGE = 10


def index(zaqar: MessagingRecords, request: Request) -> Response:
    project = project_of(zaqar, request)
    rows = sorted(zaqar.queues.select(project_id=project), key=lambda queue: str(queue["name"]))
    limit = request.query.integer("limit")
    found = page(rows, request.query, min(limit or _DEFAULT_PAGE, MOST_AT_ONCE), key="name")
    detailed = request.query.boolean("detailed")
    queues = [
        {
            "name": row["name"],
            "href": f"/v2/queues/{row['name']}",
            **({"metadata": row["metadata"]} if detailed else {}),
        }
        for row in found.rows
    ]
    return Response({"queues": queues, "links": found.links(request)})


def create(zaqar: MessagingRecords, request: Request) -> Response:
    metadata = request.json if request.body else {}
    if not isinstance(metadata, dict):
        raise bad_request("The metadata of a queue must be a JSON object.")
    made = zaqar.made_queue(project_of(zaqar, request), request.vars["name"], metadata)
    return Response(status=201 if made else 204, headers={"Location": f"/v2/queues/{request.vars['name']}"})


def show(zaqar: MessagingRecords, request: Request) -> Response:
    """The metadata; a queue that has not been made yet has none, and is no error."""
    project, name = project_of(zaqar, request), request.vars["name"]
    check_name(name)
    known = zaqar.queue(project, name)
    return Response({**RESERVED, **(known["metadata"] if known is not None else {})})


def update(zaqar: MessagingRecords, request: Request) -> Response:
    project, name = project_of(zaqar, request), request.vars["name"]
    known = zaqar.queue(project, name)
    if known is None:
        raise not_found(f"Queue {name} does not exist.")
    operations: Any = request.json
    if not isinstance(operations, list):
        raise bad_request("The request body must be a list of operations.")
    zaqar.patch_queue(known, operations)
    return Response({**RESERVED, **known["metadata"]})


def delete(zaqar: MessagingRecords, request: Request) -> Response:
    zaqar.remove_queue(project_of(zaqar, request), request.vars["name"])
    return Response(status=204)


def stats(zaqar: MessagingRecords, request: Request) -> Response:
    found = zaqar.waiting(place(project_of(zaqar, request), request.vars["name"]))
    return Response({"messages": {"claimed": 0, "free": len(found), "total": len(found)}})


def purge(zaqar: MessagingRecords, request: Request) -> Response:
    body = request.json if request.body else {}
    kinds = body.get("resource_types", list(_EMPTIED)) if isinstance(body, dict) else None
    if not isinstance(kinds, list) or not all(kind in _EMPTIED for kind in kinds):
        raise bad_request(f"Resource types can be: {', '.join(_EMPTIED)}.")
    zaqar.purge(place(project_of(zaqar, request), request.vars["name"]), kinds)
    return Response(status=204)


def sign(zaqar: MessagingRecords, request: Request) -> Response:
    body = request.json if request.body else {}
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    project = request.context.project
    check_name(request.vars["name"])
    return Response(share(zaqar, project, request.vars["name"], body))
