"""Retries of requests that a busy service refuses."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from stoker.base.errors import CloudError
from stoker.cloud.call_slots import LONGEST_PAUSE
from stoker_foundation.clock import Clock

LONGEST = 3600.0
"""Seconds after the first of consecutive refusals within which the last attempt is made."""


@dataclass(slots=True)
class Retries:
    """The attempts at one call that a service repeatedly refuses because it is busy (`CloudError.transient`).

    They are limited in number, by the kind of error, and in time. The delays double up to `longest_backoff`, plus up
    to a random second to spread engines that fail at the same time, unless the service returns a delay.
    """

    clock: Clock
    attempts: int = 0
    _began: float = 0.0
    _by_kind: Counter[type[CloudError]] = field(default_factory=Counter)

    def succeeded(self) -> None:
        """Record a success: later refusals count from the beginning."""
        self.attempts = 0
        self._by_kind.clear()

    def pause_after(self, error: CloudError) -> float | None:
        """Return the seconds until the next attempt; None to give up."""
        if self.attempts == 0:
            self._began = self.clock.monotonic()
        self.attempts += 1
        self._by_kind[type(error)] += 1
        asked_for = min(error.retry_after or 0.0, LONGEST_PAUSE)
        pause = asked_for or min(2.0 ** min(self.attempts - 1, 10), error.longest_backoff) + random.random()
        late = self.clock.monotonic() + pause > self._began + LONGEST
        return None if not error.transient or self._by_kind[type(error)] >= error.most_attempts or late else pause


def backoff(times: int) -> float:
    """Return the seconds before an action is retried; as in Heat, 2^n plus up to two."""
    return float(2.0**times + random.random() * 2)
