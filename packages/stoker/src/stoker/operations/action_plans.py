"""The plans of deletions, rollbacks and restorations."""

from __future__ import annotations

from stoker.base.context import RequestContext
from stoker.base.errors import Bug
from stoker.base.ids import new_id
from stoker.engine.core import Engine
from stoker.engine.planning.planner import Wanted
from stoker.engine.planning.restoring import Copies
from stoker.engine.records.actions import NOTHING
from stoker.engine.records.content_copies import read_copies
from stoker.operations.planning import Goal, Planned, plan_removal_of, plan_tree
from stoker.operations.requests import CheckedRequest
from stoker.store import queries, snapshots
from stoker.store.records import Operation, Stack


async def last_operation(engine: Engine, stack: Stack) -> Operation:
    """Return the operation that the stack's state comes from."""
    operation = await engine.database.read(queries.operation_by_id, stack.operation or "")
    if operation is None:
        raise Bug(f"the operation {stack.operation} of stack {stack.id} is not recorded")
    return operation


async def plan_deletion(engine: Engine, stack: Stack) -> Planned:
    """Return the plan that deletes a stack; its digest covers the snapshots, which are deleted with it."""
    taken = await engine.database.read(snapshots.snapshots_of, stack.id)
    return await plan_removal_of(engine, stack, "DELETE", [snapshot.id for snapshot in taken])


async def plan_rollback(engine: Engine, context: RequestContext, stack: Stack, target: str) -> Planned:
    """Return the plan that rolls a stack back to these inputs, or that removes everything if they are `NOTHING`."""
    if target == NOTHING:
        return await plan_removal_of(engine, stack, "ROLLBACK")
    inputs = await engine.loader.load(target)
    exports = await engine.loader.exports(stack.project_id, inputs.template)

    def wanted() -> Wanted:
        definition = engine.loader.bind(stack, inputs, strict=False, exports=exports)
        return Wanted.of(engine, definition, inputs)

    goal = Goal("ROLLBACK", await engine.evaluator.evaluate(stack.project_id, wanted), [stack.project_id, target])
    return await plan_tree(engine, context, stack, goal)


async def plan_restoration(
    engine: Engine, context: RequestContext, stack: Stack, checked: CheckedRequest, snapshot_id: str
) -> Planned:
    """Return the plan that restores a snapshot: the checked definition, and the contents that were copied."""
    found = await engine.database.read(read_copies, engine, [snapshot_id], stack.name)
    return await plan_tree(engine, context, stack, Goal.of(stack, checked, "RESTORE", Copies.of(new_id(), found)))
