"""A stack that is acted on: by an operation, or by a signal to one of its resources."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Connection

from stoker.engine.calls.awaited import Awaited
from stoker.engine.notifications.announcer import Announcer
from stoker.engine.records.loader import LoadedInputs, Prepared
from stoker.engine.records.recorded import current_of, read_states
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import AttributeKey
from stoker.store import claims, queries
from stoker.store.journal import Batch, Claim, Writer
from stoker.store.records import Event, Operation, Record, Stack


class NestedReader(Protocol):
    """Reads nested stacks for the resources that contain them (`inspection.reading.Reader`)."""

    async def view(self, stack: Stack) -> StackView:
        """Return the stack as currently recorded."""

    async def attribute(self, view: StackView, resource: str, key: AttributeKey) -> Any:
        """Return an attribute with the path that follows it; None if there is no such resource or value."""

    async def outputs(self, stack: Stack, inputs: LoadedInputs) -> list[dict[str, Any]]:
        """Return the stack's outputs, resolved."""


class OperationHost(EngineServices, ABC):
    """The part of an engine that calls of resource types need: it accepts operations on nested stacks, and notifies.

    `runs` are the operations that run here, by their target. `awaited` wakes those that wait for other operations to
    finish. `scaling` is a lock for scaling a group after a signal, so that signals are processed one after the other.
    """

    announcer: Announcer
    awaited: Awaited
    sending: asyncio.Lock
    reader_for_runs: NestedReader
    runs: Mapping[str, StackContext]

    @abstractmethod
    def all_runs(self) -> Sequence[StackContext]:
        """Return the operations that run here, and those that wait for them to stop."""

    @abstractmethod
    async def submit_new(self, stack: Stack, operation: Operation, prepared: Prepared, *, writer: Writer) -> None:
        """Record a new stack with its first operation, and start it."""

    @abstractmethod
    async def submit(
        self,
        stack: Stack,
        operation: Operation,
        prepared: Prepared | None = None,
        *,
        values: dict[str, Any] | None = None,
        guard: Callable[[Stack], object] | None = None,
        fresh: Callable[[Connection], object] | None = None,
        rows: Sequence[Record] = (),
        new: Sequence[Record] = (),
        writer: Writer,
    ) -> None:
        """Record an operation on an existing stack, and start it."""

    @abstractmethod
    def writer_for(self, claim: Claim) -> Writer:
        """Return what the run with this claim writes with."""

    @abstractmethod
    async def replace(self, stack: Stack, state: ResourceState, reason: str) -> str:
        """Begin an update that replaces a resource; return the result. Raises NoActionRequired."""

    @abstractmethod
    async def refreshed(self, operation: Operation) -> Operation:
        """Return the current state of the operation."""


class StackContext(StackView):
    """A view that can record changes of the stack with its `writer`: that of a run adds the run's claim."""

    def __init__(self, engine: OperationHost, stack: Stack, writer: Writer, operation: Operation | None = None) -> None:
        super().__init__(engine, stack)
        self.engine = engine
        self.writer = writer
        self.operation = operation
        self.reason_code: str | None = None
        self.children: dict[tuple[str, int, str], Operation] = {}
        self.adopted: Mapping[str, Mapping[str, Any]] = {}

    async def load(self, inputs_id: str) -> LoadedInputs:
        """Read inputs and all recorded resources of the stack; `current` receives those that have not been replaced."""
        inputs, states = await self.engine.database.read(self._read, inputs_id)
        self.inputs = inputs
        self.states |= states
        self.current |= current_of(self.states)
        return inputs

    def _read(self, connection: Connection, inputs_id: str) -> tuple[LoadedInputs, dict[str, ResourceState]]:
        return self.engine.loader.load_now(connection, inputs_id), read_states(connection, self.engine, self.stack)

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
        announcer = self.engine.announcer
        await announcer.commit(self.writer, batch, await announcer.sinks_of(self.stack))
