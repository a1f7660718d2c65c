"""The effects of an operation's end on its stack, snapshots and documents, and the rollback of a failed one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.ids import new_id
from stoker.engine.records.actions import NOTHING, REMOVES, ROLLS_BACK
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.settings import EngineSettings, time_limit
from stoker.store import snapshots
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, Operation, Stack


def rollback_target(stack: Stack, operation: Operation) -> str:
    """Return the inputs to which an operation on a stack is rolled back.

    They are those of the last complete operation; if there is none, those before an update, and none before a creation.
    """
    if operation.action == "ROLLBACK":
        return operation.inputs
    before = operation.former_inputs if operation.action in ("UPDATE", "RESTORE") else None
    return stack.good_inputs or before or NOTHING


def rollback_of(stack: Stack, operation: Operation, settings: EngineSettings, now: float) -> Operation | None:
    """Return the operation that rolls a failed root stack back; nested stacks are rolled back by their parent.

    An operation that was set aside is not rolled back automatically: the rollback could crash engines, too.
    """
    if (
        operation.reason_code is not None
        or stack.disable_rollback
        or stack.parent_id is not None
        or operation.action not in ROLLS_BACK
    ):
        return None
    return replace(
        operation,
        id=new_id(),
        action="ROLLBACK",
        inputs=rollback_target(stack, operation),
        reason="",
        created_at=now,
        finished_at=None,
        deadline=now + time_limit(settings, stack.timeout_minutes),
        claimed_at=None,
        plan=None,
        failure=None,
        snapshot=None,
    )


def outcome(operation: Operation, inputs: LoadedInputs | None, now: float) -> dict[str, Any]:
    """Return the columns of a stack that an operation's success changes; `inputs` are those of the operation."""
    if operation.action in REMOVES:
        return {"deleted_at": now, "live_name": None}
    if operation.action == "ROLLBACK" and operation.inputs != NOTHING and inputs is not None:
        return {"inputs": operation.inputs, "description": inputs.template.description}
    return {}


def conclusion(
    operation: Operation, status: str, reason: str, document: str | None = None
) -> Iterator[Callable[[Connection], None]]:
    """Yield the journal steps for an operation's end; `document` is the sealed document of a complete snapshot."""
    complete = status == COMPLETE
    outcome = COMPLETE if complete else FAILED
    if operation.snapshot is not None and operation.action == "SNAPSHOT" and operation.parent_operation is None:
        yield partial(
            snapshots.end_snapshot, identifier=operation.snapshot, status=outcome, reason=reason, body=document
        )
    elif operation.snapshot is not None and operation.action == REMOVE_SNAPSHOT:
        if complete:
            yield partial(snapshots.forget_snapshot, identifier=operation.snapshot)
        else:
            yield partial(snapshots.end_snapshot, identifier=operation.snapshot, status=outcome, reason=reason)
    elif complete and operation.action in REMOVES:
        yield partial(snapshots.forget_snapshots_of, stack_id=operation.stack_id)
    if complete and operation.action in ("ADOPT", "DELETE"):
        yield partial(snapshots.drop_stack_document, stack_id=operation.stack_id)
