"""Checks of fields with the messages of Octavia, which are those of its web framework's types."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.fields import Check

TEXT_PROBLEM = "Value should be string"


def refused(name: str, value: Any, problem: str) -> ApiError:
    """Return the 400 for a field that fails its check; one that is a part of another's value is named itself."""
    if isinstance(problem, fields.Nested):
        name, value = problem.name, problem.value
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def text(minimum: int = 0, maximum: int = 255, pattern: str | None = None) -> Check:
    """A string of `minimum` to `maximum` characters that `pattern` matches completely."""
    form = None if pattern is None else re.compile(pattern)

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return TEXT_PROBLEM
        if len(value) < minimum:
            return f"Value should have a minimum character requirement of {minimum}"
        if len(value) > maximum:
            return f"Value should have a maximum character requirement of {maximum}"
        if form is not None and form.fullmatch(value) is None:
            return f"Value should match the pattern {pattern}"
        return None

    return check


def identifier(value: Any) -> str | None:
    """A UUID."""
    return None if fields.identifier(value) is None else "Value should be UUID format"


def one_of(*words: Any) -> Check:
    return lambda value: None if value in words else f"Value should be one of: {', '.join(map(str, words))}"


def integer(minimum: int, maximum: int | None = None) -> Check:
    """An integer, or a string of one."""

    def check(value: Any) -> str | None:
        number = fields.as_integer(value)
        if number is None:
            return "Value should be integer"
        if number < minimum:
            return f"Value should be greater or equal to {minimum}"
        if maximum is not None and number > maximum:
            return f"Value should be lower or equal to {maximum}"
        return None

    return check


def items(check_item: Check, unique: bool = False) -> Check:
    """A list whose members all pass a check."""

    def check(value: Any) -> str | None:
        if not isinstance(value, list):
            return "Value should be list"
        if unique and any(one in value[:at] for at, one in enumerate(value)):
            return "Value should have unique elements"
        return next((problem for one in value if (problem := check_item(one)) is not None), None)

    return check


def address(value: Any) -> str | None:
    """An IP address."""
    try:
        ip_address(value if isinstance(value, str) else "")
    except ValueError:
        return "Value should be IPv4 or IPv6 format"
    return None


def network(value: Any) -> str | None:
    """The CIDR of a network."""
    try:
        ip_network(value if isinstance(value, str) else "", strict=False)
    except ValueError:
        return "Value should be IPv4 or IPv6 CIDR format"
    return None


def session_persistence(value: Any) -> str | None:
    """How a pool recognizes a session."""
    known = {"type", "cookie_name", "persistence_timeout", "persistence_granularity"}
    if not isinstance(value, dict) or not {"type"} <= value.keys() <= known:
        return f"Value should be an object with 'type' and maybe {', '.join(sorted(known - {'type'}))}"
    kinds = one_of("SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE")
    return fields.nested("type", value["type"], kinds(value["type"]))
