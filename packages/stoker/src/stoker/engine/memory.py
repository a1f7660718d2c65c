"""Return the memory of finished operations and of large evaluations to the operating system.

The data of a run are freed with it, but the process does not shrink then: reference cycles in libraries wait for the
garbage collector, which collects old objects rarely (see `processes.memory`), and the C library keeps freed memory.
Both are triggered when enough operations have finished, or large templates were evaluated, preferably while
nothing runs.
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
    """Counts the resources of finished operations since memory was last returned. A large evaluation counts as many."""

    def __init__(self) -> None:
        self.resources = 0

    def ended(self, resources: int) -> None:
        """Record the end of a run with this number of resources."""
        self.resources += resources

    def evaluated(self) -> None:
        """Record the end of a large evaluation."""
        self.resources += MANY

    def give_back(self, *, idle: bool) -> bool:
        """Return memory if enough operations have finished; `idle` means that nothing runs. Returns whether it did."""
        if self.resources < (MANY if idle else TOO_MANY):
            return False
        self.resources = 0
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
