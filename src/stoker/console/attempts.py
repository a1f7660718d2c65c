"""Limits failed log-ins for each address and each user, in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

_MOST_KEYS = 10_000


class Attempts:
    """Counts failures by key; at most `most` in any `window` seconds of `clock`. Thread-safe."""

    def __init__(self, most: int, window: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._window = window
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, keys: Sequence[str]) -> float:
        """Return the number of seconds until another attempt is allowed; 0 if it is allowed now."""
        now = self._clock()
        with self._lock:
            return max((self._wait(key, now) for key in keys), default=0.0)

    def failed(self, keys: Sequence[str]) -> None:
        """Record a failure."""
        now = self._clock()
        with self._lock:
            for key in keys:
                self._failures.setdefault(key, deque(maxlen=self._most)).append(now)
                self._failures.move_to_end(key)
            while len(self._failures) > _MOST_KEYS:
                self._failures.popitem(last=False)

    def _wait(self, key: str, now: float) -> float:
        times = self._failures.get(key)
        if times is None or len(times) < self._most:
            return 0.0
        return max(0.0, times[0] + self._window - now)
