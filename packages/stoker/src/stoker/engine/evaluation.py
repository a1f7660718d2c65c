"""Evaluation of templates: on the event loop if it is short, on a thread if it is long.

Short work must not wait for a thread, and long work must not delay other requests, heartbeats and operations. So work
begins on the event loop; if it exceeds `seconds_at_once` of processor time, it starts again from the beginning on a
thread. Work that is known to be long, because it is for many resources, begins on a thread. There are few such threads,
and projects take turns on them: a project with expensive templates delays only itself.
"""

from __future__ import annotations

import asyncio
import gc
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass
from traceback import clear_frames
from typing import Any, TypeVar

from stoker.base import budget
from stoker.engine.memory import FreedMemory, trim
from stoker.template.document import forget_positions

Result = TypeVar("Result")

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
            return await self.apart(project, work)
        try:
            return self.evaluate_at_once(work)
        except budget.Postponed:
            return await self.apart(project, work)

    def evaluate_at_once(self, work: Callable[[], Result]) -> Result:
        """Return what `work()` returns; raises Postponed when it computes for too long."""
        with budget.at_once(self._seconds_at_once):
            return _computed(work)

    async def apart(self, project: str, work: Callable[[], Result]) -> Result:
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
            result = await asyncio.get_running_loop().run_in_executor(self._threads, job.context.run, _apart, job.work)
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


def _apart(work: Callable[[], Result]) -> Result:
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
