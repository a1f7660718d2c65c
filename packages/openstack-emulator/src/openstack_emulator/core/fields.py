"""Validation of request bodies: a check per field, and the messages of Cinder and Nova for a field that fails it.

A check takes a value and returns what is wrong with it, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from openstack_emulator.core.errors import bad_request

Check = Callable[[Any], str | None]

_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
_FALSE = frozenset({"0", "f", "false", "off", "n", "no"})
_TYPE = re.compile(r" is not of type '\w+'$")
BOOLEANS = (
    "[True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes', 'y', 't', "
    "False, 'False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no', 'n', 'f']"
)
"""The booleans of Cinder and Nova, and the words for them, as their errors list them."""
_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\Z", re.IGNORECASE | re.ASCII)


def check_fields(
    wanted: Any, fields: Mapping[str, Check], required: Collection[str] = (), where: str = "body", strict: bool = True
) -> None:
    """Refuse an object with a wrong field.

    fields: the check of each known field; a `strict` object has no others.
    where: what the object is called in the message.

    Raises: ApiError 400.
    """
    if not isinstance(wanted, dict):
        raise invalid(where, wanted, f"{wanted!r} is not of type 'object'")
    for name in required:
        if name not in wanted:
            raise invalid(where, wanted, f"'{name}' is a required property")
    for name, value in wanted.items():
        if name not in fields:
            if strict:
                raise invalid(where, wanted, f"Additional properties are not allowed ('{name}' was unexpected)")
        elif (problem := fields[name](value)) is not None:
            if isinstance(problem, Nested):
                name, value = problem.name, problem.value
            raise invalid(name, value, problem)


def invalid(name: str, value: Any, problem: str) -> Exception:
    """The 400 for a field that fails its check."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: {value}. {problem}")


class Nested(str):
    """What is wrong with a part of a value; `name` is its key or index, `value` what it is."""

    name: str
    value: Any


def nested(name: str, value: Any, problem: str | None) -> str | None:
    """Return a problem as one of a part."""
    if problem is None or isinstance(problem, Nested):
        return problem
    found = Nested(problem)
    found.name, found.value = name, value
    return found


def anything(value: Any) -> str | None:
    return None


def text(minimum: int = 0, maximum: int = 255, pattern: str | None = None) -> Check:
    """A string of `minimum` to `maximum` characters that `pattern` matches completely."""
    form = None if pattern is None else re.compile(pattern)

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return f"{value!r} is not of type 'string'"
        if len(value) < minimum:
            return f"{value!r} should be non-empty" if minimum == 1 else f"{value!r} is too short"
        if len(value) > maximum:
            return f"{value!r} is too long"
        if form is not None and form.fullmatch(value) is None:
            return f"{value!r} does not match {f'^{pattern}$'!r}"
        return None

    return check


def name(minimum: int = 1, maximum: int = 255) -> Check:
    """A name: a string that is not blank and has no unprintable characters."""
    plain = text(minimum, maximum)

    def check(value: Any) -> str | None:
        if (problem := plain(value)) is not None:
            return problem
        if minimum and (not value.strip() or not all(c.isprintable() for c in value)):
            return f"{value!r} must have printable characters"
        return None

    return check


def identifier(value: Any) -> str | None:
    """A UUID, with or without dashes."""
    return None if isinstance(value, str) and _UUID.match(value) else f"{value!r} is not a 'uuid'"


def address(version: int) -> Check:
    """An IP address of a version, or nothing."""
    parse = IPv4Address if version == 4 else IPv6Address

    def check(value: Any) -> str | None:
        if value == "":
            return None
        try:
            parse(str(value))
        except ValueError:
            return f"{value!r} is not a 'ipv{version}'"
        return None

    return check


def integer(minimum: int | None = None, maximum: int | None = None) -> Check:
    """An integer, or a string of one."""

    def check(value: Any) -> str | None:
        number = as_integer(value)
        if number is None and isinstance(value, str):
            sign = "-?" if minimum is None or minimum < 0 else ""
            return f"{value!r} does not match '^{sign}[0-9]+$'"
        if number is None:
            return f"{value!r} is not of type 'integer'"
        if minimum is not None and number < minimum:
            return f"{value!r} is less than the minimum of {minimum}"
        if maximum is not None and number > maximum:
            return f"{value!r} is greater than the maximum of {maximum}"
        return None

    return check


def number(minimum: float) -> Check:
    """A number, or a string of one."""

    def check(value: Any) -> str | None:
        try:
            found = None if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            found = None
        if found is None:
            return f"{value!r} is not of type 'number'"
        return None if found > minimum else f"{value!r} is less than or equal to the minimum of {minimum}"

    return check


def boolean(value: Any) -> str | None:
    """A boolean, or a word for one."""
    return f"{value!r} is not one of {BOOLEANS}" if as_boolean(value) is None else None


def one_of(*words: Any) -> Check:
    return lambda value: None if value in words else f"{value!r} is not one of {list(words)}"


def nullable(check: Check) -> Check:
    """The same, or null."""

    def check_value(value: Any) -> str | None:
        problem = None if value is None else check(value)
        if problem is not None and _TYPE.search(problem) and not isinstance(problem, Nested):
            return f"{problem}, 'null'"
        return problem

    return check_value


def either(*checks: Check) -> Check:
    """One of the checks must pass; the message of the last one is reported."""

    def check(value: Any) -> str | None:
        problem: str | None = None
        for one in checks:
            if (problem := one(value)) is None:
                return None
        return problem

    return check


def items(check_item: Check, maximum: int | None = None, unique: bool = False) -> Check:
    """A list whose members all pass a check."""

    def check(value: Any) -> str | None:
        if not isinstance(value, list):
            return f"{value!r} is not of type 'array'"
        if maximum is not None and len(value) > maximum:
            return f"{value!r} is too long"
        if unique and any(one in value[:at] for at, one in enumerate(value)):
            return f"{value!r} has non-unique elements"
        return next(
            (p for at, one in enumerate(value) if (p := nested(str(at), one, check_item(one))) is not None), None
        )

    return check


def text_map(largest_value: int = 255, key_form: str = r"[a-zA-Z0-9_.: -]{1,255}", null_values: bool = False) -> Check:
    """An object whose values are strings, as metadata and extra specs are."""
    key_check, value_check = text(pattern=key_form), text(maximum=largest_value)
    if null_values:
        value_check = nullable(value_check)

    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"{value!r} is not of type 'object'"
        problems = (key_check(key) or nested(key, one, value_check(one)) for key, one in value.items())
        return next((problem for problem in problems if problem is not None), None)

    return check


def properties(check_value: Check, key_form: str) -> Check:
    """An object whose keys match a pattern, which the message for another key names."""
    form = re.compile(key_form)

    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return f"{value!r} is not of type 'object'"
        for key, one in value.items():
            if form.fullmatch(key) is None:
                return f"{key!r} does not match any of the regexes: {f'^{key_form}$'!r}"
            if (problem := nested(key, one, check_value(one))) is not None:
                return problem
        return None

    return check


def one_schema_of(check: Check) -> Check:
    """A value that may have one of several forms, of which the message tells nothing."""
    return lambda value: None if check(value) is None else fits_no_schema(value)


def fits_no_schema(value: Any) -> str:
    """What is wrong with a value that has none of several forms."""
    return f"{value!r} is not valid under any of the given schemas"


def as_integer(value: Any) -> int | None:
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


def as_boolean(value: Any) -> bool | None:
    """The boolean that true or `"yes"` stands for; None for other values."""
    word = str(value).strip().lower() if isinstance(value, bool | int | str) else ""
    return True if word in _TRUE else False if word in _FALSE else None
