"""Record that other root stacks have lost resources to the stack of an operation, in its first commit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from stoker.base.errors import ActionInProgress
from stoker.engine.planning.outgoing_moves import OutgoingMoves, has_user
from stoker.engine.planning.refactoring import Side
from stoker.engine.records.beginnings import Requester, new_operation
from stoker.engine.records.loader import Prepared
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.redefinition import (
    columns_after,
    completed,
    record_completed,
    record_descriptions,
    record_exchange,
)
from stoker.store import fingerprints, queries, refactors
from stoker.store.journal import Batch
from stoker.store.records import Stack


def record_departures(run: OperationContext, batch: Batch, departures: Sequence[OutgoingMoves]) -> None:
    """Add everything that changes of stacks that lose resources to the batch of the moves.

    A rollback of this operation does not undo that: it returns to the definition that has the resources.
    """
    operation, stack = run.operation, run.stack
    batch.steps.insert(0, partial(_guard, [(each.stack, each.stacks) for each in departures]))
    stack.good_inputs = operation.inputs
    batch.then(partial(queries.set_stack, stack_id=stack.id, values={"good_inputs": operation.inputs}))
    for departure in departures:
        users = departure.stack.user_project_id
        if users and users != stack.user_project_id and any(has_user(move.state) for move in departure.moves):
            stack.user_project_id = users
            batch.then(partial(queries.set_user_project, root_id=stack.root_id, project_id=users))
        if departure.prepared is not None and departure.side is not None:
            _redefine(run, batch, departure.prepared, departure.side)


def _guard(trees: Sequence[tuple[Stack, Sequence[Stack]]], connection: Connection) -> None:
    """Refuse trees that have changed since they were read, or must not lose resources any more."""
    for root, stacks in sorted(trees, key=lambda each: each[0].id):
        now = {each.id: each for each in fingerprints.locked_stacks(connection, root.id)}
        if {stack.id: stack.operation for stack in stacks} != {each.id: each.operation for each in now.values()}:
            raise ActionInProgress(f"Stack {root.name} was changed meanwhile; nothing was moved. Try again.")
        rows = [[each.id, each.action, each.status] for each in now.values()]
        refactors.refuse_unfit(connection, now[root.id], rows)


def _redefine(run: OperationContext, batch: Batch, prepared: Prepared, side: Side) -> None:
    """Record the new definition of a stack, with an operation that has completed, and its events."""
    services, stack, above = run.services, side.stack, run.operation
    now, by = services.clock.now(), Requester(above.user_id, above.user_name, above.request_id)
    operation = completed(new_operation(stack.id, "UPDATE", prepared.row.id, by, now, None), stack, now)
    operation.reason = f"Resources have got into the stack {run.stack.name}"
    record_completed(batch, run.components.announcer, stack, operation, prepared)
    values: dict[str, object] = {**columns_after(operation, prepared), "updated_at": now}
    batch.then(partial(queries.set_stack, stack_id=stack.id, values=values))
    record_descriptions(batch, side)
    batch.then(partial(record_exchange, services, side))
