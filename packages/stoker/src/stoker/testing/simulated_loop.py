"""An event loop on a clock of its own, and processes on it that can be killed or paused between any two instructions.

Whatever a process starts (tasks, timers, work for threads) carries a context variable that names it. A killed process
is never entered again: no `finally` runs, nothing is cancelled, as after `kill -9`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any

from stoker.testing.virtual_loop import Arguments, NumberedTask, VirtualLoop
from stoker_foundation.clock import ManualClock, Timer

PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)
READING: ContextVar[bool] = ContextVar("reading", default=False)
"""Whether what is running belongs to a request that only reads."""
FROZEN: list[object] = []
"""What killed processes were doing: let go of, it would be unwound."""


class Process:
    """Something that lives on the loop. `entered` counts how often it was; at `kill_at` it is killed instead."""

    def __init__(self, loop: SimulatedLoop, name: str) -> None:
        self.loop = loop
        self.name = name
        self.dead = False
        self.paused = False
        self.entered = 0
        self.kill_at: int | None = None
        self.spared = False
        self.on_death: list[Callable[[], None]] = []
        self._backlog: list[tuple[Context, Callable[..., object], tuple[object, ...]]] = []
        self.context = loop.outside.copy()
        self.context.run(PROCESS.set, self)

    def enter(self, context: Context, callback: Callable[..., object], arguments: tuple[object, ...]) -> None:
        """Carry on with one callback, if the process is in a state to."""
        if self.paused and not self.dead:
            self._backlog.append((context, callback, arguments))
            return
        self.entered += 1
        if self.entered == self.kill_at:
            self.kill()
        if self.dead:
            FROZEN.append((callback, arguments))
            return
        callback(*arguments)

    def survive(self) -> None:
        """It is not killed any more: what its late requests create is removed by nobody else."""
        self.spared, self.kill_at = True, None

    def kill(self) -> None:
        """`kill -9`."""
        if self.dead:
            return
        self.dead = True
        FROZEN.append(self._backlog)
        for tell in self.on_death:
            self.loop.call_soon(tell, context=self.loop.outside.copy())

    def pause(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        if not (self.dead or self.paused):
            self.paused = True
            self.loop.outside.copy().run(self.loop.call_later, seconds, self.resume)

    def resume(self) -> None:
        """SIGCONT: everything that was due meanwhile comes at once."""
        self.paused = False
        backlog, self._backlog = self._backlog, []
        for context, callback, arguments in backlog:
            self.loop.call_soon(callback, *arguments, context=context)

    def start(self, work: Coroutine[object, object, object], *, reading: bool = False) -> asyncio.Task[Any]:
        """A task of the process; `reading` marks it, and all that it starts, as a request that only reads."""
        context = self.context.copy()
        context.run(READING.set, reading)
        return self.loop.create_task(work, context=context)

    def call(self, callback: Callable[[], object]) -> None:
        """Have the process do something soon."""
        self.loop.call_soon(callback, context=self.context.copy())


class FrozenTask(NumberedTask):
    """A task that is never let go of."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        FROZEN.append(self)


class SimulatedLoop(VirtualLoop):
    """A loop in virtual time, with processes on it."""

    def __init__(self, clock: ManualClock, threads: Callable[[], float]) -> None:
        super().__init__(clock, threads)
        self.set_task_factory(_task)

    def call_soon(
        self, callback: Callable[[*Arguments], object], *arguments: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context
        process = context.get(PROCESS)
        if process is None:
            return super().call_soon(callback, *arguments, context=context)
        return super().call_soon(process.enter, context, callback, arguments, context=context)

    def call_soon_threadsafe(
        self, callback: Callable[[*Arguments], object], *arguments: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *arguments, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Arguments], object],
        *arguments: *Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        process = context.get(PROCESS)
        if process is None:
            return super().call_at(when, callback, *arguments, context=context)
        return super().call_at(when, process.enter, context, callback, arguments, context=context)


class ProcessClock:
    """The clock as a process sees it: its timers die with it."""

    def __init__(self, process: Process, clock: ManualClock) -> None:
        self._process = process
        self._clock = clock

    def now(self) -> float:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return self._clock.call_later(delay, _Firing(self._process, callback))


class _Firing:
    def __init__(self, process: Process, callback: Callable[[], None]) -> None:
        self._process = process
        self._callback = callback

    def __call__(self) -> None:
        self._process.call(self._callback)


def settle(answer: asyncio.Future[Any], done: asyncio.Task[object]) -> None:
    """Give a task's result to whoever waits in another process."""
    if answer.done() or done.cancelled():
        return
    error = done.exception()
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(done.result())


def _task(loop: asyncio.AbstractEventLoop, work: object, **options: object) -> FrozenTask:
    return FrozenTask(work, loop=loop, **options)
