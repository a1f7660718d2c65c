"""Query parameters that routes accept: others are refused by services that check them against a schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.http import Request, Response

Refuse = Callable[[Request, str], None]


def accepting(routes: Routes, names: Mapping[str, Collection[str]], refuse: Refuse) -> Routes:
    """The routes; a GET of the patterns among `names` accepts these query parameters only.

    refuse: raises the service's error for the first parameter that is not accepted; it may return without raising,
    for example for older microversions.

    Raises: ValueError for a pattern that is not routed.
    """
    if unknown := names.keys() - routes.keys():
        raise ValueError(f"queries of routes that do not exist: {sorted(unknown)}")
    return {
        pattern: {
            method: _accepting(handler, frozenset(names[pattern]), refuse)
            if method == "GET" and pattern in names
            else handler
            for method, handler in methods.items()
        }
        for pattern, methods in routes.items()
    }


def _accepting(handler: Handler, names: frozenset[str], refuse: Refuse) -> Handler:
    @wraps(handler)
    def serve(records: object, request: Request) -> Response:
        if unknown := next((name for name, _ in request.query.pairs if name not in names), None):
            refuse(request, unknown)
        return handler(records, request)

    return serve
