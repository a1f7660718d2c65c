"""How often, and for how long, a service that is busy is asked again."""

from __future__ import annotations

import random

from stoker.base.clock import Clock
from stoker.base.errors import CloudError

MOST_ATTEMPTS = 120
LONGEST_BACKOFF = 30.0
LONGEST_ASKED_FOR = 300.0
"""Seconds that a service's `Retry-After` is heeded for at most."""
LONGEST = 3600.0
"""Seconds after the first refusal in a row within which the last attempt is made."""


class Retries:
    """The attempts at one call that a service refuses, time after time, because it is busy (`CloudError.transient`).

    They are bounded in number and in time. The pauses double up to LONGEST_BACKOFF, with up to a second at random
    between engines that fail at once, unless the service says how long to wait.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = 0.0
        self.attempts = 0

    def succeeded(self) -> None:
        """The service has answered: whatever it refuses from now on is the first time again."""
        self.attempts = 0

    def pause_after(self, error: CloudError) -> float | None:
        """Seconds until the next attempt; None when there is to be none."""
        if self.attempts == 0:
            self._began = self._clock.now()
        self.attempts += 1
        asked_for = min(error.retry_after or 0.0, LONGEST_ASKED_FOR)
        pause = asked_for or min(2.0 ** min(self.attempts - 1, 10), LONGEST_BACKOFF) + random.random()
        late = self._clock.now() + pause > self._began + LONGEST
        return None if not error.transient or self.attempts >= MOST_ATTEMPTS or late else pause


def backoff(times: int) -> float:
    """Seconds to wait before an action is tried for another time, as Heat does: 2^n and up to two more."""
    return float(2.0**times + random.random() * 2)
