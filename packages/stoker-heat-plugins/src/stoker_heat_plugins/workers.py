"""A bounded number of threads for code that blocks."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")

THREADS = 64
"""At most so many handlers, checks and reads of plug-ins run at once in a process; others wait for their turn."""


class Workers:
    """Runs functions on threads, which are started when they are needed.

    They are daemon threads: a process that ends does not wait for a plug-in.
    """

    def __init__(self, limit: int = THREADS) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._threads = self._idle = 0

    def submit(self, function: Callable[[], Result]) -> Future[Result]:
        """Run `function` as soon as a thread is free."""
        future: Future[Result] = Future()
        with self._lock:
            self._waiting.put((function, future))
            if self._idle > 0:
                self._idle -= 1
            elif self._threads < self._limit:
                self._threads += 1
                threading.Thread(target=self._work, name=f"heat-plug-in-{self._threads}", daemon=True).start()
        return future

    async def run(self, function: Callable[[], Result]) -> Result:
        """Run `function` on a thread and return its result."""
        return await asyncio.wrap_future(self.submit(function))

    def _work(self) -> None:
        while True:
            function, future = self._waiting.get()
            if not future.set_running_or_notify_cancel():
                self._free()
                continue
            try:
                result = function()
            except BaseException as error:  # a plug-in must not end the thread
                self._free()
                future.set_exception(error)
            else:
                self._free()
                future.set_result(result)
            del function, future

    def _free(self) -> None:
        with self._lock:
            if self._waiting.empty():
                self._idle += 1


WORKERS = Workers()
