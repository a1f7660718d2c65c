"""Memory that operations have left behind, and giving it back to the operating system.

What a run knew is freed with it, but that alone does not make the process smaller: cycles in what libraries keep wait
for the garbage collector, which looks at old objects rarely (see `processes.memory`), and the C library keeps freed
memory for itself. Both are asked for once enough has ended, and preferably while nothing runs.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress

MANY = 500
"""How many resources the operations that ended must have had in all before it is worth looking while nothing runs."""

TOO_MANY = 20_000
"""As `MANY`, while operations run: looking takes some tens of milliseconds, in which nothing else is done."""


class Leftovers:
    """Counts what has ended since memory was last given back."""

    def __init__(self) -> None:
        self.resources = 0

    def ended(self, resources: int) -> None:
        """Note that a run has ended that knew so many resources."""
        self.resources += resources

    def give_back(self, *, idle: bool) -> bool:
        """Give memory back if enough has ended; `idle` says whether nothing runs. Whether it was done."""
        if self.resources < (MANY if idle else TOO_MANY):
            return False
        self.resources = 0
        gc.collect()
        _trim(0)
        return True


def _trimmer() -> Callable[[int], object]:
    """`malloc_trim` of the GNU C library; other libraries give memory back by themselves."""
    with suppress(OSError, AttributeError):
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return trim
    return lambda _: None


_trim = _trimmer()
