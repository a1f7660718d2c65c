"""Checks of what requests describe, with the messages of Trove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request

Forms = Mapping[str, fields.Check]


def an_object(value: Any) -> str | None:
    """A JSON object."""
    return None if isinstance(value, dict) else "is not an object"


def password(value: Any) -> str | None:
    """A password, which is not repeated in the message."""
    return None if isinstance(value, str) and value else "is not a string with characters"


def check(where: str, given: Any, forms: Forms, required: Sequence[str] = (), *, open: bool = False) -> dict[str, Any]:
    """Return the known fields of an object, which pass their checks.

    open: the object may have other fields, which are ignored.

    Raises: ApiError 400.
    """
    if not isinstance(given, dict):
        raise _wrong(where, "is not an object")
    for name in required:
        if given.get(name) is None:
            raise _wrong(where, f"'{name}' is a required property")
    known = {name: value for name, value in given.items() if name in forms} if open else given
    for name, value in known.items():
        if name not in forms:
            raise _wrong(where, f"Additional properties are not allowed ('{name}' was unexpected)")
        if (problem := forms[name](value)) is not None:
            raise _wrong(f"{where}['{name}']", problem)
    return known


def objects(where: str, given: Any, forms: Forms, required: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return a list of such objects; null means none. Raises ApiError 400."""
    if given is None:
        return []
    if not isinstance(given, list):
        raise _wrong(where, "is not a list")
    return [check(f"{where}[{at}]", one, forms, required) for at, one in enumerate(given)]


def _wrong(where: str, problem: str) -> ApiError:
    return bad_request(f"Validation error: {where} {problem}")
