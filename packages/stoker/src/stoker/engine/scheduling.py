"""How projects share the processor: fair scheduling of coroutines on the event loop, and evaluations of templates.

An event loop continues all coroutines that can continue before it looks for new requests, whomever they work for. The
hundreds of steps of one project that a commit wakes at once would delay the requests of all others for as long as they
compute together. So the coroutines of requests and operations run in portions, from one `await` to the next. While
several can continue, the loop runs portions for `_SECONDS_AT_ONCE` in each of its iterations. Those of the project
whose portions have taken the least time are next.

The parts of a large operation begin one after the other for the same reason: what has begun takes memory until it ends.
A step begins when nothing else of its turn can continue, and a nested stack when no step can begin either, so that a
thousand of them are in progress at once only where they wait for the cloud (see `StartPriority`).

An evaluation is one portion. A short one must not wait for a thread, and a long one must not delay other requests,
heartbeats and operations. So it begins on the event loop; if it exceeds `seconds_at_once` of processor time, it starts
again from the beginning on a thread. Work that is known to be long, because it is for many resources, begins on a
thread. There are few such threads, and projects take turns on them: a project with expensive templates delays only
itself.
"""

from __future__ import annotations

import asyncio
import gc
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass
from enum import Enum
from functools import partial
from traceback import clear_frames
from typing import Any, TypeAlias, TypeVar

from stoker.base import budget
from stoker.engine.memory import FreedMemory, trim
from stoker.template.document import forget_positions
from stoker_foundation.clock import Clock

Result = TypeVar("Result")

_SECONDS_AT_ONCE = 0.002
"""Time for portions in one iteration of the event loop; the last one may take longer."""

_WEIGHT = 0.1
"""How much a portion that is shorter than the ones before counts for the expected time of the next one."""

_PORTIONS_FOR_ONE_BEGINNING = 32
"""Number of portions after which one that waits begins even though others of its turn can continue."""

_Call: TypeAlias = Callable[[], None]

_current: ContextVar[str] = ContextVar("turn", default="")
"""The turn that the running coroutine takes, and those that it starts."""


class StartPriority(Enum):
    """When the first portion of a coroutine runs."""

    AT_ONCE = "in the order of all portions"
    STEP = "when no portion of its turn can continue"
    STACK = "when no step of its turn can begin either"


class FairScheduler:
    """Shares an event loop fairly among projects whose coroutines take turns.

    A turn is what shares the loop with others: the requests of a project, or its operations. Its portions run in the
    order in which they could continue. A turn that had nothing to do has not saved time for later.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, _Queue] = {}
        self._used: dict[str, float] = {}
        self._least = 0.0
        self._now = 0.0
        self._portion = 0.0
        self._handle: asyncio.Handle | None = None

    async def run(
        self, turn: str, work: Callable[[], Awaitable[Result]], beginning: StartPriority = StartPriority.AT_ONCE
    ) -> Result:
        """Return or raise the result of `await work()`, each portion of which waits for the turn."""
        former = _current.set(turn)
        try:
            result: Result = await _Portions(self, turn, work().__await__(), beginning)
        finally:
            _current.reset(former)
        return result

    async def gather(self, work: Iterable[Callable[[], Awaitable[Result]]]) -> list[Result]:
        """Return the results of all calls, in order, as `asyncio.gather` does.

        Each portion of each of them waits for the caller's turn: a task of its own would take none.
        """
        turn = _current.get()
        return await asyncio.gather(*(self.run(turn, call) for call in work))

    def is_busy(self) -> bool:
        """Return whether something waits for its turn; from any thread."""
        return bool(self._waiting)

    @property
    def is_time_used_up(self) -> bool:
        """Whether portions have taken the time of this iteration of the loop."""
        return self._now >= _SECONDS_AT_ONCE

    def has_to_wait(self, turn: str, beginning: StartPriority = StartPriority.AT_ONCE) -> bool:
        """Return whether a portion that can run now is not the next one of all."""
        if self.is_time_used_up:
            return True
        waiting = self._waiting
        if not waiting:
            return False
        own = waiting.get(turn)
        return beginning is not StartPriority.AT_ONCE or own is None or len(waiting) > 1 or not own.passed()

    def wait(self, turn: str, beginning: StartPriority = StartPriority.AT_ONCE) -> asyncio.Future[None]:
        """Return a future that is done when the next portion of the turn may run."""
        future = asyncio.get_running_loop().create_future()
        self._queue_of(turn).append(partial(_release, future), beginning)
        return future

    def requeue(self, turn: str) -> asyncio.Future[None]:
        """Return the same for a portion that was called when the time was used up: it is before those that wait."""
        future = asyncio.get_running_loop().create_future()
        self._queue_of(turn).returned.append(partial(_release, future))
        return future

    def begin(self, turn: str, start: Callable[[], None], beginning: StartPriority) -> None:
        """Call `start` when what it starts may begin: until then, there is no task for it."""
        self._queue_of(turn).append(start, beginning)

    def _queue_of(self, turn: str) -> _Queue:
        """Return the queue of a turn, to which something is about to be added."""
        queue = self._waiting.get(turn)
        if queue is None:
            queue = self._waiting[turn] = _Queue()
            self._used[turn] = self._used_by(turn)
        self._schedule_call()
        return queue

    def run_portion(self, turn: str, work: Generator[Any, Any, Any], error: BaseException | None) -> Any:
        """Run a portion: continue `work`, or raise the error where it waits. Return what it waits for next."""
        began = self._clock.monotonic()
        try:
            return work.send(None) if error is None else work.throw(error)
        finally:
            if seconds := self._clock.monotonic() - began:
                self._now += seconds
                self._portion = max(seconds, self._portion + _WEIGHT * (seconds - self._portion))
                self._used[turn] = self._used_by(turn) + seconds
                self._schedule_call()

    def _used_by(self, turn: str) -> float:
        return max(self._used.get(turn, 0.0), self._least)

    def _schedule_call(self) -> None:
        """Have the next iteration of the loop call waiting portions."""
        if self._handle is None:
            self._handle = asyncio.get_running_loop().call_soon(self._call_next)

    def _call_next(self) -> None:
        """Call as many portions as are expected to fit, each of the turn that will have used the least time.

        A nested stack does not begin beside other portions of its turn, which can continue right after that.
        """
        self._handle, self._now = None, 0.0
        expected, ahead = 0.0, dict[str, float]()
        while expected < _SECONDS_AT_ONCE:
            ready = [turn for turn, queue in self._waiting.items() if turn not in ahead or queue.has_small]
            if not ready:
                break
            turn = ready[0]
            if len(ready) > 1:
                turn = min(ready, key=lambda turn: self._used[turn] + ahead.get(turn, 0.0))
            self._least = max(self._least, self._used[turn])
            call = self._waiting[turn].next()
            if not self._waiting[turn]:
                del self._waiting[turn]
            call()
            expected += self._portion
            ahead[turn] = ahead.get(turn, 0.0) + self._portion
        if ahead:
            self._schedule_call()
        else:
            self._used.clear()
            self._least = 0.0


def _release(future: asyncio.Future[None]) -> None:
    """Have the portion run that waits for a future, unless it was cancelled."""
    if not future.done():
        future.set_result(None)


class _Queue:
    """What waits for one turn, each as a function that lets it run: portions that were called too late, others of
    coroutines that have begun, and the first ones of steps and of nested stacks.
    """

    __slots__ = ("_begun", "_since", "_stacks", "_steps", "returned")

    def __init__(self) -> None:
        self.returned: list[_Call] = []
        self._begun: deque[_Call] = deque()
        self._steps: deque[_Call] = deque()
        self._stacks: deque[_Call] = deque()
        self._since = 0

    def __bool__(self) -> bool:
        return bool(self.returned or self._begun or self._steps or self._stacks)

    @property
    def has_small(self) -> bool:
        """Whether something waits besides nested stacks."""
        return bool(self.returned or self._begun or self._steps)

    def append(self, call: _Call, beginning: StartPriority) -> None:
        """Add what is called after all that waits for the same."""
        if beginning is StartPriority.AT_ONCE:
            self._begun.append(call)
        elif beginning is StartPriority.STEP:
            self._steps.append(call)
        else:
            self._stacks.append(call)

    def passed(self) -> bool:
        """Return whether a portion of a coroutine that has begun runs before all that waits, which it then does."""
        if self.returned or self._begun or self._since >= _PORTIONS_FOR_ONE_BEGINNING:
            return False
        self._since += 1
        return True

    def next(self) -> _Call:
        """Remove what is next, and return it."""
        if self.returned:
            self._begun.extendleft(reversed(self.returned))
            self.returned.clear()
        self._since += 1
        beginning = self._steps or self._stacks
        if self._begun and not (beginning and self._since > _PORTIONS_FOR_ONE_BEGINNING):
            return self._begun.popleft()
        self._since = 0
        return beginning.popleft()


class _Portions:
    """Awaits a coroutine as `await work` does, but with a turn before each portion of it."""

    def __init__(
        self, scheduler: FairScheduler, turn: str, work: Generator[Any, Any, Any], beginning: StartPriority
    ) -> None:
        self._scheduler = scheduler
        self._turn = turn
        self._work = work
        self._beginning = beginning

    def __await__(self) -> Generator[Any, Any, Any]:
        error: BaseException | None = None
        scheduler, turn, beginning = self._scheduler, self._turn, self._beginning
        while True:
            if error is None and scheduler.has_to_wait(turn, beginning):
                try:
                    yield from scheduler.wait(turn, beginning)
                    while scheduler.is_time_used_up:
                        yield from scheduler.requeue(turn)
                except BaseException as cancelled:
                    error = cancelled
            beginning = StartPriority.AT_ONCE
            try:
                awaited = scheduler.run_portion(turn, self._work, error)
            except StopIteration as end:
                return end.value
            error = None
            try:
                yield awaited
            except BaseException as raised:
                error = raised


async def all_of(work: Sequence[Awaitable[Result]]) -> list[Result]:
    """Return the results, in order, as `asyncio.gather` does: but nothing is waited for, and no task is made, where
    there is nothing to do, and what is alone needs no task of its own.
    """
    return [await each for each in work] if len(work) <= 1 else await asyncio.gather(*work)


_THREADS = 2
_MANY_RESOURCES = 150
"""Checking or planning more resources than this takes longer than `seconds_at_once` usually is (about 0.1 ms each)."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[], object]
    context: Context
    answer: asyncio.Future[Any]


class Evaluator:
    """Does work for projects; used on one event loop. Work has no side effects, so that it can be restarted."""

    def __init__(self, seconds_at_once: float, freed_memory: FreedMemory) -> None:
        self._seconds_at_once = seconds_at_once
        self._freed_memory = freed_memory
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="evaluate")
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._busy: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def evaluate(self, project: str, work: Callable[[], Result], resources: int = 0) -> Result:
        """Return or raise the result of `work()`. It is charged to the current budget.

        `resources` is the number of resources that are checked or planned, where the work is in proportion to it.
        """
        if resources > _MANY_RESOURCES:
            return await self.compute_on_thread(project, work)
        try:
            return self.evaluate_at_once(work)
        except budget.Postponed:
            return await self.compute_on_thread(project, work)

    def evaluate_at_once(self, work: Callable[[], Result]) -> Result:
        """Return what `work()` returns; raises Postponed when it computes for too long."""
        return budget.at_once(self._seconds_at_once, work)

    async def compute_on_thread(self, project: str, work: Callable[[], Result]) -> Result:
        """Return the same, computed on a thread when it is the project's turn; a project has one job at a time."""
        job = _Job(work, copy_context(), asyncio.get_running_loop().create_future())
        self._waiting.setdefault(project, deque()).append(job)
        self._dispatch()
        try:
            result: Result = await job.answer
            return result
        finally:
            del job  # an error refers to this frame, and the job to the error

    def _dispatch(self) -> None:
        """Start jobs on free threads: the next job of the project that has waited longest."""
        for project in [name for name in self._waiting if name not in self._busy]:
            if len(self._busy) >= _THREADS:
                return
            jobs = self._waiting[project]
            while jobs and jobs[0].answer.done():  # cancelled in the meantime
                jobs.popleft()
            if not jobs:
                del self._waiting[project]
                continue
            self._busy.add(project)
            task = asyncio.ensure_future(self._do(project, jobs.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _do(self, project: str, job: _Job) -> None:
        try:
            result = await asyncio.get_running_loop().run_in_executor(
                self._threads, job.context.run, _compute_on_thread, job.work
            )
        except BaseException as error:
            if not job.answer.done():
                job.answer.set_exception(error)
        else:
            if not job.answer.done():
                job.answer.set_result(result)
        finally:
            del job
            self._freed_memory.evaluated()
            self._busy.discard(project)
            if project in self._waiting:
                self._waiting.move_to_end(project)
            self._dispatch()

    def stop(self) -> None:
        """Start no more jobs."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _compute_on_thread(work: Callable[[], Result]) -> Result:
    """Call `_computed`; return the memory of large work immediately, also what an error's frames and cycles keep."""
    try:
        return _computed(work)
    except BaseException as error:
        _clear(error)
        raise
    finally:
        forget_positions()
        gc.collect(1)
        trim()


def _clear(error: BaseException | None) -> None:
    """Free the variables of the frames in which errors were raised; they would be kept until the answer is sent."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _computed(work: Callable[[], Result]) -> Result:
    """Return the result of `work`, with its processor time charged to the current budget."""
    open_budget = budget.current()
    if open_budget is None:
        return work()
    with open_budget.computing():
        return work()
