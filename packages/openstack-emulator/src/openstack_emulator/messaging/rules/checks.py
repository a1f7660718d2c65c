"""Checks of values in the bodies of requests."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request

INVALID_BODY = "Invalid request body"


def is_integer(value: object) -> bool:
    """Return whether a JSON value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_integer(field: str, value: object) -> None:
    """400 for a field of a message or claim that is not an integer."""
    if not is_integer(value):
        raise bad_request(f'The value of the "{field}" field must be a int.', INVALID_BODY)
