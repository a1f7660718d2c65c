"""One error for all services; each service renders it in its own body shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any


class ApiError(Exception):
    """A request is refused.

    `kind` is the name some services put into the body (Neutron's `type`, Designate's `zone_not_found`);
    `details` are further body fields of services that have them. `request_id` and `accept`, the media types that the
    client accepts, are set when the error is answered, for services whose body depends on them. `names_versions` says
    whether the answer has the headers of microversions, in services that have such.
    """

    request_id = ""
    accept = ""
    names_versions = True

    def __init__(
        self,
        status: int,
        message: str,
        kind: str | None = None,
        headers: Mapping[str, str] | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.headers = dict(headers or {})
        self.details = details

    @property
    def title(self) -> str:
        """The reason phrase of the status: `Not Found`."""
        return reason(self.status)


class RolesLacking(ApiError):
    """403 for a caller who has none of the roles that a request needs."""

    def __init__(self, roles: Sequence[str]) -> None:
        super().__init__(403, f"This request needs one of the roles {', '.join(roles)}.")


def reason(status: int) -> str:
    """The standard phrase of an HTTP status; empty for an unknown one."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def bad_request(message: str, kind: str | None = None) -> ApiError:
    """An error with the status 400."""
    return ApiError(400, message, kind)


def forbidden(message: str, kind: str | None = None) -> ApiError:
    """An error with the status 403."""
    return ApiError(403, message, kind)


def not_found(message: str, kind: str | None = None) -> ApiError:
    """An error with the status 404."""
    return ApiError(404, message, kind)


def conflict(message: str, kind: str | None = None) -> ApiError:
    """An error with the status 409."""
    return ApiError(409, message, kind)


FAULT_NAMES = {
    400: "badRequest",
    401: "unauthorized",
    403: "forbidden",
    404: "itemNotFound",
    405: "badMethod",
    409: "conflictingRequest",
    413: "overLimit",
    415: "badMediaType",
    429: "overLimit",
    501: "notImplemented",
    503: "serviceUnavailable",
}


def fault_body(error: ApiError, message: str | None = None) -> dict[str, object]:
    """The body of Nova, Cinder and Manila: `{"itemNotFound": {"code": 404, "message": "…"}}`.

    message: what it says instead of the error's message.
    """
    name = error.kind or FAULT_NAMES.get(error.status, "computeFault")
    shown = error.message if message is None else message
    return {name: {"code": error.status, "message": shown, **error.details}}


def keystone_body(error: ApiError) -> dict[str, object]:
    """The body of Keystone, and of the token check that stands before every other service."""
    return {"error": {"code": error.status, "title": error.title, "message": error.message, **error.details}}
