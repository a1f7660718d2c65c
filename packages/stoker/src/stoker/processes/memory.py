"""Tuning of the garbage collector, and of the allocator's return of memory to the system."""

from __future__ import annotations

import ctypes
import gc

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE = 128 * 1024
_ARENAS = 2
_NEW_OBJECTS = 50_000
"""The threshold of generation 0: more containers than a list of a thousand resources needs."""


def reduce_garbage_collection() -> None:
    """Exclude all existing objects from garbage collection, and collect others less often.

    With Python's defaults a long list triggers one or two full collections of the process, which take longer than
    creating the list. Objects without cycles, which are nearly all, are freed at once in any case.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 10, 10)


def configure_allocator() -> None:
    """Return large blocks to the system as soon as they are freed, and let threads share arenas for small ones.

    By default glibc raises the threshold for large blocks to up to 32 MB, and creates an arena for each of many
    threads. Other C libraries are not configured.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is not None:
        change(_M_MMAP_THRESHOLD, _LARGE)
        change(_M_ARENA_MAX, _ARENAS)
