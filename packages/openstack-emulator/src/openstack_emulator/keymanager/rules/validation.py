"""Checks of requests' bodies.

Error messages contain the wrong values of a request, as Barbican's do, except those of `SENSITIVE` fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.keymanager.rules.times import SECONDS

SENSITIVE = frozenset({"payload", "pass_phrase"})
"""Fields whose values never appear in an error message."""
Forms = Mapping[str, fields.Check]


def check(
    schema: str, body: Mapping[str, Any], forms: Forms, required: Sequence[str] = (), within: str | None = None
) -> None:
    """Raise ApiError 400 for an object that lacks a field or has a wrong one. Unknown fields are ignored.

    schema: as in `mismatch`. within: the field of the request's body that has the object, None for the body itself;
    the error names it in place of the object's own fields.
    """
    for name in required:
        if body.get(name) is None:
            raise mismatch(schema, f"'{name}' is a required property", within)
    for name, form in forms.items():
        if name in body and (problem := form(body[name])) is not None:
            shown = "the value has a wrong type or range" if name in SENSITIVE else problem
            raise mismatch(schema, shown, within or name)


def mismatch(schema: str, problem: str, name: str | None) -> ApiError:
    """The 400 for a body that does not match a schema.

    schema: its name in quotes, with what it is part of: `'Secret' within 'Order'`.
    name: the property with the problem; None for a problem of the whole object.
    """
    return bad_request(f"Provided object does not match schema {schema}: {problem}. Invalid property: '{name}'")


def number(minimum: int, maximum: int) -> fields.Check:
    """An integer in a range; not a string of one."""

    def check_number(value: Any) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return f"{value!r} is not of type 'integer'"
        if value < minimum:
            return f"{value!r} is less than the minimum of {minimum}"
        return None if value <= maximum else f"{value!r} is greater than the maximum of {maximum}"

    return check_number


def object_value(value: Any) -> str | None:
    """A JSON object."""
    return None if isinstance(value, dict) else f"{value!r} is not of type 'object'"


def expiration_of(schema: str, text: str | None, now: datetime) -> str | None:
    """A future time, as the service stores it. Raises ApiError 400 with the name of the schema."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise mismatch(schema, "Invalid date for 'expiration'", "expiration") from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if moment <= now:
        raise mismatch(schema, "'expiration' is before current time", "expiration")
    return moment.strftime(SECONDS)
