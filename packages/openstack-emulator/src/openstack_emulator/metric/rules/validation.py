"""Validation of requests, with Gnocchi's messages: what is wrong, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from openstack_emulator.core.errors import ApiError

Check = Callable[[Any], None]
"""Returns for a valid value, and raises Invalid for others."""

_SPAN = re.compile(r"(?:(\d+):)?(\d+):(\d{1,2}):(\d{1,2})")
_MEASURE = re.compile(r"(-?\d+(?:\.\d+)?)\s*([a-zA-Z]*)")
_UNITS = {"": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600,
          "d": 86400, "day": 86400, "w": 604800, "week": 604800}  # fmt: skip


class Invalid(Exception):
    """A value is wrong. `path`: the keys and indices that lead to it."""

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.path = reason, path


def refusal(cause: str, status: int = 400, **details: Any) -> ApiError:
    """Return the error whose description is an object."""
    return ApiError(status, cause, cause=cause, **details)


def invalid(reason: str, path: tuple[str | int, ...] = (), cause: str = "Invalid input") -> ApiError:
    """Return the 400 for a wrong part of a body."""
    where = "".join(f"[{key!r}]" for key in path)
    return refusal(cause, reason=f"{reason} @ data{where}" if path else reason, detail=[str(key) for key in path])


def checked(body: Any, check: Check) -> Any:
    """Return a body that passes a check. Raises ApiError 400."""
    try:
        check(body)
    except Invalid as error:
        raise invalid(error.reason, error.path) from None
    return body


def check_fields(wanted: Any, fields: Mapping[str, Check], required: Collection[str] = ()) -> None:
    """Refuse an object with a wrong, an unknown or a missing field. Raises ApiError 400."""
    checked(wanted, dictionary(fields, required))


def dictionary(fields: Mapping[str, Check], required: Collection[str] = ()) -> Check:
    """An object with these fields."""

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise Invalid("expected a dictionary")
        for name, one in value.items():
            if name not in fields:
                raise Invalid("extra keys not allowed", (name,))
            _inside(name, one, fields[name])
        for name in required:
            if name not in value:
                raise Invalid("required key not provided", (name,))

    return check


def mapping(check_one: Check) -> Check:
    """An object with any keys."""

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise Invalid("expected a dictionary")
        for name, one in value.items():
            _inside(name, one, check_one)

    return check


def _inside(name: str, value: Any, check: Check) -> None:
    try:
        check(value)
    except Invalid as error:
        suffix = "" if error.path else " for dictionary value"
        raise Invalid(f"{error.reason}{suffix}", (name, *error.path)) from None


def listed(check_one: Check, minimum: int = 0) -> Check:
    """A list of at least `minimum` members."""

    def check(value: Any) -> None:
        if not isinstance(value, list):
            raise Invalid("expected a list")
        if len(value) < minimum:
            raise Invalid(f"length of value must be at least {minimum}")
        for at, one in enumerate(value):
            try:
                check_one(one)
            except Invalid as error:
                raise Invalid(error.reason, (at, *error.path)) from None

    return check


def text(minimum: int = 0, maximum: int | None = None, pattern: str | None = None) -> Check:
    """A string of `minimum` to `maximum` characters, which a pattern matches."""

    def check(value: Any) -> None:
        if not isinstance(value, str):
            raise Invalid("expected str")
        if len(value) < minimum:
            raise Invalid(f"length of value must be at least {minimum}")
        if maximum is not None and len(value) > maximum:
            raise Invalid(f"length of value must be at most {maximum}")
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise Invalid("not a valid value")

    return check


def number(minimum: float | None = None, maximum: float | None = None) -> Check:
    """A number."""

    def check(value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Invalid("expected Real")
        if minimum is not None and value < minimum:
            raise Invalid(f"value must be at least {minimum}")
        if maximum is not None and value > maximum:
            raise Invalid(f"value must be at most {maximum}")

    return check


def integer(minimum: int | None = None) -> Check:
    """An integer, or a string of one."""

    def check(value: Any) -> None:
        try:
            found = None if isinstance(value, bool) else int(value)
        except (TypeError, ValueError, OverflowError):
            found = None
        if found is None:
            raise Invalid("expected int")
        if minimum is not None and found < minimum:
            raise Invalid(f"value must be at least {minimum}")

    return check


def one_of(*words: Any) -> Check:
    """One of some values."""

    def check(value: Any) -> None:
        if value not in words:
            raise Invalid("not a valid value")

    return check


def nullable(check: Check) -> Check:
    """The same, or null."""

    def check_value(value: Any) -> None:
        if value is not None:
            check(value)

    return check_value


def anything(value: Any) -> None:
    """Any value."""


def boolean(value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise Invalid("expected boolean")


def identifier(value: Any) -> None:
    """A UUID."""
    try:
        UUID(str(value))
    except ValueError:
        raise Invalid("not a valid value") from None


def timestamp(value: Any) -> None:
    """A time in ISO 8601."""
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Invalid("not a valid value") from None


def timespan(value: Any) -> None:
    """A positive time in one of the forms that `seconds` knows."""
    found = seconds(value)
    if found is None:
        raise Invalid("Unable to parse timespan")
    if found <= 0:
        raise Invalid("Timespan must be positive")


def seconds(value: Any) -> float | None:
    """Return the seconds of `60`, `0:01:00`, `1:00:00:00` or `30 days`; None for other values."""
    given = str(value).strip()
    if isinstance(value, bool):
        return None
    if found := _SPAN.fullmatch(given):
        days, hours, minutes, rest = (int(part or 0) for part in found.groups())
        return float(days * 86400 + hours * 3600 + minutes * 60 + rest)
    measured = _MEASURE.fullmatch(given)
    if measured is None:
        return None
    unit = measured[2].lower()
    size = _UNITS.get(unit, _UNITS.get(unit.removesuffix("s")))
    return None if size is None else float(measured[1]) * size
