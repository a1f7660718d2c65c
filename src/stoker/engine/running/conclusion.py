"""What the end of an operation means for its stack, snapshots and documents, and how one that failed is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.ids import new_id
from stoker.engine.records.actions import NOTHING, REMOVES, ROLLS_BACK
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.settings import EngineSettings
from stoker.store import snapshots
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, Operation, Stack


def rollback_target(stack: Stack, operation: Operation) -> str:
    """The inputs that undoing an operation on a stack leads to.

    Those that it was last brought to completely; where it never was, those from before a change, and nothing from
    before a creation.
    """
    if operation.action == "ROLLBACK":
        return operation.inputs
    before = operation.former_inputs if operation.action in ("UPDATE", "RESTORE") else None
    return stack.good_inputs or before or NOTHING


def rollback_of(stack: Stack, operation: Operation, settings: EngineSettings, now: float) -> Operation | None:
    """The operation that takes a failed root stack back to what it was; nested ones are led by their parent.

    One that was set aside waits for somebody to look at it: undoing it may kill engines as well.
    """
    if (
        operation.reason_code is not None
        or stack.disable_rollback
        or stack.parent_id is not None
        or operation.action not in ROLLS_BACK
    ):
        return None
    minutes = stack.timeout_minutes
    limit = minutes * 60.0 if minutes else float(settings.stack_action_timeout)
    return replace(
        operation,
        id=new_id(),
        action="ROLLBACK",
        inputs=rollback_target(stack, operation),
        reason="",
        created_at=now,
        finished_at=None,
        deadline=now + limit,
        claimed_at=None,
        plan=None,
        snapshot=None,
    )


def outcome(operation: Operation, inputs: LoadedInputs | None, now: float) -> dict[str, Any]:
    """The columns of a stack that change with an operation's success; `inputs` are those that it was led to."""
    if operation.action in REMOVES:
        return {"deleted_at": now, "live_name": None}
    if operation.action == "ROLLBACK" and operation.inputs != NOTHING and inputs is not None:
        return {"inputs": operation.inputs, "description": inputs.template.description}
    return {}


def conclusion(
    operation: Operation, status: str, reason: str, document: str | None = None
) -> Iterator[Callable[[Connection], None]]:
    """The journal steps that belong to an operation's end; `document` is the sealed one of a finished snapshot."""
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
