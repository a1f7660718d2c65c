"""Work that an engine does beside requests and heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from stoker.store.expiry import outside_request


class Background:
    """The background tasks of one engine. `stopped` is true as soon as it is being stopped and begins nothing more."""

    def __init__(self) -> None:
        self.stopped = False
        self.tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something independently of the current request; the engine's stop waits for it."""
        with outside_request():
            task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def ended(self) -> None:
        """Return when nothing is in progress any more."""
        while self.tasks:
            await asyncio.gather(*self.tasks, return_exceptions=True)
