"""Time as a dependency: code that waits uses a clock, so that tests control the time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache, partial
from math import floor
from typing import Protocol

_REMEMBERED_SECONDS = 4096
"""How many formatted seconds are cached: a listing often shows many events of the same second."""


class Timer(Protocol):
    """A scheduled callback that can be canceled."""

    def cancel(self) -> None:
        """Cancel the callback; no effect when it has already run."""


class Clock(Protocol):
    """The time of day, and scheduled callbacks."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment, which do not change when the time of day is set."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` once, `delay` seconds from now, on the running event loop's thread."""


_RUNNING_TIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""On Linux, the clock that also runs while the machine sleeps, when leases expire, too."""


class SystemClock:
    """The machine's time and the running event loop's timers.

    The time is asked for at the beginning and end of all that an engine computes, so no function of Python is between.
    """

    now: Callable[[], float] = staticmethod(time.time)
    monotonic: Callable[[], float] = staticmethod(partial(time.clock_gettime, _RUNNING_TIME))

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(delay, 0.0), callback)


class SteadyClock:
    """Another clock, without its steps: where that one is set, this one shows as much more or less from `follow` on.

    So durations can be measured as differences of times of day, if those that are kept are changed with each step.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.now() - clock.monotonic()
        self.monotonic: Callable[[], float] = clock.monotonic

    def now(self) -> float:
        return self.monotonic() + self._offset

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return self._clock.call_later(delay, callback)

    def follow(self, shown: float | None = None, asked_at: float | None = None) -> float:
        """Show the time of day from now on; return by how many seconds this is another one than before.

        It is that of the clock, or `shown` by another machine that was asked at `asked_at` (monotonic). That may have
        been at any moment since then: what this clock shows remains if it is possible.
        """
        if shown is None:
            least = most = self._clock.now() - self._clock.monotonic()
        else:
            least, most = shown - self._clock.monotonic(), shown - (asked_at or 0.0)
        former, self._offset = self._offset, min(max(self._offset, least), most)
        return self._offset - former


async def sleep(clock: Clock, seconds: float) -> None:
    """Return when the clock has advanced by this many seconds."""
    over = asyncio.Event()
    timer = clock.call_later(seconds, over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()


class ManualClock:
    """A clock that stands still until it is moved with `advance`."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start
        self._stepped = 0.0
        self._order = itertools.count()
        self._timers: list[tuple[float, int, _ManualTimer]] = []

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now - self._stepped

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        timer = _ManualTimer(callback)
        heapq.heappush(self._timers, (self._now + max(delay, 0.0), next(self._order), timer))
        return timer

    def next_due(self) -> float | None:
        """When the earliest live timer fires, in seconds since the epoch; None when none is set."""
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def advance(self, seconds: float) -> None:
        """Move time forward, firing every timer that falls due on the way, in order."""
        end = self._now + seconds
        while (due := self.next_due()) is not None and due <= end:
            self._now = due
            heapq.heappop(self._timers)[2].fire()
        self._now = end

    def step(self, seconds: float) -> None:
        """Set the time of day without advancing time: the remaining delays of timers do not change."""
        self._now += seconds
        self._stepped += seconds
        self._timers = [(due + seconds, order, timer) for due, order, timer in self._timers]


class _ManualTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None

    def fire(self) -> None:
        callback, self.callback = self.callback, None
        if callback is not None:
            callback()


def isoformat(moment: float) -> str:
    """Seconds since the epoch as `2026-01-31T12:00:00Z`, the form of the Orchestration API."""
    return _second(floor(moment))


@lru_cache(_REMEMBERED_SECONDS)
def _second(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def isoformat_milli(moment: float) -> str:
    """Seconds since the epoch as `2026-01-31T12:00:00.000Z`, with milliseconds."""
    return f"{datetime.fromtimestamp(moment, UTC).isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"


def isoformat_micro(moment: float) -> str:
    """Seconds since the epoch as `2026-01-31T12:00:00.000000`, the form of Cinder and Keystone."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
