"""Copies of snapshots that a run removes, and documents of stacks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from stoker.engine.inspection.export import export
from stoker.engine.records.content_copies import path_of
from stoker.engine.records.state import ResourceState
from stoker.engine.running.content_copies import copies_of
from stoker.engine.running.operation_context import OperationContext
from stoker.store import snapshots
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, REMOVE_SNAPSHOT

PAUSE_SECONDS = 1.0


async def load_copies_to_remove(run: OperationContext) -> list[ResourceState]:
    """Return the copies of the deleted snapshot, or of all snapshots of a deleted stack, as resources of the run.

    Each nested stack creates its copies in its own operation, which can continue after the parent operation was
    superseded or has timed out. So they are listed when no operation works on the snapshots any more. Raises Stopped.
    """
    database = run.services.database
    identifiers = [run.key] if run.operation.action == REMOVE_SNAPSHOT else run.planning.snapshots
    while identifiers and not run.progress.cancelled and await database.read(snapshots.worked_on, identifiers, run.key):
        await run.pause(run.key, PAUSE_SECONDS)
    return await _loaded(run, identifiers)


async def load_idle_copies(run: OperationContext) -> list[ResourceState]:
    """Return the copies of the stack's snapshots that no operation works on, as resources of the run."""
    read, taken = run.services.database.read, run.planning.snapshots
    return await _loaded(
        run, [snapshot_id for snapshot_id in taken if not await read(snapshots.worked_on, [snapshot_id], run.key)]
    )


async def _loaded(run: OperationContext, identifiers: Sequence[str]) -> list[ResourceState]:
    if not identifiers:
        return []
    copies = await copies_of(run, identifiers)
    run.states |= {copy.row.uuid: copy for copy in copies}
    return copies


async def sealed_document(run: OperationContext) -> str:
    """Return the document of the run's stack for its new snapshot."""
    copies = await copies_of(run, [run.operation.snapshot or ""])
    document = await export(run.services, run.stack, copies)
    document.data["status"] = COMPLETE
    return run.services.sealer.seal({"document": document.data, "hidden": document.hidden})


async def keep_document(run: OperationContext) -> None:
    """Record the document of an abandoned stack before its resources are deleted from the record.

    It is available until the deleted stack is purged. It lists copies of snapshots, which are recorded nowhere else
    then.
    """
    services = run.services
    if run.operation.parent_operation is not None:
        return
    recorded = await services.database.read(snapshots.stack_document, run.stack.id)
    if recorded is not None and "document" in services.sealer.open(recorded):
        return
    document = await export(services, run.stack)
    found = await services.database.read(snapshots.snapshots_of, run.stack.id)
    if found:
        document.data["snapshots"] = [
            {
                "id": snapshot.id,
                "name": snapshot.name,
                "copies": [
                    {"resource": ".".join(path_of(copy)), "type": copy.row.type, "id": copy.row.physical_id}
                    for copy in await copies_of(run, [snapshot.id])
                ],
            }
            for snapshot in found
        ]
    body = services.sealer.seal({"document": document.data, "hidden": document.hidden})
    await run.commit(Batch().then(partial(snapshots.keep_stack_document, stack_id=run.stack.id, body=body)))
