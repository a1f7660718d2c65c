"""Who may call a route or a table of routes, and since which microversion."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response, Version

C = TypeVar("C")
_READING = frozenset({"GET", "HEAD"})


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


def restricted(routes: Routes, reading: Collection[str], changing: Collection[str]) -> Routes:
    """Return routes that answer 403 to callers without one of the roles for reading or, by method, for changes.

    Administrators have every role.
    """
    return {
        pattern: {
            method: _for_roles(handler, reading if method in _READING else changing)
            for method, handler in methods.items()
        }
        for pattern, methods in routes.items()
    }


def _for_roles(handler: Handler, roles: Collection[str]) -> Handler:
    def checked(records: object, request: Request) -> Response:
        request.context.require(*roles)
        return handler(records, request)

    return checked
