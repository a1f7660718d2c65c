"""What the steps of a running operation share: its stack, its plan, its claim, waiting, and recording."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from stoker.engine.calls.context import OperationHost, StackContext
from stoker.engine.notifications.announcer import Sinks
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import Wanted
from stoker.engine.records.recorded import Recorded
from stoker.engine.records.state import ResourceState
from stoker.engine.running.polling import Watchtower
from stoker.engine.running.stopping import Stop, Stopped
from stoker.plugins.resource import AttributeKey
from stoker.store.journal import Batch, Claim
from stoker.store.records import Event, Operation, Stack

Result = TypeVar("Result")


class StepHost(OperationHost):
    """An engine as the steps of an operation need it.

    `searching` is held while the object of an interrupted creation is looked for. `watchtower` polls many objects with
    one request. `stopped` says that the engine takes nothing on any more.
    """

    searching: asyncio.Lock
    watchtower: Watchtower
    runs: Mapping[str, OperationContext]

    @property
    @abstractmethod
    def stopped(self) -> bool:
        """Whether the engine is being stopped."""

    @abstractmethod
    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside everything else; the engine's stop waits for it."""


class OperationContext(StackContext):
    """`moved` are the resources whose reference id has changed; `making` has the tasks that make an object whose id is
    not on disk yet, by the resource's uuid; `earlier` are the resources from before the run, by name.
    """

    def __init__(self, engine: StepHost, operation: Operation, stack: Stack) -> None:
        super().__init__(engine, stack, operation)
        self.engine: StepHost = engine
        self.operation: Operation = operation
        self.claim: Claim = Claim(operation.id, operation.epoch)
        self.moved: set[str] = set()
        self.earlier: Mapping[str, list[ResourceState]] = {}
        self.making: dict[str, asyncio.Task[Any]] = {}
        self.stopping: Stop | None = None
        self.cancelled = False
        self.wanted: Wanted | None = None
        self.plan: Plan | None = None
        self.attribute_keys: dict[str, set[AttributeKey]] = {}
        self.copies: dict[str, ResourceState] = {}
        self.snapshot_path: tuple[str, ...] = ()
        self._unsaved_plan = False
        self._paused: dict[str, asyncio.Future[None]] = {}
        self._woken: set[str] = set()
        self._position = 0

    @property
    def planned_secrets(self) -> frozenset[str]:
        """See StackView."""
        return self.plan.secrets if self.plan is not None else frozenset()

    @property
    def key(self) -> str:
        """What only one run at a time works on: the stack, or the snapshot that is removed."""
        return self.operation.stack_id

    async def evaluate(self, work: Callable[[], Result]) -> Result:
        """What comes of work that the template makes; it is charged to the operation."""
        return await self.engine.evaluator.evaluate(self.stack.project_id, work)

    def serves(self, state: ResourceState) -> bool:
        """Whether a resource is the one that the definition is brought about with."""
        name = state.row.name
        return self.wanted is not None and name in self.wanted.requires and self.current.get(name) is state

    # -- what steps ask for ----------------------------------------------------------------------------------

    def hooks(self, name: str) -> frozenset[str]:
        """Hooks that the environment sets on a resource."""
        return self.inputs.environment.registry.hooks(name) if self.inputs is not None else frozenset()

    def keys_of(self, name: str) -> set[AttributeKey]:
        """Attributes of a resource that others, or outputs, refer to."""
        return self.attribute_keys.get(name, set())

    # -- waiting and being woken -----------------------------------------------------------------------------

    async def pause(self, uuid: str, seconds: float | None) -> None:
        """Let a step wait `seconds`, or until somebody wakes it. Raises Stopped when the run stops."""
        self.check_stopped()
        if uuid in self._woken:
            self._woken.discard(uuid)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._paused[uuid] = future
        timer = None
        if seconds is not None:
            timer = self.engine.clock.call_later(seconds, lambda: self.wake(uuid))
        try:
            await future
        finally:
            del self._paused[uuid]
            self._woken.discard(uuid)
            if timer is not None:
                timer.cancel()
        self.check_stopped()

    def check_stopped(self) -> None:
        """Raise Stopped when the run has been told to stop."""
        if self.stopping is not None:
            raise Stopped(self.stopping.value)

    def wake(self, uuid: str) -> None:
        """Have a waiting step look again now."""
        future = self._paused.get(uuid)
        if future is None:
            self._woken.add(uuid)
        elif not future.done():
            future.set_result(None)

    def wake_all(self) -> None:
        """Have every waiting step look again now: something in the stack has been told something."""
        for future in self._paused.values():
            if not future.done():
                future.set_result(None)

    # -- recording -------------------------------------------------------------------------------------------

    def next_position(self) -> int:
        """Creation order of the next resource row."""
        self._position += 1
        return self._position

    async def commit(self, batch: Batch) -> None:
        """Commit changes under this run's claim; the first commit takes the plan along."""
        batch.claim = self.claim
        if self._unsaved_plan:
            self._unsaved_plan = False
            batch.change(self.operation)
        await self.engine.announcer.commit(batch, self.sinks)

    async def record(self, state: ResourceState, event: Event, *further: Callable[[Connection], None]) -> None:
        """See StackContext; the run's claim protects it here."""
        batch = Batch().change(state.seal()).add(event)
        batch.steps.extend(further)
        await self.commit(batch)

    @property
    def sinks(self) -> Sinks:
        """Where the environment has events sent."""
        return self.inputs.environment.event_sinks if self.inputs is not None else ()

    def event(self, state: ResourceState, reason: str = "state changed") -> Event:
        """An event that tells the state's present action and status."""
        return state.event(reason, self.engine.clock.now())

    def told(self, state: ResourceState) -> tuple[Event, ...]:
        """The event of a resource's present state; what a snapshot holds is no resource of the stack, and has none."""
        return (self.event(state),) if state.row.stack_id == self.stack.id else ()


async def acting_on(engine: StepHost, stack: Stack) -> StackContext:
    """The context in which a resource of the stack takes a signal or a message: that of the operation that is running
    here, so that its steps see what the resource received, else one that is read from the store.
    """
    running = engine.runs.get(stack.id)
    if running is not None and running.plan is not None:
        return running
    context = StackContext(engine, stack)
    context.fill(await engine.database.read(partial(Recorded.of, engine), stack))
    return context
