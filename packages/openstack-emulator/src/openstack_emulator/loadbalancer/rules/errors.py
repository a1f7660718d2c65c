"""Errors of the load-balancer service."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core.errors import ApiError, bad_request, not_found

OUTSIDE = "Bad Request"
"""The kind of errors that Octavia's web framework renders in a form of its own: those outside of handlers."""


def missing(title: str) -> Callable[[str], ApiError]:
    """What makes the 404 of a kind of objects."""
    return lambda key: not_found(f"{title} {key} not found.")


def failure(message: str) -> ApiError:
    """The 400 for fields that do not go with each other, or with other objects."""
    return bad_request(f"Validation failure: {message}")
