"""Convert errors to HTTP responses: statuses and the format of the body.

Statuses and bodies are those of Heat's REST API; tests/api/test_api_answers.py has examples.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from stoker.base.errors import (
    AnswerMismatch,
    Bug,
    CloudError,
    DatabaseUnavailable,
    Fenced,
    Forbidden,
    Invalid,
    NotFound,
    Overloaded,
    ReleaseMismatch,
    StokerError,
    TemplateInvalid,
    UserError,
)
from stoker.base.ids import new_id
from stoker.rpc.contract import EngineUnavailable

_log = logging.getLogger(__name__)


class BadRequest(Invalid):
    """The request itself is malformed: its body, a parameter, a header."""

    @property
    def kind(self) -> str:
        return "HTTPBadRequest"


class NotAllowed(Forbidden):
    """Policy, or the project in the URL, does not allow the request."""

    @property
    def kind(self) -> str:
        return "HTTPForbidden"


class NoSuchPath(NotFound):
    """The URL refers to nothing that exists."""

    @property
    def kind(self) -> str:
        return "HTTPNotFound"


class Unauthenticated(UserError):
    """The request has no token, or one that the identity service does not accept."""

    status = 401

    @property
    def kind(self) -> str:
        return "HTTPUnauthorized"


class MethodNotAllowed(UserError):
    """The URL exists but does not support the method."""

    status = 405

    @property
    def kind(self) -> str:
        return "HTTPMethodNotAllowed"


class IdentityUnavailable(StokerError):
    """The identity service does not respond, so that tokens cannot be checked."""

    @property
    def kind(self) -> str:
        return "HTTPServiceUnavailable"


EXPLANATIONS: dict[int, str] = {
    400: "The request is malformed or impossible.",
    401: "The request needs a valid token of the identity service.",
    403: "The caller is not allowed to make this request.",
    404: "The requested object does not exist.",
    405: "The URL does not support this method.",
    409: "The current state of the resource does not allow the request.",
    500: "The service failed to execute the request.",
    502: "A service that the request needs failed.",
    503: "The service is unavailable; try again later.",
}
"""The general description of each status; `error.message` has the description of the error itself."""


_REFUSALS = {401: 403, 403: 403, 409: 409, 413: 403, 429: 403}
"""The status for a request that another service refused, by that service's status. Other 4xx become 400: a 404 would
mean that the stack does not exist, a 401 that the caller's own token is invalid.
"""


def _status_of_cloud(error: CloudError) -> int:
    """Return the HTTP status for an error or refusal of another service."""
    if error.transient or error.status == 0:
        return 503
    if 400 <= error.status < 500:
        return _REFUSALS.get(error.status, 400)
    return 502


def status_of(error: StokerError) -> int:
    """Return the HTTP status for `error`."""
    match error:
        case UserError():
            return error.status
        case (
            EngineUnavailable()
            | IdentityUnavailable()
            | DatabaseUnavailable()
            | Overloaded()
            | ReleaseMismatch()
            | AnswerMismatch()
            | Fenced()
        ):
            return 503
        case CloudError():
            return _status_of_cloud(error)
        case _:
            return 500


def fault_body(error: StokerError) -> dict[str, Any]:
    """Return the JSON body for `error`. It includes the diagnostics of a template as data, and never a traceback."""
    status = status_of(error)
    body: dict[str, Any] = {
        "code": status,
        "title": HTTPStatus(status).phrase,
        "explanation": EXPLANATIONS[status],
        "error": {"type": error.kind, "message": message_of(error), "traceback": None},
    }
    if isinstance(error, TemplateInvalid):
        body["error"]["diagnostics"] = [diagnostic.to_dict() for diagnostic in error.diagnostics]
    return body


def as_stoker_error(error: Exception) -> StokerError:
    """Return `error`, or for an unexpected error a `Bug` with the reference under which it has been logged."""
    if isinstance(error, StokerError) and not isinstance(error, Bug):
        return error
    bug = error if isinstance(error, Bug) else Bug("The API failed unexpectedly.")
    if not bug.reference:
        bug.reference = new_id()
    _log.error("Reference %s: %s", bug.reference, error, exc_info=error)
    return bug


def message_of(error: StokerError) -> str:
    """Return the message for the caller: only the reference of a `Bug`; the service's name before its refusal."""
    if isinstance(error, Bug):
        return f"Internal error; quote this reference to the operator of the service: {error.reference}"
    if isinstance(error, CloudError):
        return f"{error.service}: {error.message}"
    return error.message
