"""Record that other root stacks have lost resources to the stack of an operation, in its first commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import ActionInProgress
from stoker.engine.planning.departing import OutgoingMoves, has_user
from stoker.engine.planning.refactoring import Side
from stoker.engine.records.beginnings import Requester, new_operation
from stoker.engine.records.loader import Prepared
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.redefining import record_descriptions, record_exchange
from stoker.store import queries, refactors
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS, Stack


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
        now = [queries.lock_stack(connection, stack.id) for stack in sorted(stacks, key=lambda each: each.id)]
        operations = {stack.id: stack.operation for stack in stacks}
        present = {each.id: each.operation for each in now if each is not None and each.deleted_at is None}
        if operations != present:
            raise ActionInProgress(f"Stack {root.name} was changed meanwhile; nothing was moved. Try again.")
        current = next(each for each in now if each is not None and each.id == root.id)
        rows = [[each.id, each.action, each.status] for each in now if each is not None]
        refactors.refuse_unfit(connection, current, rows)


def _redefine(run: OperationContext, batch: Batch, prepared: Prepared, side: Side) -> None:
    """Record the new definition of a stack, with an operation that has completed, and its events."""
    services, announcer, stack, above = run.services, run.parts.announcer, side.stack, run.operation
    now, reason = services.clock.now(), "Stack UPDATE completed successfully"
    by = Requester(above.user_id, above.user_name, above.request_id)
    operation = replace(
        new_operation(stack.id, "UPDATE", prepared.row.id, by, now, None),
        status=COMPLETE,
        reason=f"Resources have got into the stack {run.stack.name}",
        former_inputs=stack.inputs,
        started_at=now,
        finished_at=now,
    )
    values: dict[str, Any] = {
        "action": "UPDATE",
        "status": COMPLETE,
        "reason": reason,
        "operation": operation.id,
        "inputs": prepared.row.id,
        "good_inputs": prepared.row.id,
        "updated_at": now,
    }
    begun = announcer.stack_event(stack, "UPDATE", IN_PROGRESS, "Stack UPDATE started")
    ended = announcer.stack_event(stack, "UPDATE", COMPLETE, reason)
    batch.add(prepared.row, operation, begun, ended)
    batch.add(*announcer.about([begun, ended], prepared.loaded.environment.event_sinks))
    batch.then(prepared.save).then(partial(queries.set_stack, stack_id=stack.id, values=values))
    record_descriptions(batch, side)
    batch.then(partial(record_exchange, services, side))
