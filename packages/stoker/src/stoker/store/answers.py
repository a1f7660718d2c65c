"""Threads that work for coroutines: how answers reach the event loop, and an executor that uses it."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any


class Answers:
    """Brings answers from threads to an event loop, which is woken once for all that it has not taken."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._untaken: deque[tuple[asyncio.Future[Any], BaseException | None, object]] = deque()
        self._woken = False

    def deliver(self, future: asyncio.Future[Any], error: BaseException | None, result: object = None) -> None:
        """Have the loop settle a future with the error, or else the result; from any thread.

        Nothing happens if the loop is closed: nobody waits any more.
        """
        self._untaken.append((future, error, result))
        if not self._woken:
            self._woken = True
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self._take)

    def _take(self) -> None:
        self._woken = False  # first, so that whoever gives an answer from now on wakes the loop again
        while self._untaken:
            future, error, result = self._untaken.popleft()
            if future.cancelled():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], object]
    future: asyncio.Future[Any]
    answers: Answers


class ReadingThreads(Executor):
    """An executor for `run_in_executor` of an event loop, with at most `size` threads.

    It costs half of what that of the standard library does: `submit` returns a future of the event loop, which
    `run_in_executor` passes on; the loop is woken once for results that have come together; and of the threads that
    wait, the one is next that has worked last.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._lock = threading.Lock()
        self._jobs: deque[_Job] = deque()
        self._idle: list[threading.Lock] = []
        self._threads: list[threading.Thread] = []
        self._stopped = False
        self._answers: Answers | None = None

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        """Return a future of the running event loop with the result of `work(*arguments, **named)`.

        Raises RuntimeError after `shutdown`.
        """
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if self._answers is None or self._answers.loop is not loop:
            self._answers = Answers(loop)
        job = _Job(partial(work, *arguments, **named), future, self._answers)
        with self._lock:
            if self._stopped:
                raise RuntimeError("the threads for reads have been stopped")
            self._jobs.append(job)
            waiting = self._idle.pop() if self._idle else None
            if waiting is None and len(self._threads) < self._size:
                thread = threading.Thread(target=self._work, name=f"{self._name}_{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
        if waiting is not None:
            waiting.release()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do what has been submitted, unless it is to be cancelled, and no more."""
        with self._lock:
            self._stopped = True
            if cancel_futures:
                self._jobs.clear()
            for waiting in self._idle:
                waiting.release()
            self._idle.clear()
        if wait:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        waiting = threading.Lock()
        waiting.acquire()
        while True:
            with self._lock:
                job = self._jobs.popleft() if self._jobs else None
                if job is None:
                    if self._stopped:
                        return
                    self._idle.append(waiting)
            if job is None:
                waiting.acquire()
            else:
                _do(job)
                del job  # while the thread waits, nothing of it is kept


def _do(job: _Job) -> None:
    if job.future.cancelled():
        return
    try:
        result = job.work()
    except BaseException as error:
        job.answers.deliver(job.future, error)
    else:
        job.answers.deliver(job.future, None, result)
