"""Checks of single values in queries and bodies: each takes a name and a value, and returns the value to pass on.

Every one raises BadRequest with the name, the value, and what was expected.
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
    """Say in JSON Schema what a check accepts."""

    def describe(check: _Described) -> _Described:
        _SCHEMAS[check] = schema
        return check

    return describe


def schema_of(check: Check) -> dict[str, Any]:
    """What a check accepts, in JSON Schema."""
    return _SCHEMAS.get(check, {})


_LONGEST_SHOWN = 60
_DIGITS = re.compile(r"[0-9]{1,18}")


def anything(name: str, value: Any) -> Any:
    """Any JSON value."""
    return value


@accepts(type="string")
def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise unexpected(name, value, "a text")
    return value


def text_up_to(limit: int) -> Check:
    """A text of at most `limit` characters."""

    @accepts(type="string", maxLength=limit)
    def check(name: str, value: Any) -> str:
        if len(text(name, value)) > limit:
            raise unexpected(name, value, f"a text of at most {limit} characters")
        return str(value)

    return check


@accepts(anyOf=[{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,18}$"}])
def whole_number(name: str, value: Any) -> int:
    """An integer that is 0 or more, as a number or in decimal digits."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise unexpected(name, value, "a whole number, 0 or more")


def whole_number_up_to(most: int) -> Check:
    """As `whole_number`, and at most `most`."""

    @accepts(anyOf=[{"type": "integer", "minimum": 0, "maximum": most}, {"type": "string", "pattern": "^[0-9]{1,18}$"}])
    def check(name: str, value: Any) -> int:
        number = whole_number(name, value)
        if number > most:
            raise unexpected(name, value, f"a whole number from 0 to {most}")
        return number

    return check


@accepts(anyOf=[{"type": "boolean"}, {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}])
def boolean(name: str, value: Any) -> bool:
    """A boolean, or its name in any case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise unexpected(name, value, "true or false")


def one_of(*choices: str) -> Check:
    """One of the given texts."""

    @accepts(type="string", enum=list(choices))
    def check(name: str, value: Any) -> str:
        if value not in choices:
            raise unexpected(name, value, f"one of {', '.join(choices)}")
        return str(value)

    return check


@accepts(type="string", description="Texts, separated by commas.")
def comma_list(name: str, value: Any) -> list[str]:
    """Texts separated by commas; blanks around them and empty ones are dropped."""
    parts = (part.strip() for part in text(name, value).split(","))
    return [part for part in parts if part]


@accepts(type="array", items={"type": "string"})
def text_list(name: str, value: Any) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list):
        raise unexpected(name, value, "a list of texts")
    return [text(f"{name}[{index}]", item) for index, item in enumerate(value)]


@accepts(type="object")
def mapping(name: str, value: Any) -> dict[str, Any]:
    """A map."""
    if not isinstance(value, dict):
        raise unexpected(name, value, "a map")
    return value


@accepts(type="array", items={"type": "object"})
def mapping_list(name: str, value: Any) -> list[dict[str, Any]]:
    """A list of maps."""
    if not isinstance(value, list):
        raise unexpected(name, value, "a list of maps")
    return [mapping(f"{name}[{index}]", item) for index, item in enumerate(value)]


@accepts(type="object", additionalProperties={"type": "string"})
def text_map(name: str, value: Any) -> dict[str, str]:
    """A map of texts."""
    return {key: text(f"{name}.{key}", item) for key, item in mapping(name, value).items()}


@accepts(type=["object", "string"])
def mapping_or_text(name: str, value: Any) -> dict[str, Any] | str:
    """A map, or a text that describes one."""
    if not isinstance(value, dict | str):
        raise unexpected(name, value, "a map or a text")
    return value


def unexpected(name: str, value: Any, expected: str) -> BadRequest:
    """The complaint that `value` is not what `name` takes."""
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
