"""Shared by the steps of a running operation: its stack, plan, claim and progress, waiting, and recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection

from stoker.base.budget import Postponed
from stoker.contract.views import NO_REASON
from stoker.engine.calls.context import ActionComponents, StackContext
from stoker.engine.notifications.announcer import Sinks
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.planning.decide import KeptTargets
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.relocation import CompletedMoves
from stoker.engine.planning.retention import RemovalOptions, Retention, UndeletedObject
from stoker.engine.records import object_owners
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.failure import Failure
from stoker.engine.records.stack_view import filled
from stoker.engine.records.state import ResourceState
from stoker.engine.running.stop import Stop, Stopped
from stoker.plugins.resource import AttributeKey
from stoker.store import claims, deaths
from stoker.store.journal import Batch, Claim, Writer
from stoker.store.records import Event, Operation, Resource, Stack
from stoker_foundation.clock import Clock


class PausedSteps:
    """The waiting steps of one run. `paused` are the futures that they wait for, by the resource's uuid."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.paused: dict[str, asyncio.Future[None]] = {}
        self._woken: set[str] = set()

    async def pause(self, uuid: str, seconds: float | None) -> bool:
        """Wait for `seconds`, or until the step is woken; return False if it was woken before it began to wait."""
        if uuid in self._woken:
            self._woken.discard(uuid)
            return False
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.paused[uuid] = future
        timer = None
        if seconds is not None:
            timer = self._clock.call_later(seconds, lambda: self.wake(uuid))
        try:
            await future
        finally:
            del self.paused[uuid]
            self._woken.discard(uuid)
            if timer is not None:
                timer.cancel()
        return True

    def wake(self, uuid: str) -> None:
        """Poll a waiting step now."""
        future = self.paused.get(uuid)
        if future is None:
            self._woken.add(uuid)
        elif not future.done():
            future.set_result(None)

    def wake_all(self) -> None:
        """Poll all waiting steps now."""
        for future in self.paused.values():
            if not future.done():
                future.set_result(None)


@dataclass(frozen=True)
class Assignment:
    """How an operation came to this engine: with which claim, when, and from which engine, unless that one handed it
    over or there was none.
    """

    claim: Claim
    claimed_at: float
    former_owner: str | None = None


@dataclass(slots=True)
class PlanningResult:
    """What a run has planned, and from what: set before the first step, and only read by the steps.

    `removal_options` is how the operation removes resources. `targets` are those that the plan has found and that steps
    take from there.

    `earlier` are the resources from before the run, by name. `attribute_keys` are the attributes of each resource that
    others refer to. `adopted` are the documents of adopted resources, `copies` those of the snapshot that the operation
    is about, by resource, and `snapshot_path` the place of the stack in it. `snapshots` are the IDs of those of a stack
    that is being deleted: it gets no further ones. `imported` is that of `Forward`. `relocated` is what was moved, None
    if nothing could be. `policies` are those that the plan must satisfy, `written` those of the project and the tree as
    YAML, once they were read.
    """

    removal_options: RemovalOptions = field(default_factory=RemovalOptions)
    desired: DesiredState | None = None
    plan: Plan | None = None
    targets: KeptTargets = field(default_factory=KeptTargets)
    earlier: Mapping[str, list[ResourceState]] = field(default_factory=dict)
    attribute_keys: dict[str, set[AttributeKey]] = field(default_factory=dict)
    adopted: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    copies: dict[str, ResourceState] = field(default_factory=dict)
    snapshot_path: tuple[str, ...] = ()
    imported: Mapping[str, str] = field(default_factory=dict)
    snapshots: Sequence[str] = ()
    relocated: CompletedMoves | None = None
    policies: tuple[Policy, ...] = ()
    written: Mapping[str, str] | None = None

    def keys_of(self, name: str) -> set[AttributeKey]:
        """Return the attributes of a resource that others, or outputs, refer to."""
        return self.attribute_keys.get(name, set())


@dataclass(slots=True)
class Objects:
    """What steps know of objects beyond the record.

    `moved` are the names of the resources whose reference id has changed; `making` are the tasks that create an object
    whose id is not stored yet, by the resource's uuid; `late` are the resources, by uuid, for which a service may
    execute a request late. `position` is that of the latest resource row, in the order of creation.
    """

    moved: set[str] = field(default_factory=set)
    making: dict[str, asyncio.Task[object]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    position: int = 0

    def next_position(self) -> int:
        """Return the position of the next resource row in creation order."""
        self.position += 1
        return self.position


@dataclass(slots=True)
class Progress:
    """How far a run is, and how it ends.

    `planned` is set when its plan is made, or it has ended without one; `done` when the run has ended and is fully
    recorded. `stopping` is why it starts no more steps, unless it was `cancelled`. `failures` are those of its steps,
    `failure` that with which the operation has ended, with secrets redacted. `refused` is true when a plug-in or a
    check has refused the operation, and nothing has been done for it. `left` are the objects that a forced deletion
    could not delete. `document` is the sealed document of a new snapshot. `follow_up` is the operation that follows on
    the stack. Until the first commit, the plan is an `unsaved_plan`, and `unsaved_transfers` are new names of
    resources, and imported ones; `unsaved_outputs` are the resources whose attributes were read for outputs, until
    the end is recorded. `events` is the number of the resources' events, those that were not recorded among them.
    """

    planned: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: Stop | None = None
    cancelled: bool = False
    failures: list[Failure] = field(default_factory=list)
    failure: Failure | None = None
    refused: bool = False
    left: list[UndeletedObject] = field(default_factory=list)
    document: str | None = None
    follow_up: tuple[Operation, Stack] | None = None
    unsaved_plan: bool = False
    unsaved_transfers: Batch | None = None
    unsaved_outputs: list[ResourceState] = field(default_factory=list)
    events: int = 0

    @property
    def ends_early(self) -> bool:
        """Whether no more steps are started."""
        return bool(self.failures) or self.stopping is not None or self.cancelled


Result = TypeVar("Result")


class OperationContext(StackContext):
    """The stack and the operation, the parts of the engine, and what the steps share: see `progress`, `waiting`."""

    def __init__(
        self, components: ActionComponents, operation: Operation, stack: Stack, former_owner: str | None = None
    ) -> None:
        services, claim = components.services, Claim(operation.id, operation.epoch)
        retention = Retention.of(operation)
        super().__init__(components, stack, components.writer_for(claim), operation)
        self.operation: Operation = operation
        self.assignment = Assignment(claim, services.clock.now(), former_owner)
        self.progress = Progress(left=list(retention.left))
        skipped = retention.skipped if operation.action in FORWARD else frozenset[str]()
        self.planning = PlanningResult(
            RemovalOptions(operation.action, retention.retained, retention.forced, skipped=skipped)
        )
        self.objects = Objects()
        self.waiting = PausedSteps(services.clock)

    @property
    def planned_secrets(self) -> frozenset[str]:
        """See StackView."""
        return self.planning.plan.secrets if self.planning.plan is not None else frozenset()

    def adopted(self, name: str) -> Mapping[str, Any]:
        """See StackContext."""
        return self.planning.adopted.get(name, {})

    @property
    def has_plan(self) -> bool:
        """See StackContext."""
        return self.planning.plan is not None

    @property
    def key(self) -> str:
        """Return the target that only one run at a time works on: the stack, or the snapshot that is deleted."""
        return self.operation.stack_id

    @property
    def turn(self) -> str:
        """Return the turn in which the operation computes (see `FairScheduler`): that of its project's operations."""
        return f"operations of {self.stack.project_id}"

    async def evaluate_values(self, work: Callable[[], Result], size: Callable[[Result], int]) -> Result:
        """As `evaluate`, for values that the running step keeps; large ones when there is room for them.

        `size` returns the bytes of the result.
        """
        services, project = self.services, self.stack.project_id
        if not services.memory.values.full(project):
            with suppress(Postponed):
                return services.evaluator.evaluate_at_once(work)
        async with services.memory.values.turn(project) as hold_bytes:
            result, result_size = await services.evaluator.compute_on_thread(project, partial(_with_size, work, size))
            hold_bytes(result_size)
            return result

    def values_of(self, name: str, uuid: str | None) -> list[ResourceState]:
        """The resources that a step may change: those of the name, and the one that it is about."""
        if self.progress.stopping is Stop.LOST:
            return []
        found = _resources_of(self, name)
        state = self.states.get(uuid or "")
        return found if state is None or any(state is each for each in found) else [state, *found]

    def serves(self, state: ResourceState) -> bool:
        """Return whether a resource is the one that implements the definition."""
        name, desired = state.row.name, self.planning.desired
        return desired is not None and name in desired.requires and self.current.get(name) is state

    # -- waiting ---------------------------------------------------------------------------------------------

    async def pause(self, uuid: str, seconds: float | None) -> None:
        """Wait for `seconds`, or until the step is woken. Raises Stopped when the run stops."""
        self.check_stopped()
        if not await self.waiting.pause(uuid, seconds):
            return
        self.check_stopped()
        await self._note_work()

    async def _note_work(self) -> None:
        """Record that the operation works again before it does, if it was taken over a short time ago.

        If the engine that ran it before died of it, this one may do so before its next heartbeat.
        """
        recent = self.services.clock.now() < self.assignment.claimed_at + deaths.LONG_RUN_SECONDS
        if self.assignment.claim.epoch > 1 and recent and self.operation.waiting_epoch == self.assignment.claim.epoch:
            self.operation.waiting_epoch = None
            note = partial(claims.note_activity, engine_id=self.services.id, waiting=(), working=(self.operation.id,))
            await self.writer.commit(Batch().then(note))

    @property
    def begins_stack(self) -> bool:
        """Whether nothing of the stack was recorded before this run besides its beginning."""
        operation = self.operation
        return operation.action == "CREATE" and operation.former_inputs is None and operation.epoch <= 1

    def check_stopped(self) -> None:
        """Raise Stopped if the run must stop."""
        if self.progress.stopping is not None:
            raise Stopped(self.progress.stopping.value)

    def wake(self, uuid: str) -> None:
        """Poll a waiting step now."""
        self.waiting.wake(uuid)

    def wake_all(self) -> None:
        """Poll all waiting steps now, since something in the stack has received a message."""
        self.waiting.wake_all()

    # -- recording -------------------------------------------------------------------------------------------

    async def commit(self, batch: Batch) -> None:
        """Commit changes under this run's claim; the first commit includes the plan, and what was moved and imported.

        Raises ObjectAlreadyOwned if a resource gets an object that belongs to another one.
        """
        if self.progress.unsaved_plan:
            self.progress.unsaved_plan = False
            batch.change(self.operation)
        if (transfers := self.progress.unsaved_transfers) is not None:
            self.progress.unsaved_transfers = None
            batch.precede_with(transfers)
        batch.claims.clear()  # those of an attempt that was refused
        acquired = [(row, self.states[row.uuid]) for row in _resources_in(batch) if self._acquires(row)]
        grants = object_owners.claim(batch, acquired, partial(_resources_of, self), self.stack) if acquired else []
        await self.components.announcer.commit(self.writer, batch, self.sinks)
        for grant in grants:
            grant.state.recorded_id, grant.state.row.ownership = grant.physical_id, grant.ownership

    def _acquires(self, row: Resource) -> bool:
        """Return whether a row to write has another physical ID than the record; copies of snapshots do not count."""
        state = self.states.get(row.uuid)
        return state is not None and row.stack_id == self.stack.id and row.physical_id != state.recorded_id

    async def record(self, state: ResourceState, event: Event, *further: Callable[[Connection], None]) -> None:
        """Implements StackContext; protected by the run's claim."""
        batch = Batch().change(state.seal()).add(event)
        batch.steps.extend(further)
        await self.commit(batch)

    @property
    def sinks(self) -> Sinks:
        """Return the event sinks in the environment."""
        return self.inputs.environment.event_sinks if self.inputs is not None else ()

    def event(self, state: ResourceState, reason: str = NO_REASON, *, cause: Failure | None = None) -> Event:
        """Return an event for the current action and status; `cause` is the failure that it reports, if any."""
        self.progress.events += 1
        return state.event(reason, self.services.clock.now(), None if cause is None else cause.path_json())

    def events_for(self, state: ResourceState, reason: str = NO_REASON) -> tuple[Event, ...]:
        """Return the event of a resource's current state; content copies of snapshots have none."""
        return (self.event(state, reason),) if state.row.stack_id == self.stack.id else ()


def has_hook(run: OperationContext, name: str, moment: str, action: str) -> bool:
    """Return whether the environment has a resource wait, `pre` or `post` (`moment`) an action on it.

    A hook applies to the action of the stack, not to replacements.
    """
    if run.operation.action != action or run.inputs is None:
        return False
    return hook_name(moment, action) in run.inputs.environment.registry.hooks(name)


def hook_name(moment: str, action: str) -> str:
    """Return the name of a hook in environments and in the data of resources."""
    return f"{moment}-{action.lower()}"


def _resources_in(batch: Batch) -> Collection[Resource]:
    """Return the rows of resources that a batch writes, each as it is written last."""
    return {row.uuid: row for row in (*batch.added, *batch.changed) if isinstance(row, Resource)}.values()


def _with_size(work: Callable[[], Result], size: Callable[[Result], int]) -> tuple[Result, int]:
    result = work()
    return result, size(result)


async def acting_on(components: ActionComponents, stack: Stack, writer: Writer) -> StackContext:
    """Return the context for a signal or a message to a resource: that of the operation that runs here, so that its
    steps see the effects, otherwise a new one that is read from the database and records with `writer`.
    """
    running = components.runs.get(stack.id)
    if running is not None and running.has_plan:
        return running
    return await filled(StackContext(components, stack, writer))


def _resources_of(run: OperationContext, name: str) -> list[ResourceState]:
    """Return the recorded resources of a name: the current one, and those from before the run."""
    found = (run.current.get(name), *run.planning.earlier.get(name, ()))
    known = {id(state): state for state in found if state is not None and state.row.uuid in run.states}
    return list(known.values())
