"""Validation of requests, with Gnocchi's messages: what is wrong, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.validation.fields import form
from openstack_emulator.core.validation.problems import Check, Problem, Reason, specific, wrong_type
from openstack_emulator.core.validation.sentences import VOLUPTUOUS, sentence

_SPAN = re.compile(r"(?:(\d+):)?(\d+):(\d{1,2}):(\d{1,2})")
_MEASURE = re.compile(r"(-?\d+(?:\.\d+)?)\s*([a-zA-Z]*)")
_UNITS = {"": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600,
          "d": 86400, "day": 86400, "w": 604800, "week": 604800}  # fmt: skip


def refusal(cause: str, status: int = 400, **details: Any) -> ApiError:
    """Return the error whose description is an object."""
    return ApiError(status, cause, cause=cause, **details)


def invalid(reason: str, path: tuple[str | int, ...] = (), cause: str = "Invalid input") -> ApiError:
    """Return the 400 for a wrong part of a body."""
    where = "".join(f"[{key!r}]" for key in path)
    return refusal(cause, reason=f"{reason} @ data{where}" if path else reason, detail=[str(key) for key in path])


def checked(body: object, check: Check) -> Any:
    """Return a body that passes a check. Raises ApiError 400."""
    if (problem := check(body)) is None:
        return body
    words, path = sentence(problem, VOLUPTUOUS), problem.path
    if problem.reason is Reason.MISSING:
        path = (*path, problem.expected)
    elif problem.reason is Reason.UNKNOWN:
        path = (*path, problem.expected[0])
    elif path and isinstance(path[-1], str):
        words = f"{words} for dictionary value"
    raise invalid(words, path)


def check_fields(body: object, checks: Mapping[str, Check], required: Sequence[str] = ()) -> None:
    """Refuse an object with a wrong, an unknown or a missing field. Raises ApiError 400."""
    checked(body, form(checks, tuple(required)))


def no_value(value: Any) -> Problem:
    """A value that is not one of those that are allowed."""
    return specific(value, "not a valid value")


def integer(minimum: int | None = None) -> Check:
    """An integer, or what can be made one, such as a string."""

    def check(value: Any) -> Problem | None:
        try:
            found = None if isinstance(value, bool) else int(value)
        except (TypeError, ValueError, OverflowError):
            found = None
        if found is None:
            return wrong_type(value, "integer")
        return Problem(Reason.MINIMUM, value, minimum) if minimum is not None and found < minimum else None

    return check


def identifier(value: Any) -> Problem | None:
    """A UUID."""
    try:
        UUID(str(value))
    except ValueError:
        return no_value(value)
    return None


def timestamp(value: Any) -> Problem | None:
    """A time in ISO 8601."""
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return no_value(value)
    return None


def timespan(value: Any) -> Problem | None:
    """A positive time in one of the forms that `seconds` knows."""
    found = seconds(value)
    if found is None:
        return specific(value, "Unable to parse timespan")
    return specific(value, "Timespan must be positive") if found <= 0 else None


def seconds(value: Any) -> float | None:
    """Return the seconds of `60`, `0:01:00`, `1:00:00:00` or `30 days`; None for other values."""
    text = str(value).strip()
    if isinstance(value, bool):
        return None
    if found := _SPAN.fullmatch(text):
        days, hours, minutes, rest = (int(part or 0) for part in found.groups())
        return float(days * 86400 + hours * 3600 + minutes * 60 + rest)
    measured = _MEASURE.fullmatch(text)
    if measured is None:
        return None
    unit = measured[2].lower()
    size = _UNITS.get(unit, _UNITS.get(unit.removesuffix("s")))
    return None if size is None else float(measured[1]) * size
