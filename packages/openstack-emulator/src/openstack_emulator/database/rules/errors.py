"""Errors of the database service."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.database.records import Instance


def missing(key: str) -> ApiError:
    """The 404 of most kinds of objects."""
    return not_found(f"Resource {key} cannot be found.")


def unavailable(instance: Instance) -> ApiError:
    """The 422 for an instance that something is being done to."""
    if instance.status == "BUILD":
        return ApiError(422, f"Instance {instance.id} is not ready.")
    return ApiError(
        422,
        f"Instance {instance.id} is not currently available for an action to be performed "
        f"(status was {instance.status}).",
    )
