"""The object store: its table of routes."""

from __future__ import annotations

from functools import wraps
from uuid import uuid4

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Handler, Routes, Service
from openstack_emulator.core.error_bodies import HTML
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore import account_routes, container_routes, info_routes, object_routes
from openstack_emulator.objectstore.errors import EXPLANATIONS
from openstack_emulator.objectstore.info_routes import NoRecords
from openstack_emulator.objectstore.records import ObjectStoreRecords
from openstack_emulator.objectstore.static_web import container_page, site_page
from openstack_emulator.objectstore.syncing import SyncedRecords

ROUTES: Routes = {
    "/{account}": {
        "HEAD": account_routes.head,
        "GET": account_routes.index,
        "PUT": account_routes.put,
        "POST": account_routes.post,
        "DELETE": account_routes.delete,
    },
    "/{account}/{container}": {
        "HEAD": container_page(container_routes.head, object_routes.get),
        "GET": container_page(container_routes.index, object_routes.get),
        "PUT": container_routes.put,
        "POST": container_routes.post,
        "DELETE": container_routes.delete,
    },
    "/{account}/{container}/{object:*}": {
        "GET": site_page(object_routes.get),
        "PUT": object_routes.put,
        "POST": object_routes.post,
        "DELETE": object_routes.delete,
        "COPY": object_routes.copied,
    },
}


def traced(handler: Handler) -> Handler:
    """The handler with what every answer of Swift carries, errors included: a transaction id, which is the ID of the
    request too, a content type, and for requests that are accepted a page."""

    @wraps(handler)
    def answer(swift: ObjectStoreRecords, request: Request) -> Response:
        request.id = f"tx{uuid4().hex[:21]}-{int(swift.cloud.clock.now()):010x}"
        try:
            response = handler(swift, request)
        except ApiError as error:
            response = Response(error_bodies.swift(error), error.status, error.headers)
        if response.status == 202 and not response.body:
            response.body = error_bodies.swift_page("Accepted", EXPLANATIONS[202])
        response.headers.setdefault("Content-Type", HTML)
        response.headers["X-Trans-Id"] = request.id
        return response

    return answer


OBJECT_STORE = Service(
    name="swift",
    mount="/object-store",
    records=SyncedRecords,
    endpoints={"object-store": "/object-store/v1/AUTH_%(project_id)s"},
    prefixes=("/v1",),
    routes={
        pattern: {method: traced(handler) for method, handler in methods.items()} for pattern, methods in ROUTES.items()
    },
    root={
        "/info": {"GET": info_routes.info},
        "/healthcheck": {"GET": traced(info_routes.is_healthy)},
        "/crossdomain.xml": {"GET": traced(info_routes.cross_domain_policy)},
    },
    optional_token=True,
    error_body=error_bodies.swift,
)
"""Accounts, containers and objects."""

OBJECT_STORE_INFO = Service(
    name="swift-info",
    mount="/info",
    records=NoRecords,
    endpoints={},
    routes={"/": {"GET": info_routes.info}},
    optional_token=True,
    error_body=error_bodies.swift,
)
"""`/info` at the root of the cloud: clients make its address from the host alone."""
