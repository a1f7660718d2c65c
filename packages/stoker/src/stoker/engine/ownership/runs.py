"""The operations that run in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from stoker.engine.calls.context import ActingParts
from stoker.engine.ownership.admission import Admission
from stoker.engine.ownership.peers import OtherEngines
from stoker.engine.records.services import RecordingServices
from stoker.engine.running.endings import Endings, lines_about, log_start
from stoker.engine.running.run import OperationRun
from stoker.engine.running.stopping import Stop, is_superseded
from stoker.store import queries
from stoker.store.records import Operation, Stack


async def _nothing(stack_id: str) -> None:
    """Do nothing when a stack is free."""


async def until_planned(services: RecordingServices, runs: Iterable[OperationRun]) -> None:
    """Return when runs have made their plans or have ended; those that need longer than a heartbeat are left."""
    waiting = {asyncio.ensure_future(run.progress.planned.wait()) for run in runs}

    def leave() -> None:
        for task in waiting:
            task.cancel()

    timer = services.clock.call_later(services.settings.heartbeat_seconds, leave)
    try:
        if waiting:
            await asyncio.wait(waiting)
    finally:
        timer.cancel()


class Runs(Mapping[str, OperationRun]):
    """The runs by their target (`OperationRun.key`). On each target one runs at a time; the next one waits for it.

    `freed` is called with the id of a stack on which no operation of this engine runs any more.
    """

    def __init__(self, services: RecordingServices, endings: Endings, others: OtherEngines) -> None:
        self._services = services
        self._endings = endings
        self._others = others
        self._running: dict[str, OperationRun] = {}
        self._next: dict[str, OperationRun] = {}
        self._taken_on: set[str] = set()
        self._claiming = 0
        self._unplanned: dict[str, OperationRun] = {}
        self._admission = Admission(services)
        self.freed: Callable[[str], Coroutine[Any, Any, None]] = _nothing

    def __getitem__(self, key: str) -> OperationRun:
        return self._running[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._running)

    def __len__(self) -> int:
        return len(self._running)

    def all(self) -> list[OperationRun]:
        """Return the operations that run here, and those that wait for them to stop."""
        return [*self._running.values(), *self._next.values()]

    def of(self, key: str) -> tuple[OperationRun | None, OperationRun | None]:
        """Return the run on a target, and the one that waits for it."""
        return self._running.get(key), self._next.get(key)

    @contextmanager
    def taking_on(self, operation_id: str) -> Iterator[None]:
        """Mark an operation that is recorded as this engine's until a run processes it or waits for its turn."""
        self._taken_on.add(operation_id)
        try:
            yield
        finally:
            self._taken_on.discard(operation_id)

    @contextmanager
    def claiming(self) -> Iterator[None]:
        """Mark all operations without a run as taken on, while it is not known which ones are being claimed."""
        self._claiming += 1
        try:
            yield
        finally:
            self._claiming -= 1

    def is_missing(self, operation_id: str, key: str) -> bool:
        """Return whether an operation of this engine has no run, and will not get one when the current run has ended.

        `key` is its target.
        """
        return not self._claiming and operation_id not in self._taken_on and key not in self._running

    @property
    def beginning(self) -> int:
        """The number of operations that are being recorded here, or have begun and not made a plan yet."""
        return len(self._taken_on) + len(self._unplanned)

    def planned(self, run: OperationRun) -> None:
        """Note that a run has made its plan, or has ended."""
        self._unplanned.pop(run.operation.id, None)
        self._admission.planned(run)

    async def until_planned(self) -> None:
        """Return when all that runs here has made its plan or has ended, or after the time between heartbeats."""
        await until_planned(self._services, list(self._unplanned.values()))

    async def refreshed(self, operation: Operation) -> Operation:
        """Return the current state of the operation."""
        for run in self.of(operation.stack_id):
            if run is not None and run.operation.id == operation.id:
                return run.operation
        return await self._services.database.read(queries.operation_by_id, operation.id) or operation

    def run_of(
        self, parts: ActingParts, operation: Operation, stack: Stack, former_owner: str | None = None
    ) -> OperationRun:
        """Return a run of an operation; `former_owner` as in `OperationRun`."""
        return OperationRun(parts, self._endings, operation, stack, former_owner)

    def launch(self, run: OperationRun) -> None:
        """Start a run, as soon as the one on the same target has stopped.

        Operations claimed while this engine is being stopped are handed over like all others.
        """
        background = self._services.background
        if background.stopped:
            run.stop(Stop.SHUTDOWN)
        running, overtaken = self.of(run.key)
        if running is None:
            self._running[run.key] = run
            self._unplanned[run.operation.id] = run
            nested = run.operation.parent_operation is not None
            background.spawn(self._services.turns.taken(run.turn, partial(self._drive, run), patient=nested))
            return
        if is_superseded(running.operation.action, run.operation.action):
            running.stop(Stop.SUPERSEDED)
        self._next[run.key] = run
        if overtaken is not None:
            background.spawn(self._endings.end_superseded(overtaken.operation, overtaken.stack))

    async def _drive(self, run: OperationRun) -> None:
        services = self._services
        with lines_about(run.operation, run.stack):
            log_start(run.operation, run.stack, run.assignment.former_owner)
            async with self._admission.admitted(run):
                await run.run()
        try:
            now = await services.database.read(queries.stack_by_id, run.stack.id) if run.key in self._next else None
        finally:
            self.planned(run)
            if self._running.get(run.key) is run:
                del self._running[run.key]
            following = self._next.pop(run.key, None)
            services.memory.freed.ended(run.release())
        if following is not None and not services.background.stopped:
            following.stack = now or following.stack
            self.launch(following)
        elif run.progress.follow_up is not None and not services.background.stopped:
            self.launch(self.run_of(run.parts, *run.progress.follow_up))
        elif self._others.alive:
            services.background.spawn(self.freed(run.stack.id))

    def stop(self) -> list[str]:
        """Make all runs stop; return the ids of the operations that waited for one, and do not begin any more."""
        waiting = [run.operation.id for run in self._next.values()]
        self._next.clear()
        for run in list(self._running.values()):
            run.stop(Stop.SHUTDOWN)
        return waiting
