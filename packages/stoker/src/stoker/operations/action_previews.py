"""Previews of deletions, rollbacks, restorations and retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.contract.previews import ActionPreview, PreviewAction, SnapshotName
from stoker.contract.stacks import Refresh
from stoker.engine.calls.context import ActionComponents
from stoker.engine.records.services import EngineServices
from stoker.engine.running.completion import rollback_target
from stoker.operations.action_plans import (
    last_operation,
    plan_deletion,
    plan_restoration,
    plan_rollback,
    refresh_of_return,
)
from stoker.operations.lookup import find_stack, request_decision
from stoker.operations.requests import check_exports
from stoker.operations.settings import check_deletable
from stoker.operations.snapshots import checked_restoration
from stoker.store import snapshots
from stoker.store.records import Stack


async def stack_action_preview(
    components: ActionComponents, context: RequestContext, request: PreviewAction
) -> ActionPreview:
    """Return the plan of one of `PREVIEWS`. Raises the errors with which the action itself would be refused."""
    preview = PREVIEWS.get(request.action)
    if preview is None:
        raise BadValue(f"The action {request.action!r} has no preview; those that have one are {', '.join(PREVIEWS)}.")
    if request.action != "delete" and (request.retain or request.force):
        raise BadValue("Only a deletion can retain resources or be forced.")
    if request.action != "retry" and request.skip:
        raise BadValue(f"Only a retry can skip resources; the action is {request.action!r}.")
    stack = await find_stack(components.services, context, request.ref)
    request_decision(request.action, stack)
    return await preview(components, context, stack, request)


async def _deletion(
    components: ActionComponents, context: RequestContext, stack: Stack, request: PreviewAction
) -> ActionPreview:
    services = components.services
    await check_deletable(services, stack)
    await check_exports(services, stack, [])
    refresh = Refresh(request.refresh) if request.refresh is not None else Refresh.CHANGES
    how: dict[str, Any] = {"refresh": refresh, "priced": True}
    planned = await plan_deletion(services, context, stack, request.retain, request.force, **how)
    return {"plan": planned.to_data(), "snapshots": await _taken(services, stack)}


async def _taken(services: EngineServices, stack: Stack) -> list[SnapshotName]:
    """Return the snapshots that a deletion deletes."""
    taken = await services.database.read(snapshots.snapshots_of, stack.id)
    return [{"id": each.id, "name": each.name} for each in taken]


async def _rollback(
    components: ActionComponents, context: RequestContext, stack: Stack, request: PreviewAction
) -> ActionPreview:
    services = components.services
    target = rollback_target(stack, await last_operation(services, stack))
    refresh = refresh_of_return(stack, request.refresh, Refresh.CHANGES)
    planned = await plan_rollback(services, context, stack, target, refresh=refresh, priced=True)
    return {"plan": planned.to_data(), "snapshots": []}


async def _restoration(
    components: ActionComponents, context: RequestContext, stack: Stack, request: PreviewAction
) -> ActionPreview:
    if request.snapshot_id is None:
        raise BadValue("The preview of a restoration needs the snapshot_id.")
    snapshot, checked = await checked_restoration(components, context, stack, request.snapshot_id)
    how: dict[str, Any] = {"refresh": refresh_of_return(stack, request.refresh, Refresh.CHANGES), "priced": True}
    planned = await plan_restoration(components.services, context, stack, checked, snapshot, **how)
    return {"plan": planned.to_data(), "snapshots": []}


async def _retry(
    components: ActionComponents, context: RequestContext, stack: Stack, request: PreviewAction
) -> ActionPreview:
    from stoker.operations.retries import plan_retry, refresh_of_retry, retention_of_retry  # only for a retry

    services = components.services
    last = await last_operation(services, stack)
    retention = await retention_of_retry(services, stack, last, request.skip)
    how: dict[str, Any] = {"refresh": refresh_of_retry(stack, last, request.refresh), "priced": True}
    planned = await plan_retry(components, context, stack, last, retention, **how)
    taken = await _taken(services, stack) if last.action == "DELETE" else []
    return {"plan": planned.to_data(), "snapshots": taken}


PREVIEWS: Mapping[str, Callable[[ActionComponents, RequestContext, Stack, PreviewAction], Awaitable[ActionPreview]]] = {
    "delete": _deletion,
    "rollback": _rollback,
    "cancel_update": _rollback,
    "restore": _restoration,
    "retry": _retry,
}
"""The previews by action, whose names are those of `lookup.RULES`."""
