"""The length of the IDs of objects: tables have room for 255 characters, and no service has longer ones."""

from __future__ import annotations

from stoker.base.errors import BadValue
from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call

LONGEST = 255
"""Characters of an ID."""


def fits(identifier: str | None) -> bool:
    """Return whether an ID can be recorded."""
    return identifier is None or len(identifier) <= LONGEST


def with_fitting_id(outcome: Outcome, call: Call) -> Outcome:
    """Return the result of a method, or a failure if it has an ID that is too long; the call then has none."""
    known = outcome.physical_id if isinstance(outcome, Done | Again) else None
    for identifier in (known, call.physical_id):
        if not fits(identifier):
            call.physical_id = None
            return Failed(_problem(str(identifier)), "Error")
    return outcome


def require_fitting(identifier: str | None) -> str | None:
    """Return an ID that was found. Raises BadValue if it is too long."""
    if not fits(identifier):
        raise BadValue(_problem(str(identifier)))
    return identifier


def _problem(identifier: str) -> str:
    return f"the service answered with an ID of {len(identifier)} characters; an ID has {LONGEST} at most"
