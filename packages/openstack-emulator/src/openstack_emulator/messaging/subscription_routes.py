"""Subscriptions: who gets the messages of a queue."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Record
from openstack_emulator.messaging.access import project_of
from openstack_emulator.messaging.http import links_after, object_of, page_size
from openstack_emulator.messaging.records import MessagingRecords, place, trust_of


def create(zaqar: MessagingRecords, request: Request) -> Response:
    name = request.vars["name"]
    made = zaqar.subscribe(request, project_of(zaqar, request), name, object_of(request))
    return Response({"subscription_id": made["id"]}, 201, {"Location": _location(made)})


def index(zaqar: MessagingRecords, request: Request) -> Response:
    rows = zaqar.living_subscriptions(place(project_of(zaqar, request), request.vars["name"]))
    found = page(rows, request.query, page_size(request))
    shown = [_view(zaqar, row) for row in found.rows]
    return Response({"subscriptions": shown, "links": links_after(request, found.rows, "id")})


def show(zaqar: MessagingRecords, request: Request) -> Response:
    return Response(_view(zaqar, _subscription(zaqar, request)))


def update(zaqar: MessagingRecords, request: Request) -> Response:
    subscription = _subscription(zaqar, request)
    zaqar.change_subscription(request, subscription, object_of(request))
    return Response(status=204, headers={"Location": _location(subscription)})


def delete(zaqar: MessagingRecords, request: Request) -> Response:
    """Delete a subscription; one that is gone already is no error."""
    queue = place(project_of(zaqar, request), request.vars["name"])
    for known in zaqar.living_subscriptions(queue):
        if known["id"] == request.vars["subscription_id"]:
            zaqar.unsubscribe(known)
    return Response(status=204)


def confirm(zaqar: MessagingRecords, request: Request) -> Response:
    """Note that the subscriber wants the messages, or does not."""
    subscription, confirmed = _subscription(zaqar, request), object_of(request).get("confirmed")
    if not isinstance(confirmed, bool):
        raise bad_request("The 'confirmed' should be boolean.")
    zaqar.subscriptions.update(subscription, confirmed=confirmed)
    return Response(status=204)


def _subscription(zaqar: MessagingRecords, request: Request) -> Record:
    queue = place(project_of(zaqar, request), request.vars["name"])
    return zaqar.subscription(queue, request.vars["subscription_id"])


def _location(subscription: Record) -> str:
    return f"/v2/queues/{subscription['source']}/subscriptions/{subscription['id']}"


def _view(zaqar: MessagingRecords, subscription: Record) -> dict[str, Any]:
    shown = {name: subscription[name] for name in ("id", "source", "subscriber", "ttl", "options")}
    if trust := trust_of(subscription):
        shown["options"] = {**shown["options"], "trust_id": trust}
    return {
        **shown,
        "age": int(zaqar.cloud.clock.now() - subscription["created"]),
        "confirmed": subscription.get("confirmed", True),
    }
