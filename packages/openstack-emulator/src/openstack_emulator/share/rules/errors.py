"""Errors that several rules raise."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request


def invalid_input(reason: str) -> ApiError:
    """The 400 for a value that does not fit; the reason has no full stop."""
    return bad_request(f"Invalid input received: {reason}.")
