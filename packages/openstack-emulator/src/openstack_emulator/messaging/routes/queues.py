"""Queues over HTTP: made, listed, described, shared, emptied."""

from __future__ import annotations

from datetime import UTC, datetime

from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.messaging.records import Message
from openstack_emulator.messaging.routes.access import name_in, project_of, project_of_token, queue_of
from openstack_emulator.messaging.routes.bodies import json_of, links_after, object_of, page_size
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.messaging.rules.queues import check_name
from openstack_emulator.messaging.rules.removal import KINDS
from openstack_emulator.messaging.rules.settings import metadata_of
from openstack_emulator.messaging.views import message_view

_PATCH = "application/openstack-messaging-v2.0-json-patch"
SHAREABLE = ("messages", "subscriptions", "claims")


def index(messaging: Messaging, request: Request) -> Response:
    project = project_of(messaging, request)
    rows = sorted(messaging.queues.rows.select(project_id=project), key=lambda queue: queue.name)
    found = page(rows, request.query, page_size(request), key="name")
    detailed = request.query.boolean("detailed")
    queues = [
        {"name": row.name, "href": f"/v2/queues/{row.name}", **({"metadata": metadata_of(row)} if detailed else {})}
        for row in found.rows
    ]
    return Response({"queues": queues, "links": links_after(request, found.rows, "name")})


def create(messaging: Messaging, request: Request) -> Response:
    name = name_in(request)
    is_new = messaging.queues.make(project_of(messaging, request), name, object_of(request))
    return Response(status=201 if is_new else 204, headers={"Location": f"/v2/queues/{name}"})


def show(messaging: Messaging, request: Request) -> Response:
    """The metadata; a queue that has not been made yet has none, and is no error."""
    project, name = project_of(messaging, request), name_in(request)
    check_name(name)
    return Response(metadata_of(messaging.queues.find(project, name)))


def update(messaging: Messaging, request: Request) -> Response:
    project, name = project_of(messaging, request), name_in(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != _PATCH:
        accepted = f"Accepted media type for PATCH: {{'Accept-Patch': '{_PATCH}'}}."
        raise ApiError(415, accepted, "415 Unsupported Media Type")
    known = messaging.queues.find(project, name)
    if known is None:
        raise not_found(f"Queue {name} does not exist for project {project}")
    messaging.queues.patch(known, json_of(request))
    return Response(metadata_of(known))


def delete(messaging: Messaging, request: Request) -> Response:
    messaging.removal.remove(project_of(messaging, request), name_in(request))
    return Response(status=204)


def stats(messaging: Messaging, request: Request) -> Response:
    """The numbers of messages, and which are the oldest and the newest."""
    name = name_in(request)
    found = messaging.messages.waiting(queue_of(messaging, request))
    claimed = sum(messaging.claims.of(message) is not None for message in found)
    shown: dict[str, object] = {"claimed": claimed, "free": len(found) - claimed, "total": len(found)}
    if found:
        shown |= {"oldest": _when(messaging, name, found[0]), "newest": _when(messaging, name, found[-1])}
    return Response({"messages": shown})


def _when(messaging: Messaging, name: str, message: Message) -> dict[str, object]:
    created = datetime.fromtimestamp(message.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    shown = message_view(messaging, name, message)
    return {"href": shown["href"], "age": shown["age"], "created": created}


def purge(messaging: Messaging, request: Request) -> Response:
    kinds = object_of(request).get("resource_types", list(KINDS))
    if not isinstance(kinds, list) or not all(kind in KINDS for kind in kinds):
        raise bad_request(f"Resource types must be a sub set of {{{', '.join(map(repr, KINDS))}}}.")
    messaging.removal.purge(queue_of(messaging, request), kinds)
    return Response(status=204)


def sign(messaging: Messaging, request: Request) -> Response:
    """Sign a URL for paths and methods. Methods that HTTP does not have are signed too, as by Zaqar."""
    project, name = project_of_token(request), name_in(request)
    check_name(name)
    body = object_of(request)
    paths, methods = body.get("paths") or ["messages"], body.get("methods") or ["GET"]
    for field, values in (("paths", paths), ("methods", methods)):
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise bad_request(f"{field} must be a list of strings.")
    if unknown := sorted({path for path in paths if path not in SHAREABLE}):
        raise bad_request(f"Invalid paths: {{{', '.join(map(repr, unknown))}}}")
    full = [f"/v2/queues/{name}/{path}" for path in sorted(paths)]
    url = messaging.signatures.sign(project, full, sorted(methods), body.get("expires"))
    return Response(
        {
            "paths": url.paths,
            "methods": url.methods,
            "expires": url.expires,
            "project": url.project,
            "signature": url.signature,
        }
    )
