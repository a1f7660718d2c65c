"""What the end of an operation means for snapshots and for documents of stacks, as steps of the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sqlalchemy import Connection

from stoker.store import snapshots
from stoker.store.records import COMPLETE, FAILED, REMOVE_SNAPSHOT, Operation


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
    elif complete and operation.action in ("DELETE", "ABANDON"):
        yield partial(snapshots.forget_snapshots_of, stack_id=operation.stack_id)
    if complete and operation.action in ("ADOPT", "DELETE"):
        yield partial(snapshots.drop_stack_document, stack_id=operation.stack_id)
