"""Resume operations that this engine has just claimed."""

from __future__ import annotations

import logging

from stoker.base.errors import Fenced
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.ownership.runs import Runs
from stoker.engine.running.completion import OperationCompletion
from stoker.engine.running.run import OperationRun
from stoker.engine.running.stop import SET_ASIDE_REASON
from stoker.store import queries, snapshots
from stoker.store.records import FAILED, IN_PROGRESS, REMOVE_SNAPSHOT, SET_ASIDE, Operation, Stack

LOG = logging.getLogger(__name__)


class Resumption:
    """Makes the runs of claimed operations."""

    def __init__(self, components: RecordingComponents, runs: Runs, endings: OperationCompletion) -> None:
        self._components = components
        self._runs = runs
        self._endings = endings

    async def resume(self, operation: Operation, former_owner: str | None) -> OperationRun | None:
        """Resume an operation that this engine has just claimed and return its run, or close it if it has ended.

        `former_owner` is the engine that ran it before, unless that engine handed the operation over.
        """
        stack = await self._stack_as_it_is(operation)
        beside = operation.action == REMOVE_SNAPSHOT
        if stack is None or not (beside or stack.status == IN_PROGRESS):
            await self._endings.end_cancelled(operation, stack)
            return None
        if not beside and stack.operation != operation.id:
            await self._endings.end_superseded(operation, stack)
            return None
        run = self._runs.run_of(self._components, operation, stack, former_owner)
        if operation.reason_code == SET_ASIDE:
            await self._set_aside(run)
        else:
            self._runs.launch(run)
        return run

    async def _set_aside(self, run: OperationRun) -> None:
        """Fail an operation that has crashed engines, without loading, planning or starting anything of it."""
        LOG.error("operation %s of stack %s is set aside: it has crashed engines", run.operation.id, run.stack.name)
        run.nested.reason_code = SET_ASIDE
        try:
            await self._endings.end(run, FAILED, SET_ASIDE_REASON)
        except Fenced:
            LOG.info("operation %s was taken over by another engine", run.operation.id)
        run.progress.planned.set()
        run.progress.done.set()

    async def _stack_as_it_is(self, operation: Operation) -> Stack | None:
        """Return the stack of an operation as recorded, before anything was started on it here."""
        while True:
            before = self._runs.of(operation.stack_id)
            stack = await self._stack_of(operation)
            if before == self._runs.of(operation.stack_id):
                return stack

    async def _stack_of(self, operation: Operation) -> Stack | None:
        """Return the stack of an operation."""
        database = self._components.services.database
        identifier: str | None = operation.stack_id
        if operation.action == REMOVE_SNAPSHOT:
            snapshot = await database.read(snapshots.snapshot_by_id, operation.stack_id)
            identifier = snapshot.stack_id if snapshot is not None else None
        return await database.read(queries.stack_by_id, identifier) if identifier is not None else None
