"""Neutron's errors: `{"NeutronError": {"type", "message", "detail"}}`."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found

TYPES = {
    400: "HTTPBadRequest",
    401: "HTTPUnauthorized",
    403: "PolicyNotAuthorized",
    404: "HTTPNotFound",
    405: "HTTPMethodNotAllowed",
    409: "HTTPConflict",
    412: "HTTPPreconditionFailed",
    429: "HTTPTooManyRequests",
    500: "HTTPInternalServerError",
    503: "HTTPServiceUnavailable",
}


def neutron_body(error: ApiError) -> dict[str, Any]:
    """The body of an error; one without a kind gets the name of its status."""
    kind = error.kind or TYPES.get(error.status, "HTTPError")
    return {"NeutronError": {"type": kind, "message": error.message, "detail": ""}}


def missing(name: str, label: str, key: str) -> ApiError:
    """404: `NetworkNotFound`, "Network <id> could not be found."."""
    return not_found(f"{label} {key} could not be found.", f"{name}NotFound")


def invalid(field: str, reason: str) -> ApiError:
    """400 for a value that is not acceptable in itself."""
    return bad_request(f"Invalid input for {field}. Reason: {reason}", "HTTPBadRequest")


def invalid_input(message: str) -> ApiError:
    """400 for values that do not go together."""
    return bad_request(f"Invalid input for operation: {message}", "InvalidInput")


def disallowed(rule: str) -> ApiError:
    """403 of a policy rule: `create_network:shared`."""
    return forbidden(f"rule:{rule} is disallowed by policy", "PolicyNotAuthorized")


def in_use(kind: str, message: str) -> ApiError:
    return conflict(message, kind)
