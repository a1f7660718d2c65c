"""A cache of what the identity service says of tokens."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from stoker_foundation.clock import Clock

_MOST_TOKENS = 2000


class TokenCache:
    """The part of a memcache client that keystonemiddleware uses; it is thread-safe.

    Keys are digests of tokens. Beyond `capacity`, the least recently used entry is evicted.
    """

    def __init__(self, clock: Clock, capacity: int = _MOST_TOKENS) -> None:
        self._clock = clock
        self._capacity = capacity
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    def get(self, key: str) -> Any:
        """Return the cached value of `key`; None when there is none or it has expired."""
        with self._lock:
            end, value = self._entries.get(key, (0.0, None))
            if end <= self._clock.now():
                self._entries.pop(key, None)
                return None
            self._entries.move_to_end(key)
            return value

    def set(self, key: str, value: object, time: float = 0) -> None:
        """Cache `value` for `time` seconds."""
        with self._lock:
            self._entries[key] = (self._clock.now() + time, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)
