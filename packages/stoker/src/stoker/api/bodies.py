"""Request bodies: read within the size limit and parsed strictly; errors have positions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import falcon

from stoker.api.faults import BadRequest
from stoker.base.diagnostics import Path, format_path
from stoker.base.errors import RequestLimitExceeded
from stoker.base.json_text import MAX_DEPTH, has_lone_surrogate, no_constant

_INTEGERS = (-(2**63), 2**64 - 1)
"""The smallest and the largest integer that every JSON writer supports."""

_JSON_TYPES = frozenset({"", "text/plain", "json", "application/json"})


def read_json_object(request: falcon.Request, limit: int) -> dict[str, object] | None:
    """Return the JSON object in the body, or None if there is none.

    `limit` is in bytes. As in Heat, a body with another content type, or one that is not an object, counts as absent.
    Raises RequestLimitExceeded if the body is larger, BadRequest if the JSON is invalid.
    """
    content = read_body(request, limit).lstrip(b" \t\r\n")
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type not in _JSON_TYPES or not content.startswith(b"{"):
        return None
    parsed: dict[str, Any] = parse_json(content, "the request body")
    return parsed


def absent_body() -> BadRequest:
    """Return the error for a request without a readable body."""
    return BadRequest("The request needs a body: a JSON object, with Content-Type application/json.")


def parse_json(content: bytes, what: str) -> Any:
    """Parse a JSON document in UTF-8. `what` is its name in error messages.

    Raises BadRequest for invalid JSON, and for data that a database or a later JSON writer would not accept: numbers
    out of range, NUL characters, lone surrogates, repeated keys, more than `MAX_DEPTH` levels.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"{_first(what)} is not UTF-8: byte {error.start} is invalid.") from None
    try:
        parsed = json.loads(text, object_pairs_hook=_object, parse_constant=no_constant)
    except RecursionError:
        raise BadRequest(_too_deep(what)) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadRequest(f"{_first(what)} is not valid JSON: {place}: {error.msg}.") from None
    except ValueError as error:
        raise BadRequest(f"{_first(what)} is not acceptable JSON: {error}.") from None
    _check(parsed, what)
    return parsed


class _Repeated:
    """Placeholder for the value of a repeated key, until the walk reports it with its path."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found[key] = _Repeated()
            seen.add(key)
    return found


def _check(value: Any, what: str) -> None:
    """Check every value of the parsed JSON; iteratively, since the depth is not known to be safe yet."""
    pending: list[tuple[Path, object]] = [((), value)]
    while pending:
        path, value = pending.pop()
        match value:
            case str():
                _check_text(value, path, what)
            case dict() | list():
                if len(path) >= MAX_DEPTH:
                    raise BadRequest(_too_deep(what))
                pending.extend(_children(path, value, what))
            case float() if not math.isfinite(value):
                raise BadRequest(f"{_place(path, what)} is a number out of range.")
            case int() if not _INTEGERS[0] <= value <= _INTEGERS[1]:
                raise BadRequest(f"{_place(path, what)} is a number out of range.")
            case _Repeated():
                raise BadRequest(f"{_place(path, what)} is a repeated key.")


def _children(path: Path, value: dict[str, Any] | list[Any], what: str) -> Iterable[tuple[Path, object]]:
    if isinstance(value, list):
        return [((*path, index), item) for index, item in enumerate(value)]
    for key in value:
        _check_text(key, path, what)
    return [((*path, key), item) for key, item in value.items()]


def _check_text(text: str, path: Path, what: str) -> None:
    if "\0" in text:
        raise BadRequest(f"{_place(path, what)} contains a NUL character.")
    if has_lone_surrogate(text):
        raise BadRequest(f"{_place(path, what)} contains a lone surrogate, which is not a character.")


def _place(path: Path, what: str) -> str:
    return f"{format_path(path)} in {what}" if path else f"{_first(what)}"


def _first(what: str) -> str:
    """Capitalize `what` at the beginning of a sentence; keep the case of keys."""
    return f"T{what[1:]}" if what.startswith("the ") else what


def _too_deep(what: str) -> str:
    return f"{_first(what)} has more than {MAX_DEPTH} levels of maps and lists."


def read_body(request: falcon.Request, limit: int) -> bytes:
    """Return the body, of at most `limit` bytes. Raises RequestLimitExceeded.

    The built-in server knows the limit and does not read a larger body: its declared length is checked first.
    """
    if (request.content_length or 0) > limit:
        raise RequestLimitExceeded(
            f"The request body has {request.content_length} bytes; max_json_body_size allows {limit}."
        )
    content: bytes = request.bounded_stream.read(limit + 1)
    if len(content) > limit:
        raise RequestLimitExceeded(f"The request body is larger than {limit} bytes, which max_json_body_size allows.")
    return content
