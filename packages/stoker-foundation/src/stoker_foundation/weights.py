"""The size of values when they are written out: what a list contains twice counts twice.

A few calls make lists of lists that take little memory, since they share their items, and would fill it as a string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST = 4 * 1024 * 1024
"""Characters and values of one value, or of all that the iterators of an expression give."""

_CONTAINERS = (list, tuple, set, frozenset, Mapping)
_BITS_OF_CHARACTER = 3


class Weights:
    """Weighs the values of one evaluation; each list and map is read once.

    `most` bounds a value, and what all iterators together give.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[int, tuple[Any, int]] = {}
        self._total = 0

    def bounded(self, value: object) -> object:
        """Return a value that is not too large. Raises MemoryError."""
        if self.of(value) > self._most:
            raise MemoryError
        return value

    def bounded_items(self, items: Iterator[object]) -> Iterator[object]:
        """Yield items until they are too many together. Raises MemoryError."""
        for item in items:
            self._total += self.of(item)
            if self._total > self._most:
                raise MemoryError
            yield item

    def of(self, value: object) -> int:
        """Return the characters and values of a value; one for what it is not known of."""
        if isinstance(value, str | bytes):
            return 1 + len(value)
        if isinstance(value, int):
            return 1 + value.bit_length() // _BITS_OF_CHARACTER
        return self._of_container(value) if isinstance(value, _CONTAINERS) else 1

    def _of_container(self, value: Any) -> int:
        known = self._known.get(id(value))
        if known is None:
            parts = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
            # The value is kept, so that no other one gets its identity during the evaluation.
            known = self._known[id(value)] = (value, 1 + sum(map(self.of, parts)))
        return known[1]
