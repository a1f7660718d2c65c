"""What of a physical ID names the object in the URLs of requests."""

from __future__ import annotations

from enum import Enum, auto


def last_segment(url: str) -> str:
    """Return the last segment of a URL's path, whether a slash follows or not."""
    return url.rstrip("/").rpartition("/")[2]


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
                return last_segment(physical_id)
            case IdForm.VALUES:
                return None
