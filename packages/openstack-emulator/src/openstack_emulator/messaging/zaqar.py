"""The messaging service: its table of routes.

Messages reach subscribers that are web hooks (http, https, and these with a token of a trust); subscriptions of other
kinds are kept, and get nothing.
Version 1.1, which agents in older images speak, is answered as version 2 is.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Routes, Service
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, media_type
from openstack_emulator.messaging import claims, message_routes, queue_routes, subscription_routes
from openstack_emulator.messaging.records import MessagingRecords

_QUEUE = "/queues/{name}"

ROUTES: Routes = {
    "/queues": {"GET": queue_routes.index},
    _QUEUE: {
        "GET": queue_routes.show,
        "PUT": queue_routes.create,
        "PATCH": queue_routes.update,
        "DELETE": queue_routes.delete,
    },
    f"{_QUEUE}/stats": {"GET": queue_routes.stats},
    f"{_QUEUE}/purge": {"POST": queue_routes.purge},
    f"{_QUEUE}/share": {"POST": queue_routes.sign},
    f"{_QUEUE}/messages": {
        "GET": message_routes.index,
        "POST": message_routes.create,
        "DELETE": message_routes.delete_many,
    },
    f"{_QUEUE}/messages/{{message_id}}": {"GET": message_routes.show, "DELETE": message_routes.delete},
    f"{_QUEUE}/claims": {"POST": claims.create},
    f"{_QUEUE}/claims/{{claim_id}}": {"GET": claims.show, "PATCH": claims.update, "DELETE": claims.delete},
    f"{_QUEUE}/subscriptions": {"GET": subscription_routes.index, "POST": subscription_routes.create},
    f"{_QUEUE}/subscriptions/{{subscription_id}}": {
        "GET": subscription_routes.show,
        "PATCH": subscription_routes.update,
        "DELETE": subscription_routes.delete,
    },
    f"{_QUEUE}/subscriptions/{{subscription_id}}/confirm": {"PUT": subscription_routes.confirm},
}


_VERSION = ApiVersion(
    "2",
    ({"rel": "self", "href": "/v2/"},),
    details={"updated": "2014-9-24T04:06:47Z", "media-types": [media_type("messaging-v2")]},
)


def ping(zaqar: MessagingRecords, request: Request) -> Response:
    return Response(status=204)


MESSAGING = Service(
    name="zaqar",
    mount="/messaging",
    records=MessagingRecords,
    endpoints={"messaging": "/messaging"},
    prefixes=("/v2", "/v1.1"),
    routes={**ROUTES, "/ping": {"GET": ping}},
    root={"/": {"GET": all_versions(_VERSION, status=300)}},
    error_body=error_bodies.zaqar,
    error_headers={"Vary": "Accept"},
    optional_token=True,
)
