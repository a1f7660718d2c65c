"""A cache that is limited by the size of what it holds: what users send decides how large cached values are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Set
from threading import Lock
from typing import Any, Generic, TypeVar

from stoker_foundation.value_types import MAPPINGS

Value = TypeVar("Value")

CACHED_BYTES = 8 * 1024 * 1024

_ITEM = 64
"""Bytes that every value takes besides the characters of its string."""


def memory_of(value: object) -> int:
    """Return about how many bytes plain data take, for `Recent`."""
    total, pending = 0, [value]
    while pending:
        item = pending.pop()
        total += _ITEM
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, MAPPINGS):
            pending += (*item.keys(), *item.values())
        elif isinstance(item, (list, tuple, Set)):
            pending += item
    return total


class Recent(Generic[Value]):
    """A thread-safe cache of the most recently used values, by key.

    It keeps at most `size` values, of at most `most` bytes in total, which `weigh` estimates for a value. A value of
    more bytes is not cached.
    """

    def __init__(self, size: int, weigh: Callable[[Value], int], most: int = CACHED_BYTES) -> None:
        self._size = size
        self._weigh = weigh
        self._most = most
        self._weight = 0
        self._values: OrderedDict[Any, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    @property
    def weight(self) -> int:
        """Bytes of the cached values."""
        return self._weight

    def find(self, key: Any) -> Value | None:
        """Return the value of `key`; None if it is not cached."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        """Return the value of `key`, which is made if it is not cached. Raises what `make` raises."""
        found = self.find(key)
        if found is not None:
            return found
        made = make()
        weight = self._weigh(made)
        if weight > self._most:
            return made
        with self._lock:
            if key not in self._values:
                self._values[key] = made, weight
                self._weight += weight
            value = self._values[key][0]
            while len(self._values) > self._size or self._weight > self._most:
                self._weight -= self._values.popitem(last=False)[1][1]
        return value
