"""Carry out plans for one run: start each step when the steps before it have ended."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from functools import partial

from stoker.base.errors import Bug, Fenced
from stoker.base.ids import new_id
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Plan, Step, StepGraph
from stoker.engine.records.failure import Failure
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.steps import StepRunner
from stoker.engine.running.stopping import LOST, RESOURCE, Stop, Stopped

LOG = logging.getLogger(__name__)


class Schedule:
    """Runs one plan at a time. `tasks` are those of the steps in progress, and `active` is their number."""

    def __init__(self, run: OperationContext) -> None:
        self.runner = StepRunner(run)
        self.tasks: set[asyncio.Task[None]] = set()
        self.active = 0
        self._run = run
        self._graph = StepGraph()
        self._idle = asyncio.Event()

    async def carry_out(self, plan: Plan) -> None:
        """Return when all steps have ended, or all that could be started."""
        self._graph = StepGraph.of(plan)
        self._idle.clear()
        self._start(self._graph.ready())
        if self.active:
            await self._idle.wait()

    def _start(self, ready: Iterable[Step]) -> None:
        """Start steps; kept resources release their dependents immediately."""
        run, pending = self._run, deque(ready)
        while pending and run.progress.stopping is None and not run.progress.cancelled:
            step = pending.popleft()
            if step.kind is Kind.KEEP and self.runner.keep_as_is(step):
                pending.extend(self._graph.finished(step.key))
                continue
            self.active += 1
            task = asyncio.create_task(run.services.turns.taken(run.turn, partial(self._guard, step)))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _guard(self, step: Step) -> None:
        run, progress = self._run, self._run.progress
        LOST.set(lambda: progress.stopping is Stop.LOST)
        RESOURCE.set((run.stack.id, step.name))
        try:
            await self.runner.run(step)
        except Failure as failure:
            progress.failures.append(failure.bare())
        except (Stopped, Fenced):
            progress.stopping = progress.stopping or Stop.SUPERSEDED
        except Exception as error:
            reference = new_id()
            LOG.exception("step %r of operation %s failed unexpectedly, %s", step.key, run.operation.id, reference)
            progress.failures.append(Failure.of(Bug(str(error), reference), step.name))
        else:
            self._start(self._graph.finished(step.key))
        self.active -= 1
        self.end_if_idle()

    def end_if_idle(self) -> None:
        """Make `carry_out` return if no step is in progress."""
        if not self.active:
            self._idle.set()

    def end(self) -> None:
        """Make `carry_out` return, although steps may be in progress."""
        self._idle.set()

    def cancel(self, besides: set[asyncio.Task[object]]) -> None:
        """Cancel all steps in progress but some."""
        for task in self.tasks - besides:
            task.cancel()

    def release(self) -> None:
        """Release the steps of the plan."""
        self._graph = StepGraph()
