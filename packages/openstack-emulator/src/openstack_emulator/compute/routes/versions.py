"""Calls that only older microversions have."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response, Version

MAXIMUM: Version = (2, 100)
"""The newest microversion that is spoken."""
Handler = Callable[[ComputeService, Request], Response]


def until(last: Version, handler: Handler) -> Handler:
    """The handler up to a microversion; 404 afterwards."""

    def serve(compute: ComputeService, request: Request) -> Response:
        if request.version > last:
            raise not_found("The resource could not be found.")
        return handler(compute, request)

    return serve
