"""What the log says about a database that is away: that it is, now and then while it is, and that it is back."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)

_SILENT_SECONDS = 30.0
"""Attempts that fail are not worth a line each: there are several in a second."""


class Outage:
    """How attempts to have the database do something come out; `done` is what it cannot be meanwhile.

    `now` tells seconds from any beginning.
    """

    def __init__(self, done: str, now: Callable[[], float] = time.monotonic) -> None:
        self._done = done
        self._now = now
        self._began: float | None = None
        self._told = False
        self._told_at: float | None = None

    def failed(self, error: BaseException | None) -> None:
        """An attempt has failed, and another one will be made."""
        now = self._now()
        if self._began is None:
            self._began, self._told = now, False
        if self._told_at is None or now >= self._told_at + _SILENT_SECONDS:
            _log.warning("The database cannot be %s, trying again: %s", self._done, error)
            self._told, self._told_at = True, now

    def succeeded(self) -> None:
        """An attempt has succeeded."""
        if self._began is not None and self._told:
            _log.info("The database can be %s again, after %.0f seconds", self._done, self._now() - self._began)
        self._began = None
