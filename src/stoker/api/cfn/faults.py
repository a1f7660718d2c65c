"""From errors to what clients of the Query API are told: an error code, a message, an HTTP status.

Codes are those that AWS's clients look for; the statuses of common ones are facts: rest_api.json, cfn.errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.faults import (
    IdentityUnavailable,
    MethodNotAllowed,
    NoSuchPath,
    as_stoker_error,
    message_of,
    status_of,
)
from stoker.base.errors import (
    CloudError,
    DatabaseUnavailable,
    Fenced,
    Forbidden,
    Overloaded,
    ReleaseMismatch,
    RequestLimitExceeded,
    StackExists,
    StokerError,
    UserError,
)
from stoker.rpc.contract import EngineUnavailable


class QueryError(UserError):
    """A complaint under a code of its own; one of `STATUSES`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


STATUSES: Mapping[str, int] = {
    "AccessDenied": 403,
    "AlreadyExistsException": 400,
    "ChangeSetNotFound": 404,
    "IncompleteSignature": 400,
    "InternalFailure": 500,
    "InvalidAction": 400,
    "InvalidChangeSetStatus": 400,
    "InvalidParameterCombination": 400,
    "InvalidParameterValue": 400,
    "InvalidQueryParameter": 400,
    "LimitExceededException": 400,
    "MalformedQueryString": 404,
    "MissingAction": 400,
    "MissingAuthenticationToken": 403,
    "MissingParameter": 400,
    "RequestExpired": 400,
    "ServiceUnavailable": 503,
    "SignatureDoesNotMatch": 403,
    "Throttling": 400,
    "TokenAlreadyExistsException": 400,
    "TypeNotFoundException": 404,
    "ValidationError": 400,
}
"""HTTP statuses of the codes."""

_CODES: tuple[tuple[type[StokerError], str], ...] = (
    (StackExists, "AlreadyExistsException"),
    (RequestLimitExceeded, "LimitExceededException"),
    (Forbidden, "AccessDenied"),
    (NoSuchPath, "MalformedQueryString"),
    (MethodNotAllowed, "InvalidAction"),
    (UserError, "ValidationError"),
    (EngineUnavailable, "ServiceUnavailable"),
    (IdentityUnavailable, "ServiceUnavailable"),
    (Fenced, "ServiceUnavailable"),
    (Overloaded, "ServiceUnavailable"),
    (ReleaseMismatch, "ServiceUnavailable"),
    (DatabaseUnavailable, "ServiceUnavailable"),
)
"""The first class that an error is of decides; what is of none is our failure."""


_REFUSALS = {400: "ValidationError", 403: "AccessDenied", 409: "ValidationError"}
"""By the status that the other API has for the refusal of another service."""


def code_of(error: StokerError) -> str:
    """The error code by which `error` is told."""
    match error:
        case QueryError():
            return error.code
        case CloudError():
            return _REFUSALS.get(status_of(error), "ServiceUnavailable")
        case _:
            return next((code for kind, code in _CODES if isinstance(error, kind)), "InternalFailure")


def fault_document(error: Exception, request_id: str) -> tuple[int, dict[str, Any]]:
    """The status and the error document for `error`. A stranger is logged, and told by a reference only."""
    known = as_stoker_error(error)
    code = code_of(known)
    status = STATUSES[code]
    told = {"Type": "Sender" if status < 500 else "Server", "Code": code, "Message": message_of(known)}
    return status, {"ErrorResponse": {"Error": told, "RequestId": request_id}}
