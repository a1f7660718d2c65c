"""The bodies of requests and errors, with Magnum's messages, and the fields that several kinds of objects have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.microversions import write
from openstack_emulator.core.validation.conversions import as_boolean, as_integer

Check = Callable[[Any], Any]
"""Returns the value of a field in its type. Raises Invalid, or Unreadable."""


class Invalid(Exception):
    """A value is not allowed."""


class Unreadable(Invalid):
    """A value is not of its type, so that the object cannot be read at all."""


def text(pattern: str | None = None, longest: int | None = None, shortest: int = 0) -> Check:
    """A string that a pattern matches completely."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise Invalid("Value should be string")
        if len(value) < shortest:
            raise Invalid(f"Value should have a minimum character requirement of {shortest}")
        if longest is not None and len(value) > longest:
            raise Invalid(f"Value should have a maximum character requirement of {longest}")
        if pattern is not None and re.fullmatch(pattern, value) is None:
            raise Invalid(f"Value should match the pattern ^{pattern}$")
        return value

    return check


def integer(least: int, most: int | None = None) -> Check:
    """An integer, or a string of one."""

    def check(value: Any) -> int:
        number = as_integer(value)
        if number is None:
            raise Unreadable(f"invalid literal for int() with base 10: {value!r}")
        if number < least:
            raise Invalid(f"Value should be greater or equal to {least}")
        if most is not None and number > most:
            raise Invalid(f"Value should be lower or equal to {most}")
        return number

    return check


def one_of(*words: str) -> Check:
    def check(value: Any) -> str:
        if value not in words:
            raise Invalid(f"Value should be one of: {', '.join(words)}")
        return str(value)

    return check


def flag(value: Any) -> bool:
    """A boolean, or a word for one."""
    found = as_boolean(value)
    if found is None:
        raise Unreadable(f"Unrecognized value '{value}', acceptable values are: '0', '1', 'f', 'false', 't', 'true'")
    return found


def labels(value: Any) -> dict[str, str]:
    """An object whose values are strings, numbers or booleans."""
    if not isinstance(value, dict):
        raise Unreadable(f"Value not a valid dict: {value}")
    if not all(isinstance(one, str | int | float | bool) for one in value.values()):
        raise Unreadable(f"Value not a valid string: {value}")
    return {key: str(one) for key, one in value.items()}


def names(value: Any) -> list[str]:
    """A list of strings."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Unreadable(f"Value not a valid list: {value}")
    return value


TEXT, NUMBER, COUNT = text(), integer(1), integer(0)


def invalid(name: str, value: Any, problem: object) -> ApiError:
    """Return the 400 for a wrong value of a field, or for an argument that cannot be read."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def missing(name: str) -> ApiError:
    """Return the 400 for a request without a field that it needs."""
    return invalid(name, None, "Mandatory field missing.")


def given(request: Request, argument: str, known: Mapping[str, Check], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields of a request's body that are not null, in their types.

    argument: what the service calls the body.

    Raises: ApiError 400.
    """
    body = request.json
    if not isinstance(body, dict):
        raise invalid(argument, body, "Value not a valid object")
    if unknown := sorted(body.keys() - known.keys()):
        raise bad_request(f"Unknown attribute for argument {argument}: {', '.join(unknown)}")
    found: dict[str, Any] = {}
    for name, value in body.items():
        if value is not None:
            try:
                found[name] = known[name](value)
            except Unreadable as error:
                raise invalid(argument, body, error) from None
            except Invalid as error:
                raise invalid(name, value, error) from None
    for name in required:
        if name not in found:
            raise missing(name)
    return found


def changed(name: str, value: Any, check: Check) -> Any:
    """Return the value that a patch gives a field, in the type of the field. Raises ApiError 400."""
    try:
        return check(value)
    except Invalid as error:
        raise invalid(name, value, error) from None


class _NoAction(ApiError):
    """A request for what its microversion does not have."""

    names_versions = False

    def __init__(self, request: Request, action: str) -> None:
        super().__init__(
            406,
            f"Version {write(request.version)} was requested but the requested API {action} is not supported for this "
            "version.",
            kind="",
        )


def since(request: Request, least: tuple[int, int], action: str) -> None:
    """Refuse what a microversion does not have. Raises ApiError 406."""
    if request.version < least:
        raise _NoAction(request, action)
