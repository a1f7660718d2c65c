"""Validation of requests: fields as data, errors with the messages of JSON schema validators, as Keystone's are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.urls import split_url
from openstack_emulator.identity.rules.times import parse_time

Check = Callable[[Any], str | None]
"""Says what is wrong with a value, or None."""
ABSENT = object()
BOOLEANS = (
    "[True, 'True', 'TRUE', 'true', False, 'False', 'FALSE', 'false', '', '1', '0', 'y', 'Y', 'n', 'N', 'on', 'ON', "
    "'off', 'OFF', 'yes', 'no']"
)
"""The values of booleans, as Keystone's errors list them."""
GENERATED = frozenset({"id", "links"})
"""Fields that answers show; clients send them back and nothing is made of them."""


@dataclass(frozen=True)
class Field:
    """One field of a request: what it must be, whether it must be there, and what it is when it is not there."""

    check: Check
    required: bool = False
    default: Any = ABSENT


Fields = Mapping[str, Field]


def checked(
    fields: Fields,
    given: Mapping[str, Any],
    extra: bool = False,
    partial: bool = False,
    where: str = "",
    asked: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The values of a request with defaults filled in.

    where: what the request is called in errors: `project`. asked: the request as errors quote it; `given` by default.
    extra: whether other attributes are kept. partial: a change, where nothing is required and nothing filled in.
    Raises: ApiError 400.
    """
    values = {name: value for name, value in given.items() if name not in GENERATED or name in fields}
    for name, value in values.items():
        if name not in fields:
            _check_extra(name, extra)
        elif (complaint := fields[name].check(value)) is not None:
            raise invalid(name, value, complaint)
    if partial:
        return values
    for name, field in fields.items():
        if field.required and name not in values:
            problem = f"'{name}' is a required property"
            quoted = dict(given if asked is None else asked)
            raise invalid(where, quoted, problem) if where else bad_request(problem)
    filled = {name: field.default for name, field in fields.items() if field.default is not ABSENT}
    return {**filled, **values}


def invalid(name: str, value: Any, complaint: str) -> ApiError:
    """400 about one field."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: {value}. {complaint}")


def _check_extra(name: str, extra: bool) -> None:
    if not extra:
        raise bad_request(f"Additional properties are not allowed ('{name}' was unexpected)")
    if name.startswith("_"):
        raise invalid(name, name, "names of attributes cannot begin with an underscore")


def nullable(check: Check) -> Check:
    """The same, or null."""
    return lambda value: None if value is None else check(value)


def text(minimum: int = 0, maximum: int = 65_535) -> Check:
    """A string of so many characters."""

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return f"{value!r} is not of type 'string'"
        if len(value) < minimum or (minimum and not value.strip()):
            return f"{value!r} should be non-empty" if minimum == 1 else f"{value!r} is too short"
        return f"{value!r} is too long" if len(value) > maximum else None

    return check


def boolean(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"{value!r} is not one of {BOOLEANS}"


def mapping(value: Any) -> str | None:
    return None if isinstance(value, dict) else f"{value!r} is not of type 'object'"


def integer(minimum: int) -> Check:
    """An integer, not below the minimum."""

    def check(value: Any) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return f"{value!r} is not of type 'integer'"
        return f"{value!r} is less than the minimum of {minimum}" if value < minimum else None

    return check


def choice(*allowed: str) -> Check:
    """One of these words."""
    return lambda value: None if value in allowed else f"{value!r} is not one of {list(allowed)}"


def listing(check: Check, maximum: int = 1000) -> Check:
    """A list without repeats of values that pass a check."""

    def check_all(value: Any) -> str | None:
        if not isinstance(value, list):
            return f"{value!r} is not of type 'array'"
        if len(value) > maximum:
            return f"{value!r} is too long"
        if any(item in value[:at] for at, item in enumerate(value)):
            return f"{value!r} has non-unique elements"
        return next((complaint for item in value if (complaint := check(item)) is not None), None)

    return check_all


def url(value: Any) -> str | None:
    """An absolute URL; `%(project_id)s` and the like may stand in it."""
    if not isinstance(value, str):
        return f"{value!r} is not of type 'string'"
    parts = split_url(value)
    return None if parts.scheme and parts.netloc else f"{value!r} is not a 'uri'"


def tag(value: Any) -> str | None:
    """A project's tag."""
    complaint = text(1, 255)(value)
    if complaint is None and re.search("[,/]", value):
        return f"{value!r} does not match '^[^,/]*$'"
    return complaint


def pattern(expression: str) -> Check:
    """A string that matches as a whole."""

    def check(value: Any) -> str | None:
        if isinstance(value, str) and re.fullmatch(expression, value):
            return None
        return f"{value!r} does not match '^{expression}$'"

    return check


name = text(1, 255)
short_name = text(1, 64)
identifier = text(1, 64)
hex_identifier = pattern("[0-9a-fA-F]{32}")
description = nullable(text())
tags = listing(tag, maximum=80)


def moment(value: Any) -> str | None:
    """A time of day in ISO 8601."""
    return None if isinstance(value, str) and parse_time(value) is not None else f"{value!r} is not a 'date-time'"
