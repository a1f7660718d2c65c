"""How many concurrent calls a service takes from a project: fewer after it has refused some, more while it answers.

The number changes as the window of a TCP connection (RFC 5681): a refusal halves it, answers to a whole window of calls
add one (additive increase, multiplicative decrease). It begins with the largest number, since most services are never
busy.
"""

from __future__ import annotations

import math

LONGEST_PAUSE = 300.0
"""Maximum number of seconds for which a service's `Retry-After` is respected."""

_PAUSES_BEFORE_MORE = 5
"""How many times as long as it asked a service to wait the number stays, before one call is added: the service limits a
rate, and too many calls cost a pause in which there are none.
"""

_FEWEST = 4
"""The lowest limit: calls that are never answered, until they time out after minutes, must not hold up all others."""

_REFUSALS = frozenset({429, 498, 502, 503, 504})
"""Statuses of services that are busy, or of proxies that do not reach them; 498 is Swift's rate limit."""


def is_refusal(status: int, retry_after: float | None) -> bool:
    """Return whether a service refuses a call because it is busy; 413 without a time to wait is about a quota."""
    return status in _REFUSALS or (status == 413 and bool(retry_after))


class Congestion:
    """The limit of concurrent calls towards one destination: at most `most`, and few while it refuses calls.

    Times are of a monotonic clock. `begin` numbers the calls; the number of a call tells which refusals have already
    been answered by a lower limit.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.resumes_at = 0.0
        self._hold = 0.0
        self._held_until = 0.0
        self._answers = 0
        self.limit = most
        self._threshold = most
        self._begun = 0
        self._reduced_at = 0
        self._answered_since = True

    @property
    def reduced(self) -> bool:
        """Whether the limit is lower than it could be."""
        return self.limit < self.most

    def begin(self) -> int:
        """Count a call, and return its number."""
        self._begun += 1
        return self._begun

    def answered(self, in_use: int, now: float) -> None:
        """Raise the limit after an answer, if the calls in progress need it.

        Until half of the limit before the first refusal is reached, it doubles with each window of answered calls: a
        service that was down for a minute refuses everything, and this does not say how much it takes afterwards.
        """
        self._answered_since = True
        if self.limit >= self.most or in_use * 2 < self.limit:
            return
        self._answers += 1
        if self.limit < self._threshold or (self._answers >= self.limit and now >= self._held_until):
            self.limit += 1
            self._answers = 0
            self._held_until = now + self._hold

    def refused(self, number: int, in_use: int, now: float, pause: float) -> None:
        """Halve the limit after a refusal, once for calls that began together; none begins for `pause` seconds."""
        self.resumes_at = max(self.resumes_at, now + pause)
        if number <= self._reduced_at:
            return
        self._reduced_at = self._begun
        self.limit = min(self.most, max(_FEWEST, math.ceil(min(self.limit, in_use) / 2)))
        if self._answered_since:
            self._threshold = self.limit
        self._answered_since = False
        self._answers = 0
        self._hold = _PAUSES_BEFORE_MORE * pause
        self._held_until = self.resumes_at + self._hold
