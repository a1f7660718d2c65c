"""Checks of single values in queries and bodies: each takes a name and a value, and returns the converted value.

All raise BadRequest with the name, the value, and the expected type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from stoker.api.faults import BadRequest

Check = Callable[[str, Any], Any]

_Described = TypeVar("_Described", bound=Check)
_SCHEMAS: dict[Check, dict[str, Any]] = {}


def accepts(**schema: Any) -> Callable[[_Described], _Described]:
    """Declare the accepted values in JSON Schema."""

    def describe(check: _Described) -> _Described:
        _SCHEMAS[check] = schema
        return check

    return describe


def schema_of(check: Check) -> dict[str, Any]:
    """Return the values that a check accepts, in JSON Schema."""
    return _SCHEMAS.get(check, {})


_LONGEST_SHOWN = 60
_DIGITS = re.compile(r"[0-9]{1,18}")


def anything(name: str, value: Any) -> Any:
    """Accept any JSON value."""
    return value


@accepts(type="string")
def text(name: str, value: Any) -> str:
    """Accept a string."""
    if not isinstance(value, str):
        raise unexpected(name, value, "a string")
    return value


def text_up_to(limit: int) -> Check:
    """Return a check for a string of at most `limit` characters."""

    @accepts(type="string", maxLength=limit)
    def check(name: str, value: Any) -> str:
        if len(text(name, value)) > limit:
            raise unexpected(name, value, f"a string of at most {limit} characters")
        return str(value)

    return check


@accepts(anyOf=[{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,18}$"}])
def whole_number(name: str, value: Any) -> int:
    """Accept an integer of at least 0, as a number or in decimal digits."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise unexpected(name, value, "an integer of at least 0")


def whole_number_up_to(most: int) -> Check:
    """Return a check like `whole_number` for integers of at most `most`."""

    @accepts(anyOf=[{"type": "integer", "minimum": 0, "maximum": most}, {"type": "string", "pattern": "^[0-9]{1,18}$"}])
    def check(name: str, value: Any) -> int:
        number = whole_number(name, value)
        if number > most:
            raise unexpected(name, value, f"an integer from 0 to {most}")
        return number

    return check


@accepts(anyOf=[{"type": "boolean"}, {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}])
def boolean(name: str, value: Any) -> bool:
    """Accept a boolean, or its name in any case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise unexpected(name, value, "true or false")


def one_of(*choices: str) -> Check:
    """Return a check for one of the given strings."""

    @accepts(type="string", enum=list(choices))
    def check(name: str, value: Any) -> str:
        if value not in choices:
            raise unexpected(name, value, f"one of {', '.join(choices)}")
        return str(value)

    return check


@accepts(type="string", description="Comma-separated strings.")
def comma_list(name: str, value: Any) -> list[str]:
    """Accept comma-separated strings; drop blanks around them and empty strings."""
    parts = (part.strip() for part in text(name, value).split(","))
    return [part for part in parts if part]


@accepts(type="array", items={"type": "string"})
def text_list(name: str, value: Any) -> list[str]:
    """Accept a list of strings."""
    if not isinstance(value, list):
        raise unexpected(name, value, "a list of strings")
    return [text(f"{name}[{index}]", item) for index, item in enumerate(value)]


@accepts(type="object")
def mapping(name: str, value: Any) -> dict[str, Any]:
    """Accept a map."""
    if not isinstance(value, dict):
        raise unexpected(name, value, "a map")
    return value


@accepts(type="array", items={"type": "object"})
def mapping_list(name: str, value: Any) -> list[dict[str, Any]]:
    """Accept a list of maps."""
    if not isinstance(value, list):
        raise unexpected(name, value, "a list of maps")
    return [mapping(f"{name}[{index}]", item) for index, item in enumerate(value)]


@accepts(type="object", additionalProperties={"type": "string"})
def text_map(name: str, value: Any) -> dict[str, str]:
    """Accept a map of strings."""
    return {key: text(f"{name}.{key}", item) for key, item in mapping(name, value).items()}


@accepts(type=["object", "string"])
def mapping_or_text(name: str, value: Any) -> dict[str, Any] | str:
    """Accept a map, or a string that contains one."""
    if not isinstance(value, dict | str):
        raise unexpected(name, value, "a map or a string")
    return value


def unexpected(name: str, value: Any, expected: str) -> BadRequest:
    """Return the error for a `value` that `name` does not accept."""
    return BadRequest(f"{name} must be {expected}; it is {_shown(value)}.")


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "a map"
        case list():
            return "a list"
        case bool():
            return "true" if value else "false"
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
