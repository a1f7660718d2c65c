"""What a value stands for, in services that take a string for a number or for a boolean."""

from __future__ import annotations

import re

_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
_FALSE = frozenset({"0", "f", "false", "off", "n", "no"})


def as_integer(value: object) -> int | None:
    """The integer that `2` or `"2"` stands for; None for other values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,1000}", value.strip(), re.ASCII):
        return int(value)
    return None


def as_boolean(value: object) -> bool | None:
    """The boolean that true or `"yes"` stands for; None for other values."""
    word = str(value).strip().lower() if isinstance(value, bool | int | str) else ""
    return True if word in _TRUE else False if word in _FALSE else None
