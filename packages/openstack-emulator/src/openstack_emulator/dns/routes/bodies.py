"""Checks of the bodies and paths of requests to the DNS service."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request
from openstack_emulator.core.validation.objects import Dialect, Step
from openstack_emulator.core.validation.problems import Check, Problem, Reason
from openstack_emulator.core.validation.sentences import JSON_SCHEMA
from openstack_emulator.dns.rules.errors import invalid_object, lacking

LARGEST_TTL = 2**31 - 1
LONGEST_DESCRIPTION = 160


def invalid_value(message: str) -> ApiError:
    """Return the 400 for a field whose value fails its check."""
    words = f"Provided object is not valid. Got a ValueError error with message {message}"
    return ApiError(400, words, "invalid_object")


def _no_number(problem: Problem) -> str:
    return f"invalid literal for int() with base 10: {problem.value!r}"


def _type(problem: Problem) -> str:
    return _no_number(problem) if problem.expected[0] == "integer" else JSON_SCHEMA[Reason.TYPE](problem)


def _refusal(what: str, body: object, problem: Problem, words: str) -> ApiError:
    if problem.reason is Reason.UNKNOWN:
        message = f"Provided object does not match schema. Keys {list(problem.expected)} are not valid for {what}"
        return ApiError(400, message, "invalid_object")
    return invalid_value(words)


_DESIGNATE = Dialect(
    (Step.VALUES, Step.UNKNOWN),
    _refusal,
    {
        **JSON_SCHEMA,
        Reason.TYPE: _type,
        Reason.DIGITS: _no_number,
        Reason.MINIMUM: lambda problem: f"Value must be >= {problem.expected} for field {problem.path[-1]}",
        Reason.MAXIMUM: lambda problem: f"Value must be <= {problem.expected} for field {problem.path[-1]}",
        Reason.CHOICE: lambda problem: f"Field value {problem.value} is invalid",
    },
)


def uuid_of(request: Request, name: str) -> str:
    """Return an ID in the path. Raises ApiError 400 if it is not a UUID."""
    value = request.vars[name]
    try:
        UUID(value)
    except ValueError:
        raise ApiError(400, f"Invalid UUID {name}: {value}", "invalid_uuid") from None
    return value


def _decoded(request: Request) -> object:
    """Return the JSON in a body. Raises ApiError 400 with the message of Python's decoder."""
    try:
        return request.json
    except ApiError as error:
        message = error.message
    try:
        json.loads(request.body)
    except ValueError as error:
        message = str(error)
    except RecursionError:
        pass
    raise ApiError(400, message, "invalid_json")


def body_of(request: Request, what: str, checks: Mapping[str, Check], required: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object in a body, whose fields pass their checks.

    what: the name of such objects in messages.

    Raises: ApiError 400.
    """
    body = _decoded(request)
    if not isinstance(body, dict):
        raise ApiError(400, "The body of the request must be a JSON object.", "bad_request")
    _DESIGNATE.check(what, body, checks)
    if problems := [lacking(name) for name in required if name not in body]:
        raise invalid_object(*problems)
    return body
