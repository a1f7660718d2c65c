"""Fields of requests that contain JSON, as a string or as it is."""

from __future__ import annotations

import json
from typing import Any

from stoker.emulator.core.errors import bad_request
from stoker.emulator.core.http import Request


def json_object(value: Any, name: str) -> dict[str, Any]:
    """Return the object that a field contains; {} for none. Raises ApiError 400."""
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except ValueError as error:
            raise bad_request(f"Invalid input for field/attribute {name}. Value: {value}. {error}") from None
    if not value:
        return {}
    if not isinstance(value, dict):
        raise bad_request(f"Invalid input for field/attribute {name}. Value: {value}. It must be an object.")
    return value


def json_value(value: Any) -> Any:
    """Return what a field contains: JSON in a string, another string, or the value itself."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def body_of(request: Request, known: frozenset[str]) -> dict[str, Any]:
    """Return the object that a request contains. Raises ApiError 400."""
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    if unknown := sorted(body.keys() - known):
        raise bad_request(f"Unknown attribute: {unknown[0]}")
    return body


def text_of(request: Request) -> str:
    """Return the definition that a request contains. Raises ApiError 400."""
    try:
        return request.body.decode()
    except UnicodeDecodeError:
        raise bad_request("The definition must be UTF-8 text.") from None


def string_of(body: dict[str, Any], name: str, longest: int = 255) -> str | None:
    """Return an optional string. Raises ApiError 400."""
    value = body.get(name)
    if value is not None and not (isinstance(value, str) and len(value) <= longest):
        raise bad_request(
            f"Invalid input for field/attribute {name}. It must be a string of at most {longest} characters."
        )
    return value
