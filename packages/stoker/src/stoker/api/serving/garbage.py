"""Free the reference cycles of large requests by their size.

The garbage collector counts objects. A large body that a cycle refers to, such as that of an error and the frames that
it passed through, is one object, so that hundreds of them would stay in memory until it is their turn.
"""

from __future__ import annotations

import gc
import threading

MOST_BYTES = 8 * 1024 * 1024
"""Bytes of request bodies after which young objects are collected."""

_YOUNG = 1


class Garbage:
    """Counts the bodies of answered requests; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bytes = 0

    def answered(self, size: int) -> None:
        """Record the answer to a request with a body of this size, and collect if it is time."""
        with self._lock:
            self._bytes += size
            if self._bytes < MOST_BYTES:
                return
            self._bytes = 0
        gc.collect(_YOUNG)


GARBAGE = Garbage()
"""That of the process, in which all servers share the collector."""
