"""Requests of one service to the API of another, on behalf of the caller."""

from __future__ import annotations

from typing import Any

import orjson

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request


def call_service(cloud: Cloud, origin: Request, method: str, path: str, body: object = None, query: str = "") -> Any:
    """The JSON of another service's answer to the caller of the request that is being served.

    path: from the root of the cloud, `/network/v2.0/ports`.
    Raises: ApiError with the status and message of the other service's error.
    """
    mount, _, rest = path.lstrip("/").partition("/")
    mounted = cloud.service_at(mount)
    if mounted is None:
        raise ApiError(503, f"This cloud has no service at /{mount}.")
    service = mounted.service
    request = Request(method, f"/{rest}", query, body=b"" if body is None else orjson.dumps(body))
    request.base, request.id, request.caller = cloud.endpoint + service.mount, origin.id, origin.caller
    if service.microversions is not None:
        request.version = service.microversions.default
    target, request.vars = mounted.router.match(method, request.path)
    try:
        return target.handler(mounted.records, request).body
    except ApiError as error:
        raise ApiError(error.status, error.message) from None
