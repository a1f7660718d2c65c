"""Errors that several rules raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.core.store import Table

MALFORMED = (
    "The server could not comply with the request since it is either malformed or otherwise incorrect. The client is "
    "assumed to be in error."
)
"""How Keystone ends many messages about bad requests."""


def missing(label: str) -> Callable[[str], ApiError]:
    """What makes the 404 for an unknown ID of a kind of record."""
    return lambda key: not_found(f"Could not find {label}: {key}.")


def unauthorized() -> ApiError:
    """The same error for every reason, so that nothing about accounts is revealed."""
    return ApiError(401, "The request you have made requires authentication.")


def domain_taken(name: str) -> ApiError:
    """409 for a domain with the name of another."""
    return conflict(
        "Conflict occurred attempting to store project - it is not permitted to have two projects acting as domains "
        f"with the same name: {name}."
    )


def refuse_duplicate(rows: Table[Any], label: str, name: str, domain_id: str | None) -> None:
    """Raise ApiError 409 when the domain has one of this name already."""
    if rows.first(name=name, domain_id=domain_id) is None:
        return
    place = f" at domain ID {domain_id}" if domain_id else ""
    message = f"Duplicate entry found with name {name}{place}."
    if label == "project":
        # The ID is the one that the new project would have had.
        message = (
            "it is not permitted to have two projects with either the same name or same id in the same domain: "
            f"name is {name}, project id {new_hex_id()}."
        )
    raise conflict(f"Conflict occurred attempting to store {label} - {message}")
