"""Checks of values: each finds the problem of a value, or None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from openstack_emulator.core.validation.conversions import as_boolean, as_integer
from openstack_emulator.core.validation.problems import Check, Problem, Reason, wrong_type

_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\Z", re.IGNORECASE | re.ASCII)


def anything(value: Any) -> Problem | None:
    """Any value."""
    return None


def mapping(value: Any) -> Problem | None:
    """A JSON object."""
    return None if isinstance(value, dict) else wrong_type(value, "object")


def text(minimum: int = 0, maximum: int | None = 255, pattern: str | None = None) -> Check:
    """A string of `minimum` to `maximum` characters that `pattern` matches completely."""
    form = None if pattern is None else re.compile(pattern)

    def check(value: Any) -> Problem | None:
        if not isinstance(value, str):
            return wrong_type(value, "string")
        if len(value) < minimum:
            return Problem(Reason.SHORT, value, minimum)
        if maximum is not None and len(value) > maximum:
            return Problem(Reason.LONG, value, maximum)
        if form is not None and form.fullmatch(value) is None:
            return Problem(Reason.PATTERN, value, pattern)
        return None

    return check


def name(minimum: int = 1, maximum: int = 255) -> Check:
    """A name: a string that is not blank and has no unprintable characters."""
    plain = text(minimum, maximum)

    def check(value: Any) -> Problem | None:
        if (problem := plain(value)) is not None:
            return problem
        if minimum and (not value.strip() or not all(c.isprintable() for c in value)):
            return Problem(Reason.UNPRINTABLE, value)
        return None

    return check


def identifier(value: Any) -> Problem | None:
    """A UUID, with or without dashes."""
    return None if isinstance(value, str) and _UUID.match(value) else Problem(Reason.FORMAT, value, "uuid")


def address(version: int) -> Check:
    """An IP address of a version, or nothing."""
    parse = IPv4Address if version == 4 else IPv6Address

    def check(value: Any) -> Problem | None:
        if value == "":
            return None
        try:
            parse(str(value))
        except ValueError:
            return Problem(Reason.FORMAT, value, f"ipv{version}")
        return None

    return check


def _bounded(value: Any, found: float, minimum: float | None, maximum: float | None) -> Problem | None:
    if minimum is not None and found < minimum:
        return Problem(Reason.MINIMUM, value, minimum)
    return Problem(Reason.MAXIMUM, value, maximum) if maximum is not None and found > maximum else None


def integer(minimum: int | None = None, maximum: int | None = None) -> Check:
    """An integer, or a string of one."""

    def check(value: Any) -> Problem | None:
        found = as_integer(value)
        if found is None and isinstance(value, str):
            return Problem(Reason.DIGITS, value, minimum is None or minimum < 0)
        return wrong_type(value, "integer") if found is None else _bounded(value, found, minimum, maximum)

    return check


def exact_integer(minimum: int | None = None, maximum: int | None = None) -> Check:
    """An integer, and no string of one."""

    def check(value: Any) -> Problem | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, "integer")
        return _bounded(value, value, minimum, maximum)

    return check


def number(minimum: float) -> Check:
    """A number above a minimum, or a string of one."""

    def check(value: Any) -> Problem | None:
        try:
            found = None if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            found = None
        if found is None:
            return wrong_type(value, "number")
        return None if found > minimum else Problem(Reason.ABOVE, value, minimum)

    return check


def exact_number(minimum: float | None = None, maximum: float | None = None) -> Check:
    """A number, and no string of one."""

    def check(value: Any) -> Problem | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return wrong_type(value, "number")
        return _bounded(value, value, minimum, maximum)

    return check


def boolean(value: Any) -> Problem | None:
    """A boolean, or a word for one."""
    return Problem(Reason.BOOLEAN, value) if as_boolean(value) is None else None


def exact_boolean(value: Any) -> Problem | None:
    """True or false, and no word for them."""
    return None if isinstance(value, bool) else Problem(Reason.BOOLEAN, value)


def one_of(*values: object) -> Check:
    """One of these values."""
    return lambda value: None if value in values else Problem(Reason.CHOICE, value, values)


def nullable(check: Check) -> Check:
    """The same, or null."""

    def check_value(value: Any) -> Problem | None:
        problem = None if value is None else check(value)
        if problem is not None and problem.reason is Reason.TYPE and not problem.path:
            return replace(problem, expected=(*problem.expected, "null"))
        return problem

    return check_value


def optional(check: Check) -> Check:
    """The same, or null, which problems do not name as a type."""
    return lambda value: None if value is None else check(value)


def either(*checks: Check) -> Check:
    """One of the checks must pass; the problem of the last one is reported."""

    def check(value: Any) -> Problem | None:
        problem: Problem | None = None
        for check in checks:
            if (problem := check(value)) is None:
                return None
        return problem

    return check


def items(check_item: Check, maximum: int | None = None, unique: bool = False, minimum: int = 0) -> Check:
    """A list of `minimum` to `maximum` members that all pass a check."""

    def check(value: Any) -> Problem | None:
        if not isinstance(value, list):
            return wrong_type(value, "array")
        if len(value) < minimum:
            return Problem(Reason.SHORT, value, minimum)
        if maximum is not None and len(value) > maximum:
            return Problem(Reason.LONG, value, maximum)
        if unique and any(element in value[:index] for index, element in enumerate(value)):
            return Problem(Reason.REPEATED, value)
        problems = (
            problem.within(index) for index, element in enumerate(value) if (problem := check_item(element)) is not None
        )
        return next(problems, None)

    return check


def values(check_value: Check) -> Check:
    """An object with any keys, whose values all pass a check."""
    return _map(anything, check_value)


def text_map(largest_value: int = 255, key_form: str = r"[a-zA-Z0-9_.: -]{1,255}", null_values: bool = False) -> Check:
    """An object whose values are strings, as metadata and extra specs are."""
    value_check = text(maximum=largest_value)
    return _map(text(pattern=key_form), nullable(value_check) if null_values else value_check)


def properties(check_value: Check, key_form: str) -> Check:
    """An object whose keys match a pattern, which the message for another key names."""
    form = re.compile(key_form)
    return _map(
        lambda key: None if form.fullmatch(key) is not None else Problem(Reason.KEY, key, key_form), check_value
    )


def _map(check_key: Check, check_value: Check) -> Check:
    """An object whose keys and values pass their checks; a wrong key is a problem of the object."""

    def check(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return wrong_type(value, "object")
        for key, member in value.items():
            if (problem := check_key(key)) is not None:
                return problem
            if (problem := check_value(member)) is not None:
                return problem.within(key)
        return None

    return check


def one_schema_of(check: Check) -> Check:
    """A value that may have one of several forms, of which the message tells nothing."""
    return lambda value: None if check(value) is None else Problem(Reason.NO_SCHEMA, value)


def form(checks: Mapping[str, Check], required: tuple[str, ...] = ()) -> Check:
    """An object with these fields and no others; a missing one is reported last."""

    def check(value: Any) -> Problem | None:
        if not isinstance(value, dict):
            return wrong_type(value, "object")
        for key, member in value.items():
            if key not in checks:
                return Problem(Reason.UNKNOWN, value, (key,))
            if (problem := checks[key](member)) is not None:
                return problem.within(key)
        missing = next((key for key in required if key not in value), None)
        return None if missing is None else Problem(Reason.MISSING, value, missing)

    return check
