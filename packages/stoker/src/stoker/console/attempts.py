"""Limits failed log-ins for each address and each user, in memory."""

from __future__ import annotations

import threading
import unicodedata
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

_MOST_KEYS = 10_000


def folded(name: str) -> str:
    """Return a name without what databases of identity services may not distinguish: case, accents, spaces around it.

    Names that are the same to Keystone must share a limit; if others share one too, they only wait longer.
    """
    letters = (mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return "".join(letters).casefold().strip()


class Attempts:
    """Counts attempts that have failed or have not ended, by key; at most `most` in any `window` seconds of `clock`.

    Thread-safe: attempts that run at the same time cannot exceed the limit together.
    """

    def __init__(self, most: int, window: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._window = window
        self._clock = clock
        self._counted: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, keys: Sequence[str]) -> float:
        """Count an attempt and return 0, or return the number of seconds until the next one is allowed."""
        now = self._clock()
        with self._lock:
            if wait := max((self._wait(key, now) for key in keys), default=0.0):
                return wait
            for key in keys:
                self._counted.setdefault(key, deque(maxlen=self._most)).append(now)
                self._counted.move_to_end(key)
            while len(self._counted) > _MOST_KEYS:
                self._counted.popitem(last=False)
        return 0.0

    def not_failed(self, keys: Sequence[str]) -> None:
        """Do not count the latest attempt any more, because it has ended without a refusal."""
        with self._lock:
            for key in keys:
                if times := self._counted.get(key):
                    times.pop()

    def _wait(self, key: str, now: float) -> float:
        times = self._counted.get(key)
        if times is None or len(times) < self._most:
            return 0.0
        return max(0.0, times[0] + self._window - now)
