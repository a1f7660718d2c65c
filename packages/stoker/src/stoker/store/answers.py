"""Answers from a thread to coroutines that wait for them."""

from __future__ import annotations

import asyncio
from collections import deque


class Answers:
    """Brings answers from the writer's thread to an event loop, which is woken once for all that it has not taken."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._given: deque[tuple[asyncio.Future[None], BaseException | None]] = deque()
        self._woken = False

    def give(self, future: asyncio.Future[None], error: BaseException | None) -> None:
        """Have the loop settle a future; from any thread."""
        self._given.append((future, error))
        if not self._woken:
            self._woken = True
            self.loop.call_soon_threadsafe(self._take)

    def _take(self) -> None:
        self._woken = False  # first, so that whoever gives an answer from now on wakes the loop again
        while self._given:
            future, error = self._given.popleft()
            if future.cancelled():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
