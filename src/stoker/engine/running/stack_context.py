"""A stack that something is done to: by an operation, or by a signal to one of its resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.recorded import Recorded, current_of, read_states
from stoker.engine.records.stack_view import StackView
from stoker.engine.records.state import ResourceState
from stoker.store import claims, queries
from stoker.store.journal import Batch, Claim
from stoker.store.records import Event, Operation, Stack

if TYPE_CHECKING:
    from stoker.engine.core import Engine


class StackContext(StackView):
    """A view that can record what is done to the stack."""

    def __init__(self, engine: Engine, stack: Stack, operation: Operation | None = None) -> None:
        super().__init__(engine, stack)
        self.operation = operation
        self.claim: Claim | None = None
        self.reason_code: str | None = None
        self.children: dict[tuple[str, int, str], Operation] = {}
        self.adopted: Mapping[str, Mapping[str, Any]] = {}

    async def load(self, inputs_id: str) -> LoadedInputs:
        """Read inputs and every recorded resource of the stack; `current` gets those that have not been replaced."""
        inputs, states = await self.engine.database.read(self._read, inputs_id)
        self.inputs = inputs
        self.states |= states
        self.current |= current_of(self.states)
        return inputs

    def _read(self, connection: Connection, inputs_id: str) -> tuple[LoadedInputs, dict[str, ResourceState]]:
        return self.engine.loader.load_now(connection, inputs_id), read_states(connection, self.engine, self.stack)

    async def adopt_user_project(self, project_id: str | None) -> None:
        """Record the project that a resource has made for the tree's own users."""
        if project_id is None or project_id == self.stack.user_project_id:
            return
        self.stack.user_project_id, self._facts = project_id, None
        step = partial(queries.set_user_project, root_id=self.stack.root_id, project_id=project_id)
        await self.engine.journal.commit(Batch().then(step))

    def wake(self, uuid: str) -> None:
        """Have whatever waits for the resource look again; here nothing waits."""

    def wake_all(self) -> None:
        """Have everything that waits look again; here nothing waits."""

    async def record(self, state: ResourceState, event: Event, *further: Callable[[Connection], None]) -> None:
        """Commit what has been done to a resource outside of a step, its event, and whatever else `further` changes."""
        as_read, changed = state.row.state, state.seal()
        batch = Batch().then(partial(claims.change_from_outside, row=changed, as_read=as_read)).add(event)
        batch.steps.extend(further)
        await self.engine.announcer.commit(batch, await self.engine.announcer.sinks_of(self.stack))


async def acting_on(engine: Engine, stack: Stack) -> StackContext:
    """The context in which a resource of the stack takes a signal or a message: that of the operation that is running
    here, so that its steps see what the resource has been told, else one that is read from the store.
    """
    running = engine.runs.get(stack.id)
    if running is not None and running.plan is not None:
        return running
    context = StackContext(engine, stack)
    context.fill(await engine.database.read(partial(Recorded.of, engine), stack))
    return context
