"""Checks of single values in queries and bodies: each takes a name and a value, and returns the value to pass on.

Every one raises BadRequest with the name, the value, and what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stoker.api.faults import BadRequest

Check = Callable[[str, Any], Any]

_LONGEST_SHOWN = 60
_DIGITS = re.compile(r"[0-9]{1,18}")


def anything(name: str, value: Any) -> Any:
    """Any JSON value."""
    return value


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise unexpected(name, value, "a text")
    return value


def text_up_to(limit: int) -> Check:
    """A text of at most `limit` characters."""

    def check(name: str, value: Any) -> str:
        if len(text(name, value)) > limit:
            raise unexpected(name, value, f"a text of at most {limit} characters")
        return str(value)

    return check


def whole_number(name: str, value: Any) -> int:
    """An integer that is 0 or more, as a number or in decimal digits."""
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise unexpected(name, value, "a whole number, 0 or more")


def boolean(name: str, value: Any) -> bool:
    """A boolean, or its name in any case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise unexpected(name, value, "true or false")


def one_of(*choices: str) -> Check:
    """One of the given texts."""

    def check(name: str, value: Any) -> str:
        if value not in choices:
            raise unexpected(name, value, f"one of {', '.join(choices)}")
        return str(value)

    return check


def comma_list(name: str, value: Any) -> list[str]:
    """Texts separated by commas; blanks around them and empty ones are dropped."""
    parts = (part.strip() for part in text(name, value).split(","))
    return [part for part in parts if part]


def text_list(name: str, value: Any) -> list[str]:
    """A list of texts."""
    if not isinstance(value, list):
        raise unexpected(name, value, "a list of texts")
    return [text(f"{name}[{index}]", item) for index, item in enumerate(value)]


def mapping(name: str, value: Any) -> dict[str, Any]:
    """A map."""
    if not isinstance(value, dict):
        raise unexpected(name, value, "a map")
    return value


def mapping_list(name: str, value: Any) -> list[dict[str, Any]]:
    """A list of maps."""
    if not isinstance(value, list):
        raise unexpected(name, value, "a list of maps")
    return [mapping(f"{name}[{index}]", item) for index, item in enumerate(value)]


def text_map(name: str, value: Any) -> dict[str, str]:
    """A map of texts."""
    return {key: text(f"{name}.{key}", item) for key, item in mapping(name, value).items()}


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
