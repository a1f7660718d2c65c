"""An event loop in virtual time: single-threaded, and never idle, since its clock advances to what is due next."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

from stoker_foundation.clock import ManualClock

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class NumberedTask(asyncio.Task[Any]):
    """Sets of tasks are gone through in the same order every time, whatever other loops have done before."""

    def __init__(self, work: Any, *, loop: asyncio.AbstractEventLoop, **options: Any) -> None:
        assert isinstance(loop, VirtualLoop)
        self._number = next(loop.task_numbers)
        super().__init__(work, loop=loop, **options)

    def __hash__(self) -> int:
        return self._number


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs everything on one thread, work for threads included, and moves `clock` when nothing is left to do.

    `threads` returns the seconds after which a thread would have done its work. Sockets cannot be used. What belongs to
    no task runs in copies of the empty context `outside`.
    """

    def __init__(self, clock: ManualClock, threads: Callable[[], float] = lambda: 0.0) -> None:
        super().__init__()
        self.clock = clock
        self.task_numbers = itertools.count(1)
        self._threads = threads
        self._clock_resolution = 1e-6
        self._selector = self
        self.outside = Context()
        self.set_task_factory(_task)

    def time(self) -> float:
        return self.clock.now()

    def select(self, timeout: float | None) -> list[Any]:
        """What the base class asks when it has come to the end of a turn: wait, at most that long."""
        if timeout is not None and timeout <= 0:
            return []
        due = self.clock.next_due()
        moments = [due] if due is not None else []
        if timeout is not None:
            moments.append(self.time() + timeout)
        if not moments:
            raise RuntimeError("nothing will ever happen any more")
        self.outside.copy().run(self.clock.advance, max(min(moments) - self.time(), 0.0))
        return []

    def _process_events(self, events: list[object]) -> None:
        """There are none but timers."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""

    def run_in_executor(
        self, executor: Executor | None, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> asyncio.Future[Result]:
        """What threads would do, a while from now, on the one thread that there is."""
        future: asyncio.Future[Result] = self.create_future()

        def act() -> None:
            try:
                result = work(*arguments)
            except Exception as error:
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(result)

        self.call_later(self._threads(), act)
        return future


def _task(loop: asyncio.AbstractEventLoop, work: object, **options: object) -> NumberedTask:
    return NumberedTask(work, loop=loop, **options)
