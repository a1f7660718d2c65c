"""Who may call a route, and since which microversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stoker.emulator.core.errors import not_found
from stoker.emulator.core.http import Request, Response, Version

C = TypeVar("C")


def since(version: Version, handler: Callable[[C, Request], Response]) -> Callable[[C, Request], Response]:
    """The handler from a microversion on; 404 before."""

    def serve(component: C, request: Request) -> Response:
        if request.version < version:
            raise not_found("The resource could not be found.")
        return handler(component, request)

    return serve


def admin(handler: Callable[[C, Request], Response]) -> Callable[[C, Request], Response]:
    """The handler for admins; 403 for others."""

    def serve(component: C, request: Request) -> Response:
        request.context.require()
        return handler(component, request)

    return serve
