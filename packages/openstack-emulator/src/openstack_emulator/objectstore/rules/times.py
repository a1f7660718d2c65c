"""Times as Swift writes them; all are in seconds since the epoch."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import formatdate

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules

_RESOLUTION = 0.00001


class VersionClock(Rules):
    """A clock that orders the versions of an object."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self._last = 0.0

    def now(self) -> float:
        """The time now."""
        return self.cloud.clock.now()

    def tick(self) -> float:
        """The time now, later than every time this gave before."""
        self._last = max(round(self.now(), 5), round(self._last + _RESOLUTION, 5))
        return self._last


def http_date(seconds: float) -> str:
    """A time for `Last-Modified`: whole seconds, rounded up as Swift does."""
    return formatdate(-(-seconds // 1), usegmt=True)


def timestamp(seconds: float) -> str:
    """A time as Swift writes it into headers and names."""
    return f"{seconds:016.5f}"


def iso_time(seconds: float) -> str:
    """A time as lists show it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
