"""Subscriptions over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.messaging.records import Subscription
from openstack_emulator.messaging.routes.access import name_in, project_of, queue_of
from openstack_emulator.messaging.routes.bodies import links_after, object_of, page_size
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.messaging.views import subscription_view


def create(messaging: Messaging, request: Request) -> Response:
    project = project_of(messaging, request)
    subscription = messaging.subscriptions.subscribe(request, project, name_in(request), object_of(request))
    return Response({"subscription_id": subscription.id}, 201, {"Location": _location(subscription)})


def index(messaging: Messaging, request: Request) -> Response:
    rows = messaging.subscriptions.current(queue_of(messaging, request))
    found = page(rows, request.query, page_size(request))
    shown = [subscription_view(messaging, row) for row in found.rows]
    return Response({"subscriptions": shown, "links": links_after(request, found.rows, "id")})


def show(messaging: Messaging, request: Request) -> Response:
    return Response(subscription_view(messaging, _subscription(messaging, request)))


def update(messaging: Messaging, request: Request) -> Response:
    subscription = _subscription(messaging, request)
    messaging.subscriptions.change(request, subscription, object_of(request))
    return Response(status=204, headers={"Location": _location(subscription)})


def delete(messaging: Messaging, request: Request) -> Response:
    """Delete a subscription; one that is gone already is no error."""
    key = request.vars["subscription_id"]
    for known in messaging.subscriptions.current(queue_of(messaging, request)):
        if known.id == key:
            messaging.subscriptions.unsubscribe(known)
    return Response(status=204)


def confirm(messaging: Messaging, request: Request) -> Response:
    """Note that the subscriber wants the messages, or does not."""
    subscription, confirmed = _subscription(messaging, request), object_of(request).get("confirmed")
    if not isinstance(confirmed, bool):
        raise bad_request("The 'confirmed' should be boolean.")
    messaging.subscriptions.confirm(subscription, confirmed)
    return Response(status=204)


def _subscription(messaging: Messaging, request: Request) -> Subscription:
    return messaging.subscriptions.find(queue_of(messaging, request), request.vars["subscription_id"])


def _location(subscription: Subscription) -> str:
    return f"/v2/queues/{subscription.source}/subscriptions/{subscription.id}"
