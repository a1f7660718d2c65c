"""Checks of requests' bodies.

Error messages contain the wrong values of a request, as Barbican's do, except those of `SENSITIVE` fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.objects import Dialect, Step
from openstack_emulator.core.validation.problems import Problem
from openstack_emulator.core.validation.sentences import JSON_SCHEMA
from openstack_emulator.keymanager.rules.times import SECONDS

SENSITIVE = frozenset({"payload", "pass_phrase"})
"""Fields whose values never appear in an error message."""


@dataclass(frozen=True)
class _Refusal:
    """Makes the 400 for an object.

    within: the field of the request's body that has the object, None for the body itself; the error names it in place
    of the object's own fields.
    """

    within: str | None

    def __call__(self, schema: str, body: object, problem: Problem, words: str) -> ApiError:
        name = problem.path[0] if problem.path else None
        shown = "the value has a wrong type or range" if name in SENSITIVE else words
        return mismatch(schema, shown, self.within or name)


def within(name: str | None) -> Dialect:
    """How the object in a field of a body is checked; see `_Refusal`. Its messages have a schema as in `mismatch`."""
    return Dialect((Step.MISSING, Step.VALUES), _Refusal(name), JSON_SCHEMA, null_is_missing=True)


BARBICAN = within(None)
"""How a body is checked: an object that lacks a field or has a wrong one is refused; unknown fields are ignored."""


def mismatch(schema: str, problem: str, name: str | int | None) -> ApiError:
    """The 400 for a body that does not match a schema.

    schema: its name in quotes, with what it is part of: `'Secret' within 'Order'`.
    name: the property with the problem; None for a problem of the whole object.
    """
    return bad_request(f"Provided object does not match schema {schema}: {problem}. Invalid property: '{name}'")


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
