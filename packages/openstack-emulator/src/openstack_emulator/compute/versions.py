"""Calls that only some microversions have."""

from __future__ import annotations

from functools import wraps
from typing import Any

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response, Version

MAXIMUM: Version = (2, 100)
"""The newest microversion that is spoken."""


def only(routes: Routes, first: Version = (2, 1), last: Version = MAXIMUM) -> Routes:
    """The routes, unknown (404) to requests of other microversions."""
    return {
        pattern: {method: _only(handler, first, last) for method, handler in methods.items()}
        for pattern, methods in routes.items()
    }


def _only(handler: Handler, first: Version, last: Version) -> Handler:
    @wraps(handler)
    def serve(records: Any, request: Request) -> Response:
        if not first <= request.version <= last:
            raise not_found("The resource could not be found.")
        return handler(records, request)

    return serve
