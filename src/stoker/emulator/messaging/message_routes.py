"""Messages: posted, listed, popped, deleted."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from stoker.emulator.core.errors import ApiError, bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.messaging.access import client_of, project_of
from stoker.emulator.messaging.records import LARGEST_POST, MOST_AT_ONCE, MessagingRecords, place

_DEFAULT_PAGE = 10


def create(zaqar: MessagingRecords, request: Request) -> Response:
    project, name = project_of(zaqar, request), request.vars["name"]
    if len(request.body) > LARGEST_POST:
        raise bad_request(f"Message collection size is too large. Max size {LARGEST_POST}.")
    body = request.json
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not 1 <= len(messages) <= MOST_AT_ONCE:
        raise bad_request(f"The request body must have between 1 and {MOST_AT_ONCE} messages.")
    posted = zaqar.post(project, name, client_of(request), messages)
    return Response({"resources": [_href(name, message) for message in posted]}, 201)


def index(zaqar: MessagingRecords, request: Request) -> Response:
    """A page of messages, those of the client itself only with `echo`; or those with the ids asked for."""
    project, name, query = project_of(zaqar, request), request.vars["name"], request.query
    found = zaqar.waiting(place(project, name))
    if (ids := query.get("ids")) is not None:
        wanted = set(ids.split(","))
        return Response({"messages": [_view(zaqar, name, message) for message in found if message["id"] in wanted]})
    if not query.boolean("echo"):
        found = [message for message in found if message["client_id"] != client_of(request)]
    marker = query.get("marker") or ""
    limit = min(query.integer("limit") or _DEFAULT_PAGE, MOST_AT_ONCE)
    shown = [message for message in found if message["id"] > marker][:limit]
    marker = shown[-1]["id"] if shown else marker
    options = {"marker": marker, "limit": limit, "echo": str(bool(query.boolean("echo"))).lower()}
    links = [{"rel": "next", "href": f"/v2/queues/{name}/messages?{urlencode(options)}"}]
    return Response({"messages": [_view(zaqar, name, message) for message in shown], "links": links})


def show(zaqar: MessagingRecords, request: Request) -> Response:
    return Response(_view(zaqar, request.vars["name"], _message(zaqar, request)))


def delete_many(zaqar: MessagingRecords, request: Request) -> Response:
    """Take the oldest messages out (`pop`), or delete those with the ids."""
    queue, query = place(project_of(zaqar, request), request.vars["name"]), request.query
    ids, number = query.get("ids"), query.integer("pop")
    if (ids is None) == (number is None):
        raise bad_request("Give either ids or pop.")
    if ids is not None:
        wanted = set(ids.split(","))
        for message in zaqar.waiting(queue):
            if message["id"] in wanted:
                zaqar.messages.remove(message)
        return Response(status=204)
    if not number or number > MOST_AT_ONCE:
        raise bad_request(f"Pop value must be at least 1 and may not be greater than {MOST_AT_ONCE}.")
    popped = zaqar.pop(queue, number)
    return Response({"messages": [_view(zaqar, request.vars["name"], message) for message in popped]})


def delete(zaqar: MessagingRecords, request: Request) -> Response:
    """Delete a message; one that is gone already is no error."""
    try:
        zaqar.messages.remove(_message(zaqar, request))
    except ApiError as error:
        if error.status != 404:
            raise
    return Response(status=204)


def _message(zaqar: MessagingRecords, request: Request) -> Record:
    queue, wanted = place(project_of(zaqar, request), request.vars["name"]), request.vars["message_id"]
    found = next((message for message in zaqar.waiting(queue) if message["id"] == wanted), None)
    if found is None:
        raise not_found(f"Message {wanted} does not exist in queue {request.vars['name']}.")
    return found


def _href(name: str, message: Record) -> str:
    return f"/v2/queues/{name}/messages/{message['id']}"


def _view(zaqar: MessagingRecords, name: str, message: Record) -> dict[str, Any]:
    return {
        "id": message["id"],
        "href": _href(name, message),
        "ttl": message["ttl"],
        "age": int(zaqar.cloud.clock.now() - message["created"]),
        "body": message["body"],
    }
