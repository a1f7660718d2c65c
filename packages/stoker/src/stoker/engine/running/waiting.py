"""Steps that wait until time has passed, or until something wakes them."""

from __future__ import annotations

import asyncio

from stoker_foundation.clock import Clock


class Waiting:
    """The waiting steps of one run. `paused` are the futures that they wait for, by the resource's uuid."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.paused: dict[str, asyncio.Future[None]] = {}
        self._woken: set[str] = set()

    async def pause(self, uuid: str, seconds: float | None) -> bool:
        """Wait for `seconds`, or until the step is woken; return False if it was woken before it began to wait."""
        if uuid in self._woken:
            self._woken.discard(uuid)
            return False
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.paused[uuid] = future
        timer = None
        if seconds is not None:
            timer = self._clock.call_later(seconds, lambda: self.wake(uuid))
        try:
            await future
        finally:
            del self.paused[uuid]
            self._woken.discard(uuid)
            if timer is not None:
                timer.cancel()
        return True

    def wake(self, uuid: str) -> None:
        """Poll a waiting step now."""
        future = self.paused.get(uuid)
        if future is None:
            self._woken.add(uuid)
        elif not future.done():
            future.set_result(None)

    def wake_all(self) -> None:
        """Poll all waiting steps now."""
        for future in self.paused.values():
            if not future.done():
                future.set_result(None)
