"""What Glance says about requests that it refuses."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import ApiError

EXPLANATIONS = {
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    409: "There was a conflict when trying to complete your request.",
}


def detailed(status: int, detail: str) -> ApiError:
    """An error with the explanation that belongs to its status."""
    return ApiError(status, EXPLANATIONS[status], detail=detail)


def unauthorized(rule: str) -> ApiError:
    """403 for a caller whom the policy rule does not let do this."""
    return ApiError(403, REFUSAL.format(rule=rule))


REFUSAL = "You are not authorized to complete {rule} action."


def unsupported(media_type: str, detail: str, headers: Mapping[str, str] | None = None) -> ApiError:
    """415 for a body of this media type."""
    return ApiError(
        415, f"The request media type {media_type} is not supported by this server.", headers=headers, detail=detail
    )
