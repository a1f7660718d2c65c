"""Convert errors to error responses of the Query API: an error code, a message, an HTTP status.

The codes and statuses are those of AWS CloudFormation's API reference, which clients compare.
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
from stoker.api.values import MissingValue, RepeatedField, UnexpectedValue, UnknownField, ValueOutOfRange
from stoker.base.errors import (
    AnswerMismatch,
    CloudError,
    DatabaseUnavailable,
    Fenced,
    Forbidden,
    Overloaded,
    ReleaseMismatch,
    RequestLimitExceeded,
    StackExists,
    StokerError,
    TokenRejected,
    UserError,
)
from stoker.rpc.contract import EngineUnavailable


class QueryError(UserError):
    """An error with its own code, one of `STATUSES`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


STATUSES: Mapping[str, int] = {
    "AccessDenied": 403,
    "AlreadyExistsException": 400,
    "ChangeSetNotFound": 404,
    "ConcurrentResourcesLimitExceeded": 429,
    "GeneratedTemplateNotFound": 404,
    "HookResultNotFound": 404,
    "IncompleteSignature": 400,
    "InternalFailure": 500,
    "InvalidAction": 400,
    "InvalidClientTokenId": 403,
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
    "ResourceScanInProgress": 400,
    "ResourceScanNotFound": 400,
    "ServiceUnavailable": 503,
    "SignatureDoesNotMatch": 403,
    "StackRefactorNotFoundException": 404,
    "Throttling": 400,
    "TokenAlreadyExistsException": 400,
    "TypeNotFoundException": 404,
    "ValidationError": 400,
}
"""HTTP statuses of the codes."""

_CODES: tuple[tuple[type[StokerError], str], ...] = (
    (MissingValue, "MissingParameter"),
    (RepeatedField, "InvalidParameterCombination"),
    (UnknownField, "InvalidQueryParameter"),
    (ValueOutOfRange, "ValidationError"),
    (UnexpectedValue, "InvalidParameterValue"),
    (StackExists, "AlreadyExistsException"),
    (RequestLimitExceeded, "LimitExceededException"),
    (TokenRejected, "InvalidClientTokenId"),
    (Forbidden, "AccessDenied"),
    (NoSuchPath, "MalformedQueryString"),
    (MethodNotAllowed, "InvalidAction"),
    (UserError, "ValidationError"),
    (EngineUnavailable, "ServiceUnavailable"),
    (IdentityUnavailable, "ServiceUnavailable"),
    (Fenced, "ServiceUnavailable"),
    (Overloaded, "ServiceUnavailable"),
    (ReleaseMismatch, "ServiceUnavailable"),
    (AnswerMismatch, "ServiceUnavailable"),
    (DatabaseUnavailable, "ServiceUnavailable"),
)
"""The first class that matches an error determines its code; other errors are internal errors."""


_REFUSALS = {400: "ValidationError", 403: "AccessDenied", 409: "ValidationError"}
"""Codes for refusals of other services, by the status that the REST API returns for them."""


def code_of(error: StokerError) -> str:
    """Return the error code of `error`."""
    match error:
        case QueryError():
            return error.code
        case CloudError():
            return _REFUSALS.get(status_of(error), "ServiceUnavailable")
        case _:
            return next((code for kind, code in _CODES if isinstance(error, kind)), "InternalFailure")


def fault_document(error: Exception, request_id: str) -> tuple[int, dict[str, Any]]:
    """Return status and error document for `error`.

    An unexpected error is logged; the client receives its reference.
    """
    known = as_stoker_error(error)
    code = code_of(known)
    status = STATUSES[code]
    description = {"Type": "Sender" if status < 500 else "Server", "Code": code, "Message": message_of(known)}
    return status, {"ErrorResponse": {"Error": description, "RequestId": request_id}}
