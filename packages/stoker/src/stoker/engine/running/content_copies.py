"""Content copies: created by snapshots for the resources of a tree of stacks, and used to restore them.

A copy is a resource whose `stack_id` is the snapshot's id, so that it is created, recovered and deleted like any other.
Its definition contains the path of names to the copied resource: a resource that was replaced in the meantime still
counts as the same one when the snapshot is restored. It also contains the name of the resource's stack, with which the
copy's physical name begins, so that the name is the same from every stack of the tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from stoker.base.ids import new_id
from stoker.contract.views import NO_REASON
from stoker.engine.calls.context import StackContext
from stoker.engine.records.content_copies import Path, read_copies
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.performer import Performer
from stoker.plugins import capabilities
from stoker.plugins.resource import ContentCopy
from stoker.store import queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS, Resource


async def copies_of(context: StackContext, snapshot_ids: Iterable[str]) -> list[ResourceState]:
    """Return the recorded copies that belong to snapshots of the context's stack, or of a stack above it."""
    services, identifiers = context.services, list(snapshot_ids)
    return await services.database.read(read_copies, services, identifiers, context.stack.name)


async def path_below(context: StackContext, top: str) -> Path:
    """Return the names of the resources that lead from the stack `top` to the context's stack."""
    names: list[str] = []
    stack = context.stack
    while stack.id != top and stack.parent_resource is not None and stack.parent_id is not None:
        row = await context.services.database.read(queries.resource_by_uuid, stack.parent_resource)
        parent = await context.services.database.read(queries.stack_by_id, stack.parent_id)
        if row is None or parent is None:
            break
        names.insert(0, row.name)
        stack = parent
    return tuple(names)


class Copier:
    """Creates the content copies of one run; it has no state of its own."""

    def __init__(self, run: OperationContext, performer: Performer) -> None:
        self._run = run
        self._performer = performer

    async def make(self, state: ResourceState) -> None:
        """Copy the resource's content, and record the result for the resource."""
        run = self._run
        copy = run.planning.copies.get(state.row.name)
        if copy is None:
            copy = run.planning.copies[state.row.name] = self._new(state)
            batch = Batch()
            batch.property_sets.append(copy.set_properties(copy_type(state).of(state.snapshot())))
            await run.commit(batch.add(copy.seal()))
        elif copy.row.physical_id is None:
            copy.stored.uncertain = True
        try:
            if copy.row.status != COMPLETE:
                await self._performer.prepare(copy, copy.type.create)
        except Failure as failure:
            copy.fail(failure, failure.text())
            await self._performer.failed(state, failure, Batch().change(copy.seal()))
            raise
        copy.row.status = COMPLETE
        await self._performer.perform(state, partial(capabilities.snapshot, state.type), Batch().change(copy.seal()))

    def _new(self, state: ResourceState) -> ResourceState:
        run, now = self._run, self._run.services.clock.now()
        row = Resource(
            uuid=new_id(),
            stack_id=run.operation.snapshot or "",
            position=state.row.position,
            name=state.row.name,
            type=state.row.type,
            action="CREATE",
            status=IN_PROGRESS,
            reason=NO_REASON,
            created_at=now,
            started_at=now,
            substituted=state.row.substituted,
        )
        copy = ResourceState(row, copy_type(state), run.stack.name, run.services.sealer, run.services.memory.values)
        path = [*run.planning.snapshot_path, state.row.name]
        copy.stored.definition = {
            "implementation": state.implementation,
            "path": path,
            "stack_name": run.stack.name,
        }
        return copy


def copy_type(state: ResourceState) -> ContentCopy:
    """Return the type of the copies of the resource's object."""
    copy = state.type.copy
    assert copy is not None
    return copy
