"""Record what a stack becomes with a new definition that moves resources between stacks, as a completed operation.

What it becomes is a `Side`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.engine.notifications.announcer import Announcer
from stoker.engine.planning.refactoring import Side
from stoker.engine.records.loader import Prepared, save_documents
from stoker.engine.records.services import EngineServices
from stoker.store import exchange, queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS, Event, Operation, Stack


def completed(operation: Operation, stack: Stack, now: float) -> Operation:
    """Return an operation that is recorded when it has been carried out."""
    return replace(
        operation,
        status=COMPLETE,
        former_inputs=stack.inputs or None,
        created_at=now,
        started_at=now,
        finished_at=now,
        deadline=None,
    )


def columns_after(operation: Operation, prepared: Prepared) -> dict[str, Any]:
    """Return the columns of a stack that a completed operation has given a new definition."""
    return {
        "action": operation.action,
        "status": COMPLETE,
        "reason": f"Stack {operation.action} completed successfully",
        "operation": operation.id,
        "inputs": prepared.row.id,
        "good_inputs": prepared.row.id,
        "description": prepared.loaded.template.description,
    }


def record_completed(
    batch: Batch,
    announcer: Announcer,
    stack: Stack,
    operation: Operation,
    prepared: Prepared,
    moves: Sequence[Event] = (),
) -> None:
    """Add a completed operation with its inputs and its events to a batch; `moves` are those of resources."""
    action = operation.action
    begun = announcer.stack_event(stack, action, IN_PROGRESS, f"Stack {action} started")
    ended = announcer.stack_event(stack, action, COMPLETE, f"Stack {action} completed successfully")
    events = [begun, *moves, ended]
    batch.add(prepared.row, operation, *events)
    batch.add(*announcer.about(events, prepared.loaded.environment.event_sinks)).jointly(save_documents, prepared)


def record_descriptions(batch: Batch, side: Side) -> None:
    """Add the resources that the new definition describes in another way to a batch, as changes of their rows."""
    for row in (state.seal() for state in side.described):
        values = {name: value for name, value in row.values().items() if name != "uuid"}
        batch.then(partial(queries.set_resource, uuid=row.uuid, values=values))


def record_exchange(services: EngineServices, side: Side, connection: Connection) -> None:
    """Record what the stack exports and imports."""
    imported = side.desired.definition.imports if side.desired.inputs.template.uses("Fn::ImportValue") else ()
    exported = {name: services.sealer.seal(value) for name, value in side.exported.items()}
    exchange.record(
        connection, project_id=side.stack.project_id, stack_id=side.stack.id, exported=exported, imported=imported
    )
