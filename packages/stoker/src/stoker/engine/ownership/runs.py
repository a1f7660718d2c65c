"""The operations that run in this process, its lease, and when the operations of nested stacks begin.

An operation takes memory from its plan to its end. While calls of its project wait for a slot, another operation can
only add to them. So of the nested stacks of one operation, a few may be in progress at any time, and more begin only
when few calls wait: a tree of a thousand nested stacks is in memory as a whole only if all of it makes progress. What
those that have just begun will call is not seen yet, so a part of those in progress begins at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from stoker.base.errors import Fenced
from stoker.engine.calls.context import ActionComponents
from stoker.engine.ownership.peers import OtherEngines
from stoker.engine.records.services import RecordingServices
from stoker.engine.running.completion import OperationCompletion, lines_about, log_start
from stoker.engine.running.run import OperationRun
from stoker.engine.running.stop import LOST, Stop, is_superseded
from stoker.engine.scheduling import StartPriority
from stoker.store import queries
from stoker.store.records import Operation, Stack
from stoker_foundation.clock import Timer

SAFE_PART = 0.8
"""The part of its lease that an engine relies on; the rest is for the time until a call has been sent."""

_ALWAYS = 20
"""Number of nested stacks of one operation that may be in progress however many calls wait."""

_FEW_CALLS = 20
"""Number of waiting calls of a project up to which more may begin."""

_AT_A_TIME = 8
"""Number of those beyond that may begin at a time; a quarter of those in progress, if that is more."""

_SECONDS = 0.5
"""From the plan of an operation until its calls are seen to wait or not, and between two looks at the calls."""

_BEGINNING = "beginning"
"""What a run that must not begin yet waits for (see `PausedSteps.pause`)."""


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


class Lease:
    """Until when the operations that an engine has claimed are its own. Every heartbeat renews it.

    `renewed_at` is the time of the heartbeat, in seconds since the epoch.
    """

    def __init__(self, services: RecordingServices) -> None:
        self._services = services
        self.renewed_at = 0.0
        self._renewal: asyncio.Future[None] | None = None

    @property
    def is_expired(self) -> bool:
        """Whether others may own this engine's operations, for example after the process was paused."""
        return self._services.clock.now() > self.renewed_at + SAFE_PART * self._services.settings.lease_seconds

    async def wait_until_valid(self) -> None:
        """Return when the lease is valid: called before each change of the cloud, which no fence can prevent.

        Raises Fenced for a run whose claim has been lost.
        """
        while self.is_expired:
            await self.next_renewal()
        if LOST.get()():
            raise Fenced("another engine has taken it over")

    async def next_renewal(self) -> None:
        """Return after the next heartbeat of the engine."""
        if self._renewal is None:
            self._renewal = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._renewal)

    def renew(self, now: float) -> None:
        """Note that a heartbeat of this time has been recorded, and wake those that wait for it."""
        self.renewed_at = now
        if self._renewal is not None:
            self._renewal.set_result(None)
            self._renewal = None


@dataclass(slots=True)
class _Siblings:
    """The operations of nested stacks that one operation has begun, by ID: those in progress here, those of them
    whose calls are not seen yet, with the time from which they are, and those that wait.
    """

    begun: set[str] = field(default_factory=set)
    unseen: dict[str, float] = field(default_factory=dict)
    held: dict[str, OperationRun] = field(default_factory=dict)

    def begin(self, operation_id: str) -> None:
        self.held.pop(operation_id, None)
        self.begun.add(operation_id)
        self.unseen[operation_id] = inf

    def end(self, operation_id: str) -> None:
        self.held.pop(operation_id, None)
        self.begun.discard(operation_id)
        self.unseen.pop(operation_id, None)

    def unseen_at(self, now: float) -> int:
        """Return how many have begun whose calls are not seen at a time of the clock."""
        self.unseen = {name: retry_at for name, retry_at in self.unseen.items() if retry_at > now}
        return len(self.unseen)


class Admission:
    """Lets the operations of nested stacks begin, in the order in which they were recorded. Used on one event loop."""

    def __init__(self, services: RecordingServices) -> None:
        self._services = services
        self._siblings: dict[str, _Siblings] = {}
        self._timer: Timer | None = None

    @asynccontextmanager
    async def admitted(self, run: OperationRun) -> AsyncIterator[None]:
        """Wait until a run may begin, or is stopped. It has ended when the context ends."""
        above, name = run.operation.parent_operation, run.operation.id
        if above is None:
            yield
            return
        siblings = self._siblings.setdefault(above, _Siblings())
        siblings.held[name] = run
        self._admit(siblings)
        try:
            while name in siblings.held and not run.progress.ends_early:
                await run.waiting.pause(_BEGINNING, None)
            siblings.begin(name)
            yield
        finally:
            siblings.end(name)
            self._admit(siblings)
            if not siblings.begun and not siblings.held:
                del self._siblings[above]

    def planned(self, run: OperationRun) -> None:
        """Note that a run has made its plan; nothing is noted about one that has ended."""
        siblings = self._siblings.get(run.operation.parent_operation or "")
        if siblings is not None and run.operation.id in siblings.unseen:
            siblings.unseen[run.operation.id] = self._services.clock.monotonic() + _SECONDS

    def _admit(self, siblings: _Siblings) -> None:
        """Let those begin that may."""
        while siblings.held:
            name, run = next(iter(siblings.held.items()))
            if not self._has_room(siblings, run.stack.project_id):
                self._schedule_admission()
                return
            siblings.begin(name)
            run.wake(_BEGINNING)

    def _has_room(self, siblings: _Siblings, project_id: str) -> bool:
        if len(siblings.begun) < _ALWAYS:
            return True
        if siblings.unseen_at(self._services.clock.monotonic()) >= max(_AT_A_TIME, len(siblings.begun) // 4):
            return False
        return project_id not in self._services.credentials.pool.transport.saturated_projects(_FEW_CALLS)

    def _schedule_admission(self) -> None:
        if self._timer is None:
            self._timer = self._services.clock.call_later(_SECONDS, self._admit_waiting)

    def _admit_waiting(self) -> None:
        self._timer = None
        for siblings in self._siblings.values():
            self._admit(siblings)


class Runs(Mapping[str, OperationRun]):
    """The runs by their target (`OperationRun.key`). On each target one runs at a time; the next one waits for it.

    `lease` is that of the engine. `freed` is called with the ID of a stack on which it runs no operation any more.
    """

    def __init__(self, services: RecordingServices, endings: OperationCompletion, others: OtherEngines) -> None:
        self._services = services
        self._endings = endings
        self._others = others
        self.lease = Lease(services)
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
        self, components: ActionComponents, operation: Operation, stack: Stack, former_owner: str | None = None
    ) -> OperationRun:
        """Return a run of an operation; `former_owner` as in `OperationRun`."""
        return OperationRun(components, self._endings, operation, stack, former_owner)

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
            beginning = StartPriority.STACK if run.operation.parent_operation is not None else StartPriority.AT_ONCE
            background.spawn(self._services.scheduler.run(run.turn, partial(self._drive, run), beginning))
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
            self.launch(self.run_of(run.components, *run.progress.follow_up))
        elif self._others.alive:
            services.background.spawn(self.freed(run.stack.id))

    def stop(self) -> list[str]:
        """Make all runs stop; return the ids of the operations that waited for one, and do not begin any more."""
        waiting = [run.operation.id for run in self._next.values()]
        self._next.clear()
        for run in list(self._running.values()):
            run.stop(Stop.SHUTDOWN)
        return waiting
