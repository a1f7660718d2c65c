"""All routes of the object store, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from uuid import uuid4

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.error_bodies import HTML
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.routes import accounts, containers, info, objects
from openstack_emulator.objectstore.routes.static_web import container_page, site_page
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import EXPLANATIONS

Routes = Mapping[str, Mapping[str, Callable[[ObjectStore, Request], Response]]]
ROUTES: Routes = {
    "/{account}": {
        "HEAD": accounts.head,
        "GET": accounts.index,
        "PUT": accounts.put,
        "POST": accounts.post,
        "DELETE": accounts.delete,
    },
    "/{account}/{container}": {
        "HEAD": container_page(containers.head, objects.get),
        "GET": container_page(containers.index, objects.get),
        "PUT": containers.put,
        "POST": containers.post,
        "DELETE": containers.delete,
    },
    "/{account}/{container}/{object:*}": {
        "GET": site_page(objects.get),
        "PUT": objects.put,
        "POST": objects.post,
        "DELETE": objects.delete,
        "COPY": objects.copied,
    },
}


def traced(handler: Handler) -> Handler:
    """The handler with what every answer of Swift carries, errors included: a transaction id, which is the ID of the
    request too, a content type, and for requests that are accepted a page."""

    @wraps(handler)
    def answer(swift: ObjectStore, request: Request) -> Response:
        request.id = f"tx{uuid4().hex[:21]}-{int(swift.ticks.now()):010x}"
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


ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/crossdomain.xml": {"GET": traced(info.cross_domain_policy)},
    "/healthcheck": {"GET": traced(info.is_healthy)},
    "/info": {"GET": info.info},
}
"""What is directly below the mount."""
