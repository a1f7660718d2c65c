"""A stack that an operation or a signal acts on, and the operations that this process waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Connection

from stoker.engine.calls.object_search import SearchTurns
from stoker.engine.calls.polling import ObjectPoller
from stoker.engine.notifications.announcer import Announcer
from stoker.engine.records.loader import LoadedInputs, Prepared
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.records.stack_view import StackView
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import AttributeKey
from stoker.store import claims, queries
from stoker.store.journal import Batch, Claim, Statement, Writer
from stoker.store.records import UNFINISHED, Event, Operation, Record, Stack


class AwaitedOperations:
    """The functions to call when operations finish. Used on one event loop."""

    def __init__(self) -> None:
        self._wakes: dict[str, dict[str, Callable[[Operation | None], None]]] = {}

    def wait(self, operation_id: str, who: str, wake: Callable[[Operation | None], None]) -> None:
        """Call `wake` when an operation finishes; `who` identifies the waiter, which is registered once.

        It is given the operation as recorded at its end, if that was here; otherwise the record has to be read.
        """
        self._wakes.setdefault(operation_id, {})[who] = wake

    def ended(self, operation_id: str, operation: Operation | None = None) -> bool:
        """Wake the waiters of a finished operation; return whether there were any."""
        waiters = self._wakes.pop(operation_id, {})
        for wake in waiters.values():
            wake(operation)
        return bool(waiters)

    def running_elsewhere(self, here: Collection[str]) -> list[str]:
        """Return the awaited operations that do not run here."""
        return [identifier for identifier in self._wakes if identifier not in here]


class NestedReader(Protocol):
    """Reads nested stacks for the resources that contain them (`inspection.reading.Reader`)."""

    async def view(self, stack: Stack) -> StackView:
        """Return the stack as currently recorded."""

    async def attribute(self, view: StackView, resource: str, key: AttributeKey) -> object:
        """Return an attribute with the path that follows it; None if there is no such resource or value."""

    async def outputs(self, stack: Stack, inputs: LoadedInputs) -> list[dict[str, Any]]:
        """Return the stack's outputs, resolved."""


class Runs(Protocol):
    """The operations that run in this engine, by their target."""

    def get(self, key: str, /) -> StackContext | None:
        """Return the operation that runs on a target."""

    def values(self) -> Collection[StackContext]:
        """Return all operations that run."""

    def all(self) -> Sequence[StackContext]:
        """Return the operations that run here, and those that wait for them to stop."""

    def planned(self, run: Any) -> None:
        """Note that a run has made its plan."""

    async def refreshed(self, operation: Operation) -> Operation:
        """Return the current state of the operation."""


class Submissions(Protocol):
    """Accepts operations, on nested stacks and on the trees of stacks that a signal is about."""

    async def submit_new(self, stack: Stack, operation: Operation, prepared: Prepared, *, writer: Writer) -> None:
        """Record a new stack with its first operation, and start it."""

    async def submit(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared | None = None,
        *,
        values: dict[str, Any] | None = None,
        guard: Callable[[Stack], object] | None = None,
        fresh: Callable[[Connection], object] | None = None,
        steps: Sequence[Statement] = (),
        rows: Sequence[Record] = (),
        new: Sequence[Record] = (),
        writer: Writer,
    ) -> None:
        """Record an operation on an existing stack, and start it."""

    async def ended(self, operation: Operation) -> Operation:
        """Return the operation once it has finished, in whichever engine it runs."""

    async def replace(self, stack: Stack, state: ResourceState, reason: str) -> str:
        """Begin an update that replaces a resource; return the result. Raises NoActionRequired."""


@dataclass(frozen=True)
class ActionComponents:
    """The parts of an engine for what acts on stacks: operations, signals, checks of objects.

    `awaited` wakes those that wait for other operations to finish. `reader` reads nested stacks, `object_poller` polls
    many objects with one request. `writer_for` returns what the run with a claim writes with. `sending` is a lock for
    scaling a group after a signal, so that signals are processed one after the other, `searches` are the turns of
    searches for the objects of interrupted creations.
    """

    services: EngineServices
    announcer: Announcer
    awaited: AwaitedOperations
    runs: Runs
    submissions: Submissions
    reader: NestedReader
    object_poller: ObjectPoller
    writer_for: Callable[[Claim], Writer]
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    searches: SearchTurns = field(default_factory=SearchTurns)


@dataclass(frozen=True)
class RecordingComponents(ActionComponents):
    """The same for what acts outside of operations, and records without a claim."""

    services: RecordingServices


@dataclass(slots=True)
class NestedOperations:
    """The operations that an operation has begun on nested stacks: by the resource's uuid, round and action.

    `reason_code` is that of one that has failed. `lacking` are the new resources, by uuid, for which no nested stack
    was requested yet.
    """

    begun: dict[tuple[str, int, str], Operation] = field(default_factory=dict)
    reason_code: str | None = None
    lacking: set[str] = field(default_factory=set)

    def note(self, key: tuple[str, int, str], operation: Operation) -> None:
        """Note how far an operation is; the plan of one that has ended is left out, since it can be large."""
        self.begun[key] = replace(operation, plan=None) if operation.status not in UNFINISHED else operation


class StackContext(StackView):
    """A view that can record changes of the stack with its `writer`: that of a run adds the run's claim."""

    def __init__(
        self, components: ActionComponents, stack: Stack, writer: Writer, operation: Operation | None = None
    ) -> None:
        super().__init__(components.services, stack)
        self.components = components
        self.writer = writer
        self.operation = operation
        self.nested = NestedOperations()

    def adopted(self, name: str) -> Mapping[str, Any]:
        """Return the document of a resource that the operation adopts; empty if there is none."""
        return {}

    @property
    def has_plan(self) -> bool:
        """Whether an operation with a plan acts on the stack, which changes `states` and `current`."""
        return False

    async def adopt_user_project(self, project_id: str | None) -> None:
        """Record the project that a resource has created for the stack users of the tree."""
        if project_id is None or project_id == self.stack.user_project_id:
            return
        self.stack.user_project_id, self._facts = project_id, None
        step = partial(queries.set_user_project, root_id=self.stack.root_id, project_id=project_id)
        await self.writer.commit(Batch().then(step))

    def wake(self, uuid: str) -> None:
        """Poll everything that waits for the resource; here, nothing waits."""

    def wake_all(self) -> None:
        """Poll everything that waits; here, nothing waits."""

    async def record(self, state: ResourceState, event: Event, *further: Callable[[Connection], None]) -> None:
        """Commit changes of a resource outside of a step, the event, and further changes in `further`."""
        as_read = state.sealed_state.read() if state.sealed_state is not None else None
        changed = state.seal()
        batch = Batch().then(partial(claims.change_from_outside, row=changed, as_read=as_read)).add(event)
        batch.steps.extend(further)
        announcer = self.components.announcer
        await announcer.commit(self.writer, batch, await announcer.sinks_of(self.stack))
