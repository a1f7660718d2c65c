"""Threads that run the application, with fair scheduling of the clients."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_log = logging.getLogger(__name__)

Job = Callable[[], None]

_MOST_WAITING = 64
"""Additional threads for jobs that wait for something outside the process."""

_WHILE_ALONE = 3
"""How many times as many threads as are free a share may have while no other one has any."""

_here = threading.local()


@contextmanager
def waiting() -> Iterator[None]:
    """Mark this thread's job as waiting for something outside the process, so that another job can run.

    Does nothing on a thread that is not one of `Workers`.
    """
    workers: Workers | None = getattr(_here, "workers", None)
    if workers is None:
        yield
        return
    share: str = _here.share
    workers._step_aside(share)
    try:
        yield
    finally:
        workers._step_back(share)


class Workers:
    """Runs at most `size` jobs at a time.

    Each job belongs to a share (a project, or another identity that it is done for). Shares take turns. A share gets
    another thread only while more threads are free than it uses; the only share that uses any, while three times as
    many are free. So shares with long jobs leave threads to others, however many jobs they send: one share uses at most
    three quarters of the threads, and each further one half of the threads that are left.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._called = threading.Condition(self._lock)
        self._ended = threading.Condition(self._lock)
        self._queued: dict[str, deque[Job]] = {}
        self._running: Counter[str] = Counter()
        self._active = 0
        self._idle = 0
        self._threads = 0
        self._stopped = False

    def submit(self, share: str, job: Job) -> None:
        """Run `job` when it is the turn of its share."""
        with self._lock:
            self._queued.setdefault(share, deque()).append(job)
            self._call_somebody()

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

    def _taken(self) -> tuple[str, Job] | None:
        """Return the next job, waiting for one; None if this thread must end."""
        with self._lock:
            while (share := self._next()) is None:
                if (self._stopped and not self._queued) or self._idle >= self._size:
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

    def _next(self) -> str | None:
        """Return the share whose turn it is; None when no job may begin."""
        return next(filter(self._may_begin, self._queued), None)

    def _may_begin(self, share: str) -> bool:
        free, running = self._size - self._active, self._running[share]
        alone = running == self._active
        return running < free * (_WHILE_ALONE if alone else 1)

    def _take(self, share: str) -> Job:
        jobs = self._queued.pop(share)
        job = jobs.popleft()
        if jobs:
            self._queued[share] = jobs  # move the share to the end of the queue
        self._active += 1
        self._running[share] += 1
        return job

    def _step_aside(self, share: str) -> None:
        with self._lock:
            self._step_aside_locked(share)
            if self._queued:
                self._call_somebody()

    def _step_aside_locked(self, share: str) -> None:
        self._active -= 1
        self._running[share] -= 1
        if not self._running[share]:
            del self._running[share]

    def _step_back(self, share: str) -> None:
        with self._lock:
            self._active += 1
            self._running[share] += 1
