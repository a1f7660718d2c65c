"""How much the calling thread has computed, for budgets that users' input must keep to.

Neither what else the machine does nor a collection of garbage counts: the latter takes as long as the whole process is
large, whoever happens to set it off.
"""

from __future__ import annotations

import gc
import threading
import time


class _Collections(threading.local):
    """Processor time that collections of garbage have taken in this thread, in seconds."""

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
    """Seconds that this thread has computed, from any beginning: only differences say something."""
    return time.thread_time() - _collections.seconds
