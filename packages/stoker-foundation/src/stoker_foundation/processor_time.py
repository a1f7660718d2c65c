"""Processor time of the calling thread, for budgets that limit the cost of users' input.

The load of the machine does not count, nor does garbage collection: its duration depends on the size of the whole
process, not on the code that happens to trigger it.
"""

from __future__ import annotations

import gc
import threading
import time


class _Collections(threading.local):
    """Processor time of garbage collections in this thread, in seconds."""

    began = 0.0
    seconds = 0.0


_collections = _Collections()


def _note(phase: str, _: dict[str, int]) -> None:
    if phase == "start":
        _collections.began = time.thread_time()
    else:
        _collections.seconds += time.thread_time() - _collections.began


gc.callbacks.append(_note)


def processor_time() -> float:
    """Return the processor time of this thread in seconds, from an arbitrary start: only differences are meaningful."""
    return time.thread_time() - _collections.seconds
