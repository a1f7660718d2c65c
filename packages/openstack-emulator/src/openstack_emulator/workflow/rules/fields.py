"""Fields of requests that contain JSON, as a string or as it is."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import orjson

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request

MOST_LEVELS = 100
"""How deeply JSON may be nested."""


def json_object(body: Mapping[str, object], name: str, argument: str) -> dict[str, object]:
    """Return the object that a field of a request contains; {} for none.

    argument: what Mistral calls the body of the request, which its messages quote. Raises ApiError 400.
    """
    value, problem = body.get(name), "It must be an object."
    if isinstance(value, str) and value:
        try:
            value = orjson.loads(value)
        except ValueError as error:
            problem = _syntax_error(value) or str(error)
    elif value and not isinstance(value, dict):
        problem = f"the JSON object must be str, bytes or bytearray, not {type(value).__name__}"
    if not value:
        return {}
    if not isinstance(value, dict):
        raise bad_request(f"Invalid input for field/attribute {argument}. Value: '{body}'. {problem}")
    check_levels(value, name)
    return value


def _syntax_error(text: str) -> str | None:
    """Return what is wrong with JSON in the words of the parser that Mistral uses; None where it finds nothing."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def choice(value: object, name: str, allowed: Collection[str]) -> str:
    """Return one of the values that a field can have. Raises ApiError 400."""
    if value not in allowed:
        problem = f"Value should be one of: {', '.join(allowed)}"
        raise bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")
    return str(value)


def json_value(value: object, name: str) -> object:
    """Return what a field contains: JSON in a string, another string, or the value itself. Raises ApiError 400."""
    try:
        found = orjson.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
    check_levels(found, name)
    return found


def check_levels(value: object, name: str) -> None:
    """Refuse data that is nested too deeply to be walked recursively."""
    level, left = 0, [value]
    while left:
        level += 1
        if level > MOST_LEVELS:
            raise bad_request(f"Invalid input for field/attribute {name}. It has more than {MOST_LEVELS} levels.")
        parts = [
            level.values() if isinstance(level, dict) else level for level in left if isinstance(level, dict | list)
        ]
        left = [item for part in parts for item in part]


def body_of(request: Request, argument: str, known: frozenset[str]) -> dict[str, Any]:
    """Return the object that a request contains, which Mistral calls `argument`. Raises ApiError 400."""
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    if unknown := sorted(body.keys() - known):
        raise bad_request(f"Unknown attribute for argument {argument}: {unknown[0]}")
    check_levels(body, argument)
    return body


def definition_of(request: Request) -> str:
    """Return the definition that a request stores; Mistral matches `Accept` with the type of the body.

    Raises ApiError 400, and 406 for a request that accepts JSON only.
    """
    accepted = request.headers.get("accept", "*/*")
    if not any(kind in accepted for kind in ("*/*", "text/*", "text/plain")):
        raise ApiError(406, "Not Acceptable")
    return text_of(request)


def text_of(request: Request) -> str:
    """Return the definition that a request contains. Raises ApiError 400."""
    try:
        return request.body.decode()
    except UnicodeDecodeError:
        raise bad_request("The definition must be UTF-8 text.") from None


def string_of(body: dict[str, object], name: str, longest: int = 255) -> str | None:
    """Return an optional string. Raises ApiError 400."""
    value = body.get(name)
    if value is not None and not (isinstance(value, str) and len(value) <= longest):
        raise bad_request(
            f"Invalid input for field/attribute {name}. It must be a string of at most {longest} characters."
        )
    return value
