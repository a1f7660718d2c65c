"""Messages: posted, listed, popped, deleted."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.messaging.access import client_of, project_of
from openstack_emulator.messaging.claims import claim_of, message_view, require_holder
from openstack_emulator.messaging.http import MOST_AT_ONCE, integer_in, json_of, page_size
from openstack_emulator.messaging.records import MessagingRecords, place, settings_of


def create(zaqar: MessagingRecords, request: Request) -> Response:
    project, name = project_of(zaqar, request), request.vars["name"]
    largest = settings_of(zaqar.queue(project, name))["_max_messages_post_size"]
    if len(request.body) > largest:
        raise bad_request(f"Message collection size is too large. Max size {largest}.")
    body = json_of(request)
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        raise bad_request("No messages were found in the request body.")
    if not messages:
        raise bad_request("No messages to enqueu.")
    if len(messages) > MOST_AT_ONCE:
        raise bad_request(f"The request body must have at most {MOST_AT_ONCE} messages.")
    posted = zaqar.post(project, name, client_of(request), messages)
    location = f"/v2/queues/{name}/messages?ids={','.join(message['id'] for message in posted)}"
    return Response({"resources": [_href(name, message) for message in posted]}, 201, {"Location": location})


def index(zaqar: MessagingRecords, request: Request) -> Response:
    """A page of messages: those of the client itself only with `echo`, and claimed ones only with `include_claimed`; or
    those with the IDs asked for.
    """
    project, name, query = project_of(zaqar, request), request.vars["name"], request.query
    found = zaqar.waiting(place(project, name))
    if (ids := query.get("ids")) is not None:
        named = _named(found, ids)
        if not named:
            raise not_found(f"The queue {name} has none of these messages.")
        return Response({"messages": [message_view(zaqar, name, message) for message in named]})
    if not query.boolean("echo"):
        found = [message for message in found if message["client_id"] != client_of(request)]
    if not query.boolean("include_claimed"):
        found = [message for message in found if claim_of(zaqar, message) is None]
    marker, limit = query.get("marker") or "", page_size(request)
    shown = [message for message in found if message["id"] > marker][:limit]
    marker = shown[-1]["id"] if shown else ""
    flags = {name: str(bool(query.boolean(name))).lower() for name in ("echo", "include_claimed")}
    options = {"marker": marker, "limit": limit, **flags}
    links = [{"rel": "next", "href": f"/v2/queues/{name}/messages?{urlencode(options)}"}] if shown else []
    return Response({"messages": [message_view(zaqar, name, message) for message in shown], "links": links})


def show(zaqar: MessagingRecords, request: Request) -> Response:
    return Response(message_view(zaqar, request.vars["name"], _message(zaqar, request)))


def delete_many(zaqar: MessagingRecords, request: Request) -> Response:
    """Delete the messages with the IDs; or delete and return the oldest free ones (`pop`)."""
    queue, query = place(project_of(zaqar, request), request.vars["name"]), request.query
    ids, number = query.get("ids"), integer_in(request, "pop")
    if ids is None and number is None:
        wanted = 'either "ids" or "pop" parameter in the request, to be able to delete'
        raise bad_request(f"The request should have {wanted}.")
    if ids is not None and number is not None:
        raise bad_request("ids cannot be given with pop.")
    if ids is not None:
        _delete_named(zaqar, _named(zaqar.waiting(queue), ids), query.get("claim_ids"))
        return Response(status=204)
    if query.get("claim_ids") is not None:
        raise bad_request("claim_ids cannot be given with pop.")
    if number is None or not 1 <= number <= MOST_AT_ONCE:
        raise bad_request(f"Pop value must be at least 1 and may not be greater than {MOST_AT_ONCE}.")
    free = [message for message in zaqar.waiting(queue) if claim_of(zaqar, message) is None][:number]
    popped = [_popped(zaqar, request.vars["name"], message) for message in free]
    for message in free:
        zaqar.messages.remove(message)
    return Response({"messages": popped})


def _popped(zaqar: MessagingRecords, name: str, message: Record) -> dict[str, Any]:
    """A message as Zaqar shows it when it is popped, which is a claim that ends at once."""
    shown = message_view(zaqar, name, message)
    del shown["href"]
    return {**shown, "claim_id": new_id(), "claim_count": message.get("claim_count", 0)}


def _named(messages: list[Record], ids: str) -> list[Record]:
    """Return the messages with the IDs of a query. Raises ApiError 400 for too many."""
    wanted = ids.split(",")
    if len(wanted) > MOST_AT_ONCE:
        raise bad_request(f"The limit of messages at once is {MOST_AT_ONCE}.")
    return [message for message in messages if message["id"] in wanted]


def _delete_named(zaqar: MessagingRecords, found: list[Record], claims: str | None) -> None:
    """Delete messages, which must all be of one of the claims, if these are given."""
    if claims is not None:
        held = set(claims.split(","))
        if any(claim_of(zaqar, message) not in held for message in found):
            raise bad_request("The specified claim does not exist or has expired.")
    for message in found:
        zaqar.messages.remove(message)


def delete(zaqar: MessagingRecords, request: Request) -> Response:
    """Delete a message, with `claim_id` if it is claimed; one that does not exist is no error."""
    try:
        message = _message(zaqar, request)
    except ApiError as error:
        if error.status != 404:
            raise
        return Response(status=204)
    require_holder(zaqar, message, request.query.get("claim_id"))
    zaqar.messages.remove(message)
    return Response(status=204)


def _message(zaqar: MessagingRecords, request: Request) -> Record:
    project, name, wanted = project_of(zaqar, request), request.vars["name"], request.vars["message_id"]
    found = next((message for message in zaqar.waiting(place(project, name)) if message["id"] == wanted), None)
    if found is None:
        raise not_found(f"Message {wanted} does not exist in queue {name} for project {project}")
    return found


def _href(name: str, message: Record) -> str:
    return f"/v2/queues/{name}/messages/{message['id']}"
