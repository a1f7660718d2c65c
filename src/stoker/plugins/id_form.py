"""What of a physical ID names the object in the URLs of requests."""

from __future__ import annotations

from enum import Enum, auto


class IdForm(Enum):
    """The form of the physical IDs of a type."""

    NAME = auto()
    """The ID itself is in URLs."""
    URL = auto()
    """The last segment of the ID is in URLs."""
    VALUES = auto()
    """The ID consists of property values, and is in no URL."""

    def in_requests(self, physical_id: str) -> str | None:
        """Return the part that names the object in URLs; None if there is none."""
        match self:
            case IdForm.NAME:
                return physical_id
            case IdForm.URL:
                return physical_id.rstrip("/").rpartition("/")[2]
            case IdForm.VALUES:
                return None
