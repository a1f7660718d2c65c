"""All routes of the messaging service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, media_type
from openstack_emulator.messaging.routes import claims, messages, queues, subscriptions
from openstack_emulator.messaging.rules.composition import Messaging

Routes = Mapping[str, Mapping[str, Callable[[Messaging, Request], Response]]]

_VERSION = ApiVersion(
    "2",
    ({"rel": "self", "href": "/v2/"},),
    details={"updated": "2014-9-24T04:06:47Z", "media-types": [media_type("messaging-v2")]},
)


def ping(messaging: Messaging, request: Request) -> Response:
    return Response(status=204)


ROUTES: Routes = {
    "/ping": {"GET": ping},
    "/queues": {"GET": queues.index},
    "/queues/{name}": {
        "GET": queues.show,
        "PUT": queues.create,
        "PATCH": queues.update,
        "DELETE": queues.delete,
    },
    "/queues/{name}/claims": {"POST": claims.create},
    "/queues/{name}/claims/{claim_id}": {"GET": claims.show, "PATCH": claims.update, "DELETE": claims.delete},
    "/queues/{name}/messages": {"GET": messages.index, "POST": messages.create, "DELETE": messages.delete_many},
    "/queues/{name}/messages/{message_id}": {"GET": messages.show, "DELETE": messages.delete},
    "/queues/{name}/purge": {"POST": queues.purge},
    "/queues/{name}/share": {"POST": queues.sign},
    "/queues/{name}/stats": {"GET": queues.stats},
    "/queues/{name}/subscriptions": {"GET": subscriptions.index, "POST": subscriptions.create},
    "/queues/{name}/subscriptions/{subscription_id}": {
        "GET": subscriptions.show,
        "PATCH": subscriptions.update,
        "DELETE": subscriptions.delete,
    },
    "/queues/{name}/subscriptions/{subscription_id}/confirm": {"PUT": subscriptions.confirm},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": all_versions(_VERSION, status=300)}}
"""What is directly below the mount: the versions."""
