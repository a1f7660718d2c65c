"""Threads that run the application, with fair scheduling of the clients."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

from stoker.api.serving.shares import Share

_log = logging.getLogger(__name__)

Job = Callable[[], None]

_MOST_WAITING = 64
"""Additional threads for jobs that wait for something that needs none of them."""

_MOST_WAITING_OF_SHARE = 16
"""How many of them the jobs of one share may cause: further ones keep their places among the share's threads."""

_WHILE_ALONE = 3
"""How many times as many threads as are free a share may have while no other one has any."""

_LARGE_ANSWER = 131_072
_LARGE_AT_ONCE = 2
"""Threads of a share whose answers are large, in bytes: each takes many times its size in memory while it is made."""

_MOST_REMEMBERED = 1024

_STRANGERS_PART = 4
"""All strangers together use at most one of so many threads, or one."""

_here = threading.local()


@contextmanager
def waiting() -> Iterator[None]:
    """Mark this thread's job as waiting for something that takes no time of it, so that another job can run.

    Does nothing on a thread that is not one of `Workers`, or if many jobs of the share wait.
    """
    workers: Workers | None = getattr(_here, "workers", None)
    if workers is None or not workers._step_aside(share := _here.share):
        yield
        return
    try:
        yield
    finally:
        workers._step_back(share)


class Workers:
    """Runs at most `size` jobs at a time.

    Each job belongs to a share (see `stoker.api.serving.shares`). Shares take turns. A share gets another thread only
    while more threads are free than it uses; the only share that uses any, while three times as many are free. So
    shares with long jobs leave threads to others, however many jobs they send: one share uses at most three quarters of
    the threads, and each further one half of the threads that are left. The shares of strangers take turns with those
    of known callers as if they were one, and have a quarter of the threads together.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._called = threading.Condition(self._lock)
        self._ended = threading.Condition(self._lock)
        self._large: OrderedDict[Share, int] = OrderedDict()
        self._most_strangers = max(1, size // _STRANGERS_PART)
        self._queued: dict[bool, dict[Share, deque[Job]]] = {True: {}, False: {}}
        self._prefers_known = True
        self._running: Counter[Share] = Counter()
        self._waiting: Counter[Share] = Counter()
        self._strangers = 0
        self._active = 0
        self._idle = 0
        self._threads = 0
        self._stopped = False

    def submit(self, share: Share, job: Job) -> None:
        """Run `job` when it is the turn of its share."""
        with self._lock:
            self._queued[share.identified].setdefault(share, deque()).append(job)
            self._call_somebody()

    def answered(self, share: Share, size: int) -> None:
        """Record how many bytes an answer of a share has. After large ones, the share has two threads for a while."""
        with self._lock:
            size = max(size, self._large.pop(share, 0) // 2)
            if size >= _LARGE_ANSWER:
                self._large[share] = size
                if len(self._large) > _MOST_REMEMBERED:
                    self._large.popitem(last=False)

    def stop(self, seconds: float) -> bool:
        """Wait for running and queued jobs; return False if they have not finished within `seconds`."""
        end = time.monotonic() + seconds
        with self._lock:
            self._stopped = True
            self._called.notify_all()
            return self._ended.wait_for(lambda: not self._threads, max(0.0, end - time.monotonic()))

    def _call_somebody(self) -> None:
        if self._next() is None:
            return
        if self._idle:
            self._idle -= 1  # here, so that the next call uses another thread
            self._called.notify()
        elif self._threads < self._size + _MOST_WAITING:
            self._threads += 1
            threading.Thread(target=self._work, name="stoker-api", daemon=True).start()

    def _work(self) -> None:
        _here.workers = self
        while (found := self._taken()) is not None:
            share, job = found
            _here.share = share
            try:
                job()
            except Exception:
                _log.exception("a request failed outside the application")
            with self._lock:
                self._step_aside_locked(share)

    def _taken(self) -> tuple[Share, Job] | None:
        """Return the next job, waiting for one; None if this thread must end."""
        with self._lock:
            while (share := self._next()) is None:
                if (self._stopped and not any(self._queued.values())) or self._idle >= self._size:
                    self._threads -= 1
                    if self._stopped:
                        self._called.notify_all()  # the queue may have become empty since the others looked
                    self._ended.notify_all()
                    return None
                self._idle += 1
                self._called.wait()
            job = self._take(share)
            if self._next() is not None:  # one job that ends may let several begin
                self._call_somebody()
            return share, job

    def _next(self) -> Share | None:
        """Return the share whose turn it is; None when no job may begin."""
        if self._strangers >= self._most_strangers:
            return next(filter(self._may_begin, self._queued[True]), None)
        kinds = (self._prefers_known, not self._prefers_known)
        return next(filter(self._may_begin, chain.from_iterable(self._queued[kind] for kind in kinds)), None)

    def _may_begin(self, share: Share) -> bool:
        free, running = self._size - self._active, self._running[share]
        if running >= _LARGE_AT_ONCE and share in self._large:
            return False
        alone = running == self._active
        return running < free * (_WHILE_ALONE if alone else 1)

    def _take(self, share: Share) -> Job:
        queued = self._queued[share.identified]
        jobs = queued.pop(share)
        job = jobs.popleft()
        if jobs:
            queued[share] = jobs  # move the share to the end of the queue
        self._prefers_known = not share.identified
        self._step_back_locked(share)
        return job

    def _step_aside(self, share: Share) -> bool:
        """Return whether the job of the share has left its place to another one."""
        with self._lock:
            if self._waiting[share] >= _MOST_WAITING_OF_SHARE:
                return False
            self._waiting[share] += 1
            self._step_aside_locked(share)
            self._call_somebody()
            return True

    def _step_aside_locked(self, share: Share) -> None:
        self._active -= 1
        self._strangers -= not share.identified
        self._running[share] -= 1
        if not self._running[share]:
            del self._running[share]

    def _step_back(self, share: Share) -> None:
        with self._lock:
            self._waiting[share] -= 1
            if not self._waiting[share]:
                del self._waiting[share]
            self._step_back_locked(share)

    def _step_back_locked(self, share: Share) -> None:
        self._active += 1
        self._strangers += not share.identified
        self._running[share] += 1
