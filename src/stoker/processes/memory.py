"""How often the garbage collector looks for cycles, and what is given back to the system."""

from __future__ import annotations

import ctypes
import gc

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE = 128 * 1024
_ARENAS = 2
_NEW_OBJECTS = 50_000
"""So many new containers, more than a list of a thousand resources needs, make it look at the newest ones."""


def collect_rarely() -> None:
    """Leave what a process has made to begin with alone from now on, and look at the rest less often.

    With Python's own settings a long list makes the collector go through the whole process once or twice, which takes
    more time than the list. What has no cycles, as nearly everything, is freed at once in any case.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 10, 10)


def give_back() -> None:
    """Have what is large go back to the system as soon as it is freed, and threads share their room for the rest.

    By itself glibc comes to keep pieces of up to 32 MB, in an arena for each of many threads. Other C libraries are
    left as they are.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is not None:
        change(_M_MMAP_THRESHOLD, _LARGE)
        change(_M_ARENA_MAX, _ARENAS)
