"""What can be wrong with a value, as data: each service has sentences of its own for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any


class Reason(Enum):
    """Why a check fails; the comment says what `Problem.expected` is."""

    TYPE = auto()  # the names of the types in JSON schemas, such as ("string", "null")
    DIGITS = auto()  # a string of no integer; whether the integer may be negative
    BOOLEAN = auto()
    SHORT = auto()  # the least length of a string
    LONG = auto()  # the greatest length of a string or of a list
    PATTERN = auto()  # the regular expression that matches the whole string
    MINIMUM = auto()  # the least number
    ABOVE = auto()  # the number that the value must exceed
    MAXIMUM = auto()  # the greatest number
    CHOICE = auto()  # the values that are allowed
    REPEATED = auto()
    UNPRINTABLE = auto()
    FORMAT = auto()  # the name of the format, such as "uuid"
    KEY = auto()  # the regular expression that matches each key
    NO_SCHEMA = auto()
    CONVERSION = auto()  # a sentence on a value that cannot be converted to the type of its field
    MISSING = auto()  # the name of the field
    UNKNOWN = auto()  # the names of the fields
    SPECIFIC = auto()  # a sentence of one service


@dataclass(frozen=True, slots=True)
class Problem:
    """The problem of a value, or of a part of it.

    value: the value, or its part. path: the keys and indices that lead to the part.
    """

    reason: Reason
    value: Any
    expected: Any = None
    path: tuple[str | int, ...] = ()

    @property
    def field_path(self) -> tuple[str | int, ...]:
        """The path to the innermost field with the problem: without the indices of members of its list."""
        path = self.path
        while path and isinstance(path[-1], int):
            path = path[:-1]
        return path

    def within(self, key: str | int) -> Problem:
        """The same problem, seen from the object or the list that has the value."""
        return replace(self, path=(key, *self.path))


Check = Callable[[Any], Problem | None]
"""Finds the problem of a value; None for a valid one."""


def specific(value: object, sentence: str) -> Problem:
    """A problem for which only one service has a sentence."""
    return Problem(Reason.SPECIFIC, value, sentence)


def wrong_type(value: object, *types: str) -> Problem:
    """A value whose type is none of these, which have the names that JSON schemas give them."""
    return Problem(Reason.TYPE, value, types)
