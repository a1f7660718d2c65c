"""The media types of bodies."""

from __future__ import annotations

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.metric.rules.validation import invalid

_JSON = ("application/json", "application/json-patch+json")


def json_only(routes: Routes) -> Routes:
    """Routes that refuse a body which is no JSON, or of another media type."""
    return {
        path: {name: _checked(handler) if name in ("POST", "PATCH") else handler for name, handler in methods.items()}
        for path, methods in routes.items()
    }


def _checked(handler: Handler) -> Handler:
    def serve(records: object, request: Request) -> Response:
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media not in _JSON and (media or request.body):
            raise ApiError(415, f"The media type {media!r} is not supported: use application/json.")
        if request.body:
            try:
                _ = request.json
            except ApiError as error:
                raise invalid("Expected object or value", cause="Unable to decode body") from error
        return handler(records, request)

    return serve
