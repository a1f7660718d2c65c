"""Record an operation on an existing stack: the checks and changes in the transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from stoker.engine.credentials import move
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.loader import Prepared
from stoker.store import claims, queries
from stoker.store.locks import refuse_locked
from stoker.store.records import IN_PROGRESS, Operation, Stack


def start_columns(operation: Operation, prepared: Prepared | None, now: float) -> dict[str, Any]:
    """Return the columns of a stack with which an operation on it begins, with the ids of new inputs."""
    changes: dict[str, Any] = {
        "action": operation.stack_action,
        "status": IN_PROGRESS,
        "reason": f"Stack {operation.stack_action} started",
        "operation": operation.id,
    }
    if prepared is not None:
        changes["inputs"] = prepared.row.id
        changes["description"] = prepared.loaded.template.description
    if operation.action in ("UPDATE", "RESTORE"):
        changes["updated_at"] = now
    return changes


@dataclass(slots=True)
class OperationStart:
    """A journal step that records an operation, started by an engine at a time, and sets columns of its stack.

    An operation that `is_offered` is left for any engine (see `store.offered`). `changes` are those columns,
    `credential` becomes that of the stack's tree (None: unchanged). `guard` receives the current stack with its row
    locked, `fresh` the connection; if they raise an error, nothing is recorded. Nor is it if a user has locked the tree
    of stacks, unless the operation is a part of one that runs: StackLocked is raised.
    """

    stack: Stack
    operation: Operation
    engine_id: str
    now: float
    is_offered: bool
    changes: dict[str, Any]
    credential: str | None = None
    guard: Callable[[Stack], object] | None = None
    fresh: Callable[[Connection], object] | None = None
    busy: str | None = field(default=None, init=False)
    """The engine with a running operation on the stack, which this operation waits for."""

    def __call__(self, connection: Connection) -> None:
        stack = self.stack = queries.lock_stack(connection, self.stack.id) or self.stack
        if self.guard is not None:
            self.guard(stack)
        if self.operation.parent_operation is None and (stack.locked or stack.parent_id):
            refuse_locked(connection, stack)
        if self.fresh is not None:
            self.fresh(connection)
        self.busy = claims.begin(connection, self.operation, self.engine_id, self.now, is_offered=self.is_offered)
        if self.credential is not None and self.credential != stack.credential:
            move(connection, stack, self.credential)
            self.changes["credential"] = self.credential
        self._note_direct_change(connection)
        queries.set_stack(connection, stack.id, self.changes)

    def _note_direct_change(self, connection: Connection) -> None:
        """Record that a nested stack differs from its parent's definition, until the parent's update restores it."""
        if self.operation.parent_resource is None:
            queries.note_direct_change(connection, self.stack)
        elif self.operation.parent_operation is not None and self.operation.action in FORWARD:
            self.changes["changed_directly"] = False
