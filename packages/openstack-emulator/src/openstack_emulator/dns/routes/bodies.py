"""Checks of the bodies and paths of requests to the DNS service."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.fields import Check, as_integer
from openstack_emulator.core.http import Request
from openstack_emulator.dns.rules.errors import invalid_object, lacking

LARGEST_TTL = 2**31 - 1
LONGEST_DESCRIPTION = 160


def invalid_value(message: str) -> ApiError:
    """Return the 400 for a field whose value fails its check."""
    words = f"Provided object is not valid. Got a ValueError error with message {message}"
    return ApiError(400, words, "invalid_object")


def number(name: str, minimum: int, maximum: int) -> Check:
    """An integer, or a string of one; `name` is that of the field."""

    def check(value: Any) -> str | None:
        found = as_integer(value)
        if found is None:
            return f"invalid literal for int() with base 10: {value!r}"
        if found < minimum:
            return f"Value must be >= {minimum} for field {name}"
        return f"Value must be <= {maximum} for field {name}" if found > maximum else None

    return check


def enumerated(*words: str) -> Check:
    """One of these words."""
    return lambda value: None if value in words else f"Field value {value} is invalid"


def uuid_of(request: Request, name: str) -> str:
    """Return an ID in the path. Raises ApiError 400 if it is not a UUID."""
    value = request.vars[name]
    try:
        UUID(value)
    except ValueError:
        raise ApiError(400, f"Invalid UUID {name}: {value}", "invalid_uuid") from None
    return value


def _decoded(request: Request) -> Any:
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


def body_of(request: Request, what: str, fields: Mapping[str, Check], required: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object in a body, whose fields pass their checks.

    what: the name of such objects in messages.

    Raises: ApiError 400.
    """
    body = _decoded(request)
    if not isinstance(body, dict):
        raise ApiError(400, "The body of the request must be a JSON object.", "bad_request")
    for name, value in body.items():
        if name in fields and (wrong := fields[name](value)) is not None:
            raise invalid_value(wrong)
    if unknown := [name for name in body if name not in fields]:
        message = f"Provided object does not match schema. Keys {unknown} are not valid for {what}"
        raise ApiError(400, message, "invalid_object")
    if problems := [lacking(name) for name in required if name not in body]:
        raise invalid_object(*problems)
    return body
