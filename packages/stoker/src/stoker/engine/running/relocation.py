"""Move resources within a stack and the stacks nested in it at the beginning of an operation.

The moves are carried out in memory first, for the plan and its checks. The first commit of the operation records them
in one transaction, so that each resource has one stack at any time, and a run that continues after a crash finds either
none of the moves or all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from stoker.base.errors import ActionInProgress, Conflict
from stoker.base.ids import new_id
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.relocation import (
    CompletedMoves,
    NewNestedStack,
    Relocation,
    Tree,
    carry_out,
    desired_paths,
    read,
)
from stoker.engine.records.beginnings import Requester, new_operation
from stoker.engine.records.loader import save_documents
from stoker.engine.records.stack_view import Recorded
from stoker.engine.running.operation_context import OperationContext
from stoker.store import late_requests, queries, refactors, snapshots, trusts
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS, Event, Stack

if TYPE_CHECKING:
    from stoker.engine.planning.outgoing_moves import OutgoingMoves


async def relocate(run: OperationContext, desired: DesiredState) -> CompletedMoves:
    """Give resources the paths that the operation wants, and return what was moved; the first commit records it.

    Operations that are in progress on the nested stacks are waited for.
    """
    operation, stack, services = run.operation, run.stack, run.services
    top = Recorded(stack, run.states, run.current, run.inputs)
    towards = await _definition(run)
    while True:
        tree = await services.database.read(partial(_read, run, desired, top))
        moves = desired_paths(operation.action, towards, desired, tree)
        busy = [each.stack for each in tree.below.values() if each.stack.status == IN_PROGRESS]
        if not moves or not busy or run.progress.stopping is not None or run.progress.cancelled:
            break
        await _end(run, busy[0])
    if not moves or run.progress.stopping is not None or run.progress.cancelled:
        return CompletedMoves(tree)
    before = dict(run.states)
    completed = carry_out(services, desired, tree, moves, (operation.former_inputs, stack.good_inputs))
    left = await _departures(run, completed) if tree.others else []
    await _settle(run, before.keys(), completed)
    for uuid in before.keys() - run.states.keys():
        services.memory.values.take(before[uuid])
    run.progress.unsaved_transfers = _recording(run, completed)
    if left:
        from stoker.engine.running.outgoing_moves import record_departures  # only if other stacks lose resources

        record_departures(run, run.progress.unsaved_transfers, left)
    return completed


async def _departures(run: OperationContext, completed: CompletedMoves) -> list[OutgoingMoves]:
    """Return the other root stacks that lose resources. Raises Conflict if one cannot."""
    from stoker.engine.planning.outgoing_moves import departures

    left: list[OutgoingMoves] = await run.services.database.read(
        lambda connection: departures(run.services, connection, completed)
    )
    for obstacle in (each for departure in left for each in departure.obstacles):
        run.progress.refused = True
        hint = f": {obstacle.hint}" if obstacle.hint else ""
        raise Conflict(f"{obstacle.move.was} was not moved, since {obstacle.message}{hint}.")
    return left


async def _definition(run: OperationContext) -> str:
    """Return the ID of the inputs whose paths the operation wants: for a restoration, those of the snapshot."""
    operation = run.operation
    if operation.action == "RESTORE" and operation.snapshot is not None and operation.parent_operation is None:
        snapshot = await run.services.database.read(snapshots.snapshot_by_id, operation.snapshot)
        if snapshot is not None:
            return snapshot.inputs
    return operation.inputs


def _read(run: OperationContext, desired: DesiredState, top: Recorded, connection: Connection) -> Tree:
    return read(run.services, connection, run.operation.action, desired, top)


async def _end(run: OperationContext, stack: Stack) -> None:
    """Return when the operation on a nested stack has ended."""
    operation = await run.services.database.read(queries.operation_by_id, stack.operation)
    if operation is not None:
        await run.components.submissions.ended(operation)


async def _settle(run: OperationContext, before: Any, completed: CompletedMoves) -> None:
    """Take resources that have got into the stack into the run."""
    arrived = run.states.keys() - before
    for uuid in arrived:
        run.services.memory.values.rest(run.states[uuid])
    for source in {move.source.id for move in completed.moves if move.state.row.uuid in arrived}:
        run.objects.late |= await run.services.database.read(late_requests.expected, source) & arrived
    run.objects.position = max((state.row.position for state in run.states.values()), default=0)


def _recording(run: OperationContext, completed: CompletedMoves) -> Batch:
    """Return everything that the moves change, which is committed together."""
    batch, inside = Batch(), dict[str, tuple[dict[str, Any], str | None]]()
    for begun in completed.begun:
        _add_begun(run, batch, begun)
    for uuid, state in completed.changed.items():
        sealed, row = completed.as_read.get(uuid), state.seal()
        if uuid in run.states:
            batch.change(row)
        else:
            inside[uuid] = (
                {name: value for name, value in row.values().items() if name != "uuid"},
                sealed.read() if sealed else None,
            )
    new = {begun.stack.id for begun in completed.begun}
    batch.steps.insert(0, partial(_guard, [each for each in completed.stacks.values() if each.id not in new]))
    batch.then(partial(_write, inside))
    for move in completed.moves:
        if move.is_between_stacks:
            batch.then(partial(refactors.move, moved=_record(move)))
            if move.state.type.nested:
                batch.then(partial(refactors.take_below, uuid=move.state.row.uuid, stack_id=move.target.id))
    holders = {move.state.row.uuid: move.state.row.name for move in completed.moves if move.state.type.nested}
    batch.then(partial(queries.rename_holders, names=holders))
    for each in completed.stacks.values():
        batch.then(partial(_note_change, each.id))
    return batch.add(*(_moved_event(run, move) for move in completed.moves))


def _add_begun(run: OperationContext, batch: Batch, begun: NewNestedStack) -> None:
    """Add a nested stack that begins empty, with the operation that has created it, and its events."""
    stack, above, announcer = begun.stack, run.operation, run.components.announcer
    now = stack.created_at
    by = Requester(above.user_id, above.user_name, above.request_id)
    operation = replace(
        new_operation(stack.id, "CREATE", stack.inputs, by, now, None),
        status=COMPLETE,
        started_at=now,
        finished_at=now,
        parent_operation=above.id,
        parent_resource=begun.holder.row.uuid,
    )
    stack.operation = operation.id
    batch.property_sets.append(begun.property_set)
    batch.add(begun.prepared.row, stack, operation, begun.holder.seal()).jointly(save_documents, begun.prepared)
    batch.jointly(trusts.inherit, stack)
    batch.add(announcer.stack_event(stack, "CREATE", IN_PROGRESS, "Stack CREATE started"))
    batch.add(announcer.stack_event(stack, "CREATE", COMPLETE, stack.reason))
    created = run.event(begun.holder)
    batch.add(replace(created, id=new_id(), status=IN_PROGRESS), created)


def _guard(stacks: Sequence[Stack], connection: Connection) -> None:
    """Refuse nested stacks that have changed since they were read, all locked in a fixed order."""
    for stack in sorted(stacks, key=lambda each: each.id):
        now = queries.lock_stack(connection, stack.id)
        if now is None or now.operation != stack.operation or now.status == IN_PROGRESS:
            raise ActionInProgress(_CHANGED.format(stack.name))


_CHANGED = "The nested stack {} was changed meanwhile; nothing was moved. Try again."


def _write(rows: Mapping[str, tuple[Mapping[str, object], str | None]], connection: Connection) -> None:
    for uuid, (values, as_read) in rows.items():
        if queries.sealed_state_of(connection, uuid) != as_read:
            raise ActionInProgress(_CHANGED.format(f"of {values['name']}"))
        queries.set_resource(connection, uuid, values)


def _note_change(stack_id: str, connection: Connection) -> None:
    if (stack := queries.stack_by_id(connection, stack_id)) is not None:
        queries.note_direct_change(connection, stack)


def _record(move: Relocation) -> refactors.MovedRecord:
    row = move.state.row
    sets = [each for each in (row.properties, row.former_properties) if each]
    return refactors.MovedRecord(row.uuid, move.source.id, move.target.id, move.names, row.name, sets)


def _moved_event(run: OperationContext, move: Relocation) -> Event:
    """Return the event of a resource that has been moved, whose own state stays."""
    return replace(run.event(move.state, f"Moved from {move.was}"), action="MOVE", status=COMPLETE)
