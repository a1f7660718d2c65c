"""Snapshots of stacks: create, show, delete and restore them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, NotSupported, RequestLimitExceeded, SnapshotNotFound
from stoker.base.ids import new_id
from stoker.contract.snapshots import (
    CreateSnapshot,
    DeleteSnapshot,
    ListSnapshots,
    RestoreSnapshot,
    ShowSnapshot,
    SnapshotView,
)
from stoker.engine.calls.context import ActionComponents
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.records.services import EngineServices
from stoker.operations.action_plans import plan_restoration, refresh_of_return
from stoker.operations.clearance import UNCONTROLLED, LazyPlan, check_policy, correct_differences, gate_of
from stoker.operations.lookup import current_decision, find_stack, guard
from stoker.operations.planning import check_exported_values
from stoker.operations.requests import CheckedRequest, check_request
from stoker.operations.stacks import requested_operation, submit
from stoker.store import snapshots
from stoker.store.records import COMPLETE, IN_PROGRESS, REMOVE_SNAPSHOT, Stack, StackSnapshot
from stoker.template.environment import NO_TRANSFERS

MAX_NAME = 255


async def snapshot_create(submissions: Submissions, context: RequestContext, request: CreateSnapshot) -> SnapshotView:
    """Begin to take a snapshot. Raises ActionInProgress, NotSupported, RequestLimitExceeded."""
    services = submissions.services
    stack = await find_stack(services, context, request.ref)
    await current_decision(services, "snapshot", stack)
    if request.name is not None and len(request.name) > MAX_NAME:
        raise BadValue(f"The snapshot's name is {len(request.name)} characters long; at most {MAX_NAME} are allowed.")
    await _check_limit(services, context, stack)
    snapshot = StackSnapshot(
        id=new_id(),
        stack_id=stack.id,
        name=request.name,
        action="CREATE",
        status=IN_PROGRESS,
        reason="Snapshot CREATE started",
        inputs=stack.inputs,
        body=None,
        created_at=services.clock.now(),
    )
    operation = requested_operation(services, context, stack, "SNAPSHOT", stack.inputs)
    operation.snapshot = snapshot.id
    await submit(submissions, context, stack, operation, UNCONTROLLED, guard=guard("snapshot"), new=[snapshot])
    return snapshot_view(services, snapshot)


async def _check_limit(services: EngineServices, context: RequestContext, stack: Stack) -> None:
    limit = services.settings.max_snapshots_per_stack
    if limit < 0 or context.is_admin:
        return
    count = await services.database.read(snapshots.count_snapshots, stack.id)
    if count >= limit:
        raise RequestLimitExceeded(
            f"The stack has {count} snapshots; at most {limit} are allowed (max_snapshots_per_stack). "
            "Delete snapshots that are not needed any more."
        )


async def snapshot_list(
    services: EngineServices, context: RequestContext, request: ListSnapshots
) -> Sequence[SnapshotView]:
    """Return the stack's snapshots, oldest first."""
    stack = await find_stack(services, context, request.ref)
    found = await services.database.read(snapshots.snapshots_of, stack.id)
    return [snapshot_view(services, snapshot) for snapshot in found]


async def snapshot_show(services: EngineServices, context: RequestContext, request: ShowSnapshot) -> SnapshotView:
    """Return a snapshot with the stack's document, hidden values redacted. Raises SnapshotNotFound."""
    stack = await find_stack(services, context, request.ref)
    return snapshot_view(services, await _find(services, stack, request.snapshot_id))


async def snapshot_delete(submissions: Submissions, context: RequestContext, request: DeleteSnapshot) -> None:
    """Begin to delete a snapshot and its objects in the cloud; a repeated request has no effect."""
    services = submissions.services
    stack = await find_stack(services, context, request.ref)
    snapshot = await _find(services, stack, request.snapshot_id)
    if (snapshot.action, snapshot.status) == ("CREATE", IN_PROGRESS):
        raise NotSupported(f"The snapshot {request.snapshot_id} is still being created; delete it when it is complete.")
    if (stack.action, stack.status) == ("RESTORE", IN_PROGRESS):
        raise NotSupported(f"The stack {stack.name} is being restored; delete its snapshots afterwards.")
    if (snapshot.action, snapshot.status) == ("DELETE", IN_PROGRESS):
        return
    operation = requested_operation(services, context, stack, REMOVE_SNAPSHOT, snapshot.inputs)
    operation.stack_id = operation.snapshot = snapshot.id
    await submissions.remove_snapshot(snapshot, stack, operation)


async def snapshot_restore(submissions: Submissions, context: RequestContext, request: RestoreSnapshot) -> None:
    """Begin to restore a snapshot: the stack's definition, and the saved contents of its resources.

    Raises the errors of an update with the snapshot's template, and NotSupported for a snapshot that is not complete.
    """
    services = submissions.services
    stack = await find_stack(services, context, request.ref)
    snapshot, checked = await checked_restoration(submissions.components, context, stack, request.snapshot_id)
    gate = await gate_of(submissions.components, context, stack, "RESTORE")
    refresh = refresh_of_return(stack, request.refresh, gate.refresh_of_plan(request.plan_digest))
    how: dict[str, Any] = {"refresh": refresh, "priced": gate.requires_plan}
    planned = LazyPlan(partial(plan_restoration, services, context, stack, checked, snapshot, **how))
    clearance = await gate.pass_plan(request.plan_digest, planned)
    operation = requested_operation(services, context, stack, "RESTORE", checked.prepared.row.id)
    operation.snapshot = snapshot.id
    await correct_differences(operation, refresh, planned)

    def still_there(connection: Connection) -> None:
        _require_complete(snapshots.snapshot_by_id(connection, snapshot.id) or _missing(request.snapshot_id))

    clearance = clearance.on_condition(still_there)
    await submit(submissions, context, stack, operation, clearance, checked.prepared, guard=guard("restore"))


async def checked_restoration(
    components: ActionComponents, context: RequestContext, stack: Stack, snapshot_id: str
) -> tuple[StackSnapshot, CheckedRequest]:
    """Return a snapshot that can be restored, and its definition, checked. Raises as `snapshot_restore`."""
    services = components.services
    snapshot = await _find(services, stack, snapshot_id)
    _require_complete(snapshot)
    await current_decision(services, "restore", stack)
    present = await services.loader.load(snapshot.inputs)
    parameters = present.parameters
    # What its environment moved at that time is carried out; resources return to their former names.
    environment = present.environment.with_parameters(parameters["environment"]).with_transfers(NO_TRANSFERS)
    checked = await check_request(
        components, context, stack, present.template, environment, present.files, parameters["request"]
    )
    await check_policy(services, stack, checked, action="RESTORE")
    if checked.definition.exports():
        await check_exported_values(services, stack, checked)
    return snapshot, checked


def _require_complete(snapshot: StackSnapshot) -> None:
    if (snapshot.action, snapshot.status) != ("CREATE", COMPLETE):
        state = f"{snapshot.action}_{snapshot.status}"
        raise NotSupported(f"Only a complete snapshot can be restored; {snapshot.id} is in state {state}.")


def _missing(snapshot_id: str) -> StackSnapshot:
    raise SnapshotNotFound(f"The Snapshot ({snapshot_id}) could not be found.")


async def _find(services: EngineServices, stack: Stack, snapshot_id: str) -> StackSnapshot:
    snapshot = await services.database.read(snapshots.snapshot_by_id, snapshot_id)
    if snapshot is None or snapshot.stack_id != stack.id:
        raise SnapshotNotFound(f"The Snapshot ({snapshot_id}) for Stack ({stack.name}) could not be found.")
    return snapshot


def snapshot_view(services: EngineServices, snapshot: StackSnapshot) -> SnapshotView:
    """Return the view of a snapshot; `data` is the stack's document, None until it is complete."""
    return {
        "id": snapshot.id,
        "name": snapshot.name,
        "stack_id": snapshot.stack_id,
        "action": snapshot.action,
        "status": snapshot.status,
        "status_reason": snapshot.reason,
        "data": services.sealer.open(snapshot.body)["document"] if snapshot.body is not None else None,
        "created_at": snapshot.created_at,
    }
