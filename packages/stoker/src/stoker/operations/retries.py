"""Retries of failed operations: what a retry leaves alone, and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, SnapshotNotFound
from stoker.base.ids import new_id
from stoker.contract.stacks import Refresh
from stoker.engine.calls.context import ActionComponents
from stoker.engine.planning.imports import IMPORTED_BY, NO_IMPORTS
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.retention import Copies, Retention
from stoker.engine.records.actions import PLANNED
from stoker.engine.records.content_copies import read_copies
from stoker.engine.records.services import EngineServices
from stoker.operations.action_plans import plan_deletion, plan_rollback
from stoker.operations.planning import Planned, TargetDefinition, plan_tree
from stoker.operations.retry_skips import paths_of, skipped_at
from stoker.store import snapshots
from stoker.store.records import Operation, Stack

_CHECKED = ("CREATE", "UPDATE")
"""Those that are checked before their first change."""


async def retention_of_retry(services: EngineServices, stack: Stack, last: Operation, skip: Sequence[str]) -> Retention:
    """Return what a retry of a failed operation leaves as it is: what that did, and the resources at the paths `skip`.

    Raises BadValue as `skipped_at`.
    """
    retention = Retention.of(last).requested()
    if not skip:
        return retention
    skipped = await services.database.read(skipped_at, services, stack, last, skip)
    return replace(retention, skipped=retention.skipped | skipped)


def refresh_of_retry(stack: Stack, last: Operation, requested: str | None) -> Refresh:
    """Return which objects the plan of a retry asks the cloud for: by default, at least those of the failed operation.

    Raises BadValue if a retry that has no plan is asked to compare.
    """
    if requested is not None:
        _refuse_unplanned(stack, last)
        return Refresh(requested)
    return Refresh.ALL if last.observe else Refresh.CHANGES


async def plan_retry(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    last: Operation,
    retention: Retention,
    *,
    refresh: Refresh,
    priced: bool = False,
) -> Planned:
    """Return the plan that continues the stack's failed operation, with the paths of the resources that it skips.

    `refresh` is that of `plan_tree`. Raises BadValue for an operation whose retry has no plan, SnapshotNotFound.
    """
    _refuse_unplanned(stack, last)
    services = components.services
    how: dict[str, Any] = {"refresh": refresh, "priced": priced}
    if last.action == "DELETE":
        forced, retained = retention.forced, retention.retained
        return await plan_deletion(services, context, stack, (), forced, retained=retained, **how)
    if last.action == "ROLLBACK":
        planned = await plan_rollback(services, context, stack, last.inputs, skipped=retention.skipped, **how)
    else:
        goal = await _goal(components, context, stack, last, retention)
        preflight = last.action in _CHECKED and services.settings.preflight and not last.skip_preflight
        planned = await plan_tree(services, context, stack, goal, preflight=preflight, **how)
    if not retention.skipped:
        return planned
    paths = await services.database.read(paths_of, services, stack, retention.skipped)
    return replace(planned, skipped=paths)


def _refuse_unplanned(stack: Stack, last: Operation) -> None:
    if last.action not in PLANNED:
        raise BadValue(
            f"The retry of the action {last.stack_action} of stack {stack.name} has no plan: it does the same to every "
            f"resource. The actions that have one are {', '.join(PLANNED)}."
        )


async def _goal(
    components: ActionComponents, context: RequestContext, stack: Stack, last: Operation, retention: Retention
) -> TargetDefinition:
    """Return the goal of a failed creation, update, adoption or restoration."""
    services = components.services
    inputs = await services.loader.load(last.inputs)
    exports = await services.loader.exports(stack.project_id, inputs.template)

    def bound() -> DesiredState:
        definition = services.loader.bind(stack, inputs, strict=False, exports=exports)
        return replace(DesiredState.of(services, definition, inputs), skipped=retention.skipped)

    desired = await services.evaluator.evaluate(stack.project_id, bound)
    imports = NO_IMPORTS
    if last.action in IMPORTED_BY and inputs.environment.transfers:
        from stoker.operations.transfer_checks import check_transfers  # only for environments with some

        imports = await check_transfers(components, context, stack, desired)
    copies, returns_to = Copies(), ""
    if last.snapshot is not None:
        snapshot = await services.database.read(snapshots.snapshot_by_id, last.snapshot)
        if snapshot is None:
            raise SnapshotNotFound(f"The Snapshot ({last.snapshot}) does not exist any more.")
        copies = Copies.of(new_id(), await services.database.read(read_copies, services, [snapshot.id], stack.name))
        returns_to = snapshot.inputs
    towards = [stack.project_id, last.inputs, last.snapshot, sorted(retention.skipped)]
    differing = frozenset((last.differing or "").split())
    how: dict[str, Any] = {"copies": copies, "returns_to": returns_to, "imports": imports, "differing": differing}
    return TargetDefinition(last.action, desired, towards, **how)
