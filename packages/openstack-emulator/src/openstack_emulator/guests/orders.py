"""Orders that are carried out one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Order = Callable[[], Awaitable[None]]


class Orders:
    """A queue of orders, and the task that carries them out; an order that fails does not keep later ones back.

    failed: is called with the exception of an order, which it may log with its traceback.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._queue: asyncio.Queue[Order] = asyncio.Queue()
        self._worker = asyncio.get_running_loop().create_task(self._work())

    def add(self, order: Order) -> None:
        """Carry out an order after those that were added before."""
        self._queue.put_nowait(order)

    async def finished(self) -> None:
        """Wait until all orders have been carried out."""
        await self._queue.join()

    async def close(self) -> None:
        """Carry out the orders, and end."""
        await self.finished()
        self._worker.cancel()

    async def _work(self) -> None:
        while True:
            order = await self._queue.get()
            try:
                await order()
            except Exception as error:
                self._failed(error)
            finally:
                self._queue.task_done()
