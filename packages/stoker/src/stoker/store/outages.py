"""Log messages about an outage of the database: at its start, periodically while it lasts, and at its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)

_SILENT_SECONDS = 30.0
"""Interval of messages during an outage: several attempts per second fail."""


class Outage:
    """Tracks the failures of one kind of database access; `done` names it (“read”, “written”).

    `now` returns seconds from an arbitrary start.
    """

    def __init__(self, done: str, now: Callable[[], float] = time.monotonic) -> None:
        self._done = done
        self._now = now
        self._began: float | None = None
        self._told = False
        self._told_at: float | None = None

    def failed(self, error: BaseException | None) -> None:
        """Record that an attempt has failed and will be retried."""
        now = self._now()
        if self._began is None:
            self._began, self._told = now, False
        if self._told_at is None or now >= self._told_at + _SILENT_SECONDS:
            _log.warning("The database cannot be %s, retrying: %s", self._done, error)
            self._told, self._told_at = True, now

    def succeeded(self) -> None:
        """Record that an attempt has succeeded."""
        if self._began is not None and self._told:
            _log.info("The database can be %s again, after %.0f seconds", self._done, self._now() - self._began)
        self._began = None
