"""Support status of types, properties and attributes."""

from __future__ import annotations

from typing import Any

SUPPORT_STATUSES = (UNKNOWN, SUPPORTED, DEPRECATED, UNSUPPORTED, HIDDEN) = (
    "UNKNOWN",
    "SUPPORTED",
    "DEPRECATED",
    "UNSUPPORTED",
    "HIDDEN",
)


class SupportStatus:
    """Since which version something exists, and whether it is still supported."""

    def __init__(
        self,
        status: str = SUPPORTED,
        message: str | None = None,
        version: str | None = None,
        previous_status: SupportStatus | None = None,
        substitute_class: object = None,
    ) -> None:
        self.status = status if status in SUPPORT_STATUSES else UNKNOWN
        self.message, self.version = message, version
        self.previous_status, self.substitute_class = previous_status, substitute_class

    def to_dict(self) -> dict[str, Any]:
        """Return the status as the API shows it."""
        return {
            "status": self.status,
            "message": self.message,
            "version": self.version,
            "previous_status": self.previous_status.to_dict() if self.previous_status else None,
        }


def is_valid_status(status: str) -> bool:
    """Return whether there is such a status."""
    return status in SUPPORT_STATUSES
