"""Return the memory of finished operations and of large evaluations to the operating system.

The data of a run are freed with it, but the process does not shrink then: reference cycles in libraries wait for the
garbage collector, which collects old objects rarely (see `processes.memory`), and the C library keeps freed memory.
Both are triggered when enough operations have finished, or large templates were evaluated, preferably while
nothing runs and no large template is evaluated.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress

MANY = 500
"""Total number of resources of finished operations after which memory is returned if nothing runs."""

TOO_MANY = 20_000
"""The same while operations run, since a collection blocks the event loop for some tens of milliseconds."""


class FreedMemory:
    """Counts the resources of finished operations, and large evaluations, since memory was last returned."""

    def __init__(self) -> None:
        self.resources = 0
        self._evaluations = 0
        self._evaluations_seen = 0

    def ended(self, resources: int) -> None:
        """Record the end of a run with this number of resources."""
        self.resources += resources

    def evaluated(self) -> None:
        """Record the end of a large evaluation."""
        self._evaluations += 1

    def give_back(self, *, idle: bool) -> bool:
        """Return memory if enough has ended; `idle` means that no operation runs. Returns whether it did.

        Where a large template was evaluated since the last call, requests are probably in progress: they would wait for
        the collection, which would visit what they still need.
        """
        quiet = idle and self._evaluations == self._evaluations_seen
        self._evaluations_seen = self._evaluations
        enough = self.resources >= MANY or self._evaluations > 0
        if self.resources < TOO_MANY and not (quiet and enough):
            return False
        self.resources = self._evaluations = self._evaluations_seen = 0
        gc.collect()
        trim()
        return True


def trim() -> None:
    """Return freed memory to the operating system."""
    _trim(0)


def _trimmer() -> Callable[[int], object]:
    """Return `malloc_trim` of the GNU C library; other C libraries return memory by themselves."""
    with suppress(OSError, AttributeError):
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return trim
    return lambda _: None


_trim = _trimmer()
