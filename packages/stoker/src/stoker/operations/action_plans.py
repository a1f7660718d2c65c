"""The plans of deletions, rollbacks and restorations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import Bug
from stoker.base.ids import new_id
from stoker.contract.stacks import Refresh
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.retention import Copies, RemovalOptions
from stoker.engine.records.actions import FORWARD, NOTHING
from stoker.engine.records.content_copies import read_copies
from stoker.engine.records.services import EngineServices
from stoker.operations.planning import Planned, TargetDefinition, plan_removal_of, plan_tree
from stoker.operations.requests import CheckedRequest
from stoker.store import completion, queries, snapshots
from stoker.store.records import IN_PROGRESS, Operation, Stack, StackSnapshot


async def last_operation(services: EngineServices, stack: Stack) -> Operation:
    """Return the operation that the stack's state comes from."""
    operation = await services.database.read(queries.operation_by_id, stack.operation or "")
    if operation is None:
        raise Bug(f"the operation {stack.operation} of stack {stack.id} is not recorded")
    return operation


async def plan_deletion(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    retain: Collection[str],
    forced: bool,
    *,
    retained: Collection[str] = (),
    refresh: Refresh | None = None,
    priced: bool = False,
) -> Planned:
    """Return the plan that deletes a stack; its digest covers the snapshots, which are deleted with it.

    `retain` are the paths of the resources whose objects are retained, `retained` the uuids of those that an earlier
    deletion retains; `refresh` is that of `plan_removal_of`. Raises BadValue for a path without a resource.
    """
    taken = await services.database.read(snapshots.snapshots_of, stack.id)
    besides = [[snapshot.id for snapshot in taken], forced]
    removal_options = RemovalOptions("DELETE", retained, forced)
    how: dict[str, Any] = {"refresh": refresh, "priced": priced}
    return await plan_removal_of(services, context, stack, removal_options, besides, retain, **how)


def refresh_of_return(stack: Stack, requested: str | None, default: Refresh) -> Refresh:
    """Return which objects a rollback, a restoration or its plan asks the cloud for: as the request wants.

    An operation that runs is undone as if it had failed, and nothing is asked: what it changes now is no difference.
    """
    if stack.status == IN_PROGRESS:
        return Refresh.NONE
    return Refresh(requested) if requested is not None else default


async def plan_rollback(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    target: str,
    *,
    skipped: frozenset[str] = frozenset(),
    refresh: Refresh | None = None,
    priced: bool = False,
) -> Planned:
    """Return the plan that rolls a stack back to these inputs, or that removes everything if they are `NOTHING`.

    `skipped` are the uuids of resources that it does not touch, `refresh` is that of `plan_tree` and `plan_removal_of`.
    """
    since = await services.database.read(completion.last, stack.id, FORWARD)
    if target == NOTHING:
        removal_options = RemovalOptions("ROLLBACK", since=since, skipped=skipped)
        how: dict[str, Any] = {"refresh": refresh, "priced": priced}
        return await plan_removal_of(services, context, stack, removal_options, sorted(skipped), **how)
    inputs = await services.loader.load(target)
    exports = await services.loader.exports(stack.project_id, inputs.template)

    def desired() -> DesiredState:
        definition = services.loader.bind(stack, inputs, strict=False, exports=exports)
        return replace(DesiredState.of(services, definition, inputs), skipped=skipped)

    towards = await services.evaluator.evaluate(stack.project_id, desired)
    digested = [stack.project_id, target, sorted(skipped)]
    goal = TargetDefinition("ROLLBACK", towards, digested, returns_to=target, since=since)
    return await plan_tree(services, context, stack, goal, refresh=refresh, priced=priced)


async def plan_restoration(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    checked: CheckedRequest,
    snapshot: StackSnapshot,
    *,
    refresh: Refresh | None = None,
    priced: bool = False,
) -> Planned:
    """Return the plan that restores a snapshot: the checked definition, and the contents that were copied.

    `refresh` is that of `plan_tree`.
    """
    found = await services.database.read(read_copies, services, [snapshot.id], stack.name)
    goal = replace(
        TargetDefinition.of(stack, checked, "RESTORE", Copies.of(new_id(), found)), returns_to=snapshot.inputs
    )
    return await plan_tree(services, context, stack, goal, refresh=refresh, priced=priced)
