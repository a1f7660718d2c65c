"""Messages over HTTP: posted, listed, popped, deleted."""

from __future__ import annotations

from urllib.parse import urlencode

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.messaging.records import Message
from openstack_emulator.messaging.routes.access import client_of, name_in, project_of, queue_of
from openstack_emulator.messaging.routes.bodies import MOST_AT_ONCE, integer_in, json_of, page_size
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.messaging.rules.inputs import NewMessage
from openstack_emulator.messaging.rules.queues import place
from openstack_emulator.messaging.rules.settings import settings_of
from openstack_emulator.messaging.views import message_path, message_view


def create(messaging: Messaging, request: Request) -> Response:
    project, name = project_of(messaging, request), name_in(request)
    settings = settings_of(messaging.queues.find(project, name))
    if len(request.body) > settings.max_messages_post_size:
        raise bad_request(f"Message collection size is too large. Max size {settings.max_messages_post_size}.")
    body = json_of(request)
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        raise bad_request("No messages were found in the request body.")
    if not messages:
        raise bad_request("No messages to enqueu.")
    if len(messages) > MOST_AT_ONCE:
        raise bad_request(f"The request body must have at most {MOST_AT_ONCE} messages.")
    new = [NewMessage.from_json(message, settings) for message in messages]
    posted = messaging.messages.post(project, name, client_of(request), new)
    location = f"/v2/queues/{name}/messages?ids={','.join(message.id for message in posted)}"
    return Response({"resources": [message_path(name, message) for message in posted]}, 201, {"Location": location})


def index(messaging: Messaging, request: Request) -> Response:
    """A page of messages: those of the client itself only with `echo`, and claimed ones only with `include_claimed`; or
    those with the IDs asked for.
    """
    project, name, query = project_of(messaging, request), name_in(request), request.query
    found = messaging.messages.waiting(place(project, name))
    if (ids := query.get("ids")) is not None:
        named = _named(found, ids)
        if not named:
            raise not_found(f"The queue {name} has none of these messages.")
        return Response({"messages": [message_view(messaging, name, message) for message in named]})
    if not query.boolean("echo"):
        found = [message for message in found if message.client_id != client_of(request)]
    if not query.boolean("include_claimed"):
        found = [message for message in found if messaging.claims.of(message) is None]
    marker, limit = query.get("marker") or "", page_size(request)
    shown = [message for message in found if message.id > marker][:limit]
    marker = shown[-1].id if shown else ""
    flags = {name: str(bool(query.boolean(name))).lower() for name in ("echo", "include_claimed")}
    options = {"marker": marker, "limit": limit, **flags}
    links = [{"rel": "next", "href": f"/v2/queues/{name}/messages?{urlencode(options)}"}] if shown else []
    return Response({"messages": [message_view(messaging, name, message) for message in shown], "links": links})


def show(messaging: Messaging, request: Request) -> Response:
    return Response(message_view(messaging, name_in(request), _message(messaging, request)))


def delete_many(messaging: Messaging, request: Request) -> Response:
    """Delete the messages with the IDs; or delete and return the oldest free ones (`pop`)."""
    queue, query = queue_of(messaging, request), request.query
    ids, number = query.get("ids"), integer_in(request, "pop")
    if ids is None and number is None:
        expected = 'either "ids" or "pop" parameter in the request, to be able to delete'
        raise bad_request(f"The request should have {expected}.")
    if ids is not None and number is not None:
        raise bad_request("ids cannot be given with pop.")
    if ids is not None:
        _delete_named(messaging, _named(messaging.messages.waiting(queue), ids), query.get("claim_ids"))
        return Response(status=204)
    if query.get("claim_ids") is not None:
        raise bad_request("claim_ids cannot be given with pop.")
    if number is None or not 1 <= number <= MOST_AT_ONCE:
        raise bad_request(f"Pop value must be at least 1 and may not be greater than {MOST_AT_ONCE}.")
    free = [message for message in messaging.messages.waiting(queue) if messaging.claims.of(message) is None][:number]
    popped = [_popped(messaging, name_in(request), message) for message in free]
    for message in free:
        messaging.messages.rows.remove(message)
    return Response({"messages": popped})


def _popped(messaging: Messaging, name: str, message: Message) -> dict[str, object]:
    """A message as Zaqar shows it when it is popped, which is a claim that ends at once."""
    shown = message_view(messaging, name, message)
    shown.pop("href")
    return {**shown, "claim_id": new_id(), "claim_count": message.claim_count}


def _named(messages: list[Message], ids: str) -> list[Message]:
    """Return the messages with the IDs of a query. Raises ApiError 400 for too many."""
    message_ids = ids.split(",")
    if len(message_ids) > MOST_AT_ONCE:
        raise bad_request(f"The limit of messages at once is {MOST_AT_ONCE}.")
    return [message for message in messages if message.id in message_ids]


def _delete_named(messaging: Messaging, found: list[Message], claims: str | None) -> None:
    """Delete messages, which must all be of one of the claims, if these are given."""
    if claims is not None:
        held = set(claims.split(","))
        if any(messaging.claims.of(message) not in held for message in found):
            raise bad_request("The specified claim does not exist or has expired.")
    for message in found:
        messaging.messages.rows.remove(message)


def delete(messaging: Messaging, request: Request) -> Response:
    """Delete a message, with `claim_id` if it is claimed; one that does not exist is no error."""
    try:
        message = _message(messaging, request)
    except ApiError as error:
        if error.status != 404:
            raise
        return Response(status=204)
    messaging.claims.require_holder(message, request.query.get("claim_id"))
    messaging.messages.rows.remove(message)
    return Response(status=204)


def _message(messaging: Messaging, request: Request) -> Message:
    project, name, message_id = project_of(messaging, request), name_in(request), request.vars["message_id"]
    found = next(
        (message for message in messaging.messages.waiting(place(project, name)) if message.id == message_id), None
    )
    if found is None:
        raise not_found(f"Message {message_id} does not exist in queue {name} for project {project}")
    return found
