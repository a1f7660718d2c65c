"""Engines' processes: each callback of one takes as long as callbacks of its kind have taken, on one processor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import Context
from typing import Any

from stoker.store.database import Database
from stoker.testing.simulated_loop import FROZEN, PROCESS, Process, SimulatedLoop
from stoker.testing.virtual_loop import Arguments, NumberedTask, Result, VirtualLoop
from stoker_foundation.clock import ManualClock
from tools.scale.latencies import Latencies, Samples
from tools.scale.servers import Connections, DatabaseServer, Use
from tools.scale.statements import Recorder


def kind_of(callback: Callable[..., Any]) -> str:
    """The kind of a callback: the coroutine of the task that it continues, or its own name."""
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return getattr(owner.get_coro(), "__qualname__", "task")
    return getattr(callback, "__qualname__", type(callback).__name__)


class ScaledProcess(Process):
    """A process with one processor: what cannot run yet waits, in the order in which it came."""

    loop: ScaledLoop

    def __init__(self, loop: ScaledLoop, name: str) -> None:
        super().__init__(loop, name)
        self.processor = Use()
        self.connections = Connections()
        self._free = 0.0

    def enter(self, context: Context, callback: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if self.dead or self.paused:
            super().enter(context, callback, arguments)
            return
        now, seconds = self.loop.time(), self.loop.latencies.callback(kind_of(callback))
        began = max(now, self._free)
        self._free = began + seconds
        self.processor.note(seconds, began - now)
        if began > now:
            VirtualLoop.call_at(self.loop, began, self._carry_on, context, callback, arguments, context=context)
        else:
            self._carry_on(context, callback, arguments)

    def _carry_on(self, context: Context, callback: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        samples = self.loop.samples
        if samples is None:
            super().enter(context, callback, arguments)
            return
        kind, began = kind_of(callback), time.thread_time()
        super().enter(context, callback, arguments)
        samples.add(kind, time.thread_time() - began)

    def kill(self) -> None:
        if not self.dead:
            FROZEN.append(asyncio.all_tasks(self.loop))  # a task that nothing refers to would be unwound
        super().kill()

    def busy_until(self) -> float:
        """When everything is done that waits for the processor now."""
        return self._free


class ScaledLoop(SimulatedLoop):
    """A loop in virtual time on which reads of the database take as long as `server` says.

    With `samples`, the processor time of each callback is added to them.
    """

    def __init__(
        self,
        clock: ManualClock,
        latencies: Latencies,
        server: DatabaseServer,
        recorder: Recorder,
        samples: Samples | None = None,
    ) -> None:
        super().__init__(clock, lambda: 0.0)
        self.latencies = latencies
        self.samples = samples
        self._server = server
        self._recorder = recorder
        self.set_task_factory(_task)

    def run_in_executor(
        self, executor: Any, work: Callable[[*Arguments], Result], *arguments: *Arguments
    ) -> asyncio.Future[Result]:
        """What a thread would do, when a thread is free; the result is there when the database has answered."""
        future: asyncio.Future[Result] = self.create_future()
        process = PROCESS.get()

        def act() -> None:
            self._recorder.take()
            result: Any = None
            error: Exception | None = None
            try:
                result = work(*arguments)
            except Exception as raised:
                error = raised
            asked, now = self._recorder.take(), self.time()
            until = self._server.read(now, asked) if asked.statements else now
            if isinstance(process, ScaledProcess) and asked.statements:
                process.connections.used(until)
            self.call_at(until, _settle, future, result, error)

        began = process.connections.open_at(self.time()) if isinstance(process, ScaledProcess) else self.time()
        self.call_at(began, act)
        return future


def _settle(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


def _task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> NumberedTask:
    return NumberedTask(work, loop=loop, **options)


class SharedDatabase(Database):
    """One process's way to the database that all share, with the statements that SQLAlchemy has compiled."""

    def __init__(self, shared: Database) -> None:
        super().__init__(shared.url.render_as_string(hide_password=False))
        self.engine = shared.engine
