"""From errors to HTTP: one map of statuses, one shape of body.

Facts: rest_api.json, error_body and exceptions; engine.yaml, errors.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from stoker.base.errors import (
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
    """Policy, or the project in the URL, forbids the request."""

    @property
    def kind(self) -> str:
        return "HTTPForbidden"


class NoSuchPath(NotFound):
    """The URL names nothing that exists."""

    @property
    def kind(self) -> str:
        return "HTTPNotFound"


class Unauthenticated(UserError):
    """The request carries no token, or none that the identity service accepts."""

    status = 401

    @property
    def kind(self) -> str:
        return "HTTPUnauthorized"


class MethodNotAllowed(UserError):
    """The URL exists and has no such method."""

    status = 405

    @property
    def kind(self) -> str:
        return "HTTPMethodNotAllowed"


class IdentityUnavailable(StokerError):
    """The identity service does not answer, so that no token can be checked."""

    @property
    def kind(self) -> str:
        return "HTTPServiceUnavailable"


EXPLANATIONS: dict[int, str] = {
    400: "The request is malformed or asks for something that is not possible.",
    401: "The request needs a valid token of the identity service.",
    403: "The caller may not do this.",
    404: "What the request names does not exist.",
    405: "The URL does not have this method.",
    409: "The state of the resource does not allow the request now.",
    500: "The service failed to carry the request out.",
    502: "A service that the request needs failed.",
    503: "The service cannot answer now; try again later.",
}
"""The general text of each status; what went wrong in particular stands in `error.message`."""


_REFUSALS = {401: 403, 403: 403, 409: 409, 413: 403, 429: 403}
"""The answer to a request that another service refused, by the service's status. Other 4xx are 400: a 404 would say
that the stack does not exist, a 401 that the caller's own token is not valid.
"""


def _status_of_cloud(error: CloudError) -> int:
    """The HTTP status of a request that ends because another service refused or failed."""
    if error.transient or error.status == 0:
        return 503
    if 400 <= error.status < 500:
        return _REFUSALS.get(error.status, 400)
    return 502


def status_of(error: StokerError) -> int:
    """The HTTP status of an answer to a request that ends with `error`."""
    match error:
        case UserError():
            return error.status
        case (
            EngineUnavailable()
            | IdentityUnavailable()
            | DatabaseUnavailable()
            | Overloaded()
            | ReleaseMismatch()
            | Fenced()
        ):
            return 503
        case CloudError():
            return _status_of_cloud(error)
        case _:
            return 500


def fault_body(error: StokerError) -> dict[str, Any]:
    """The JSON body for `error`. Diagnostics of a template are also given as data; a traceback never is."""
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
    """`error`, or for a stranger a `Bug` under whose reference it has been logged in full."""
    if isinstance(error, StokerError) and not isinstance(error, Bug):
        return error
    bug = error if isinstance(error, Bug) else Bug("The API failed unexpectedly.")
    if not bug.reference:
        bug.reference = new_id()
    _log.error("Reference %s: %s", bug.reference, error, exc_info=error)
    return bug


def message_of(error: StokerError) -> str:
    """The message for the caller: of a `Bug` only its reference, of a refusal the service that it comes from."""
    if isinstance(error, Bug):
        return f"The service made a mistake. Tell its operator this reference: {error.reference}"
    if isinstance(error, CloudError):
        return f"{error.service}: {error.message}"
    return error.message
