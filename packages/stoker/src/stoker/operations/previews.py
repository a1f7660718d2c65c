"""Previews of creations and updates: the plan in Heat's format for Heat's clients, and in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Connection

from stoker.base.budget import charge_copy
from stoker.base.context import RequestContext
from stoker.base.redaction import redact
from stoker.contract.previews import ChangesPreview, PreviewPatch, PreviewStack, PreviewUpdate, StackPreview
from stoker.contract.stacks import Refresh
from stoker.contract.views import ResourceView
from stoker.engine.calls.context import ActionComponents
from stoker.engine.inspection.comparison import DetectionResult
from stoker.engine.inspection.detections import known_comparisons
from stoker.engine.plan_policies.policy import Policy
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.operations.lookup import find_stack
from stoker.operations.planning import TargetDefinition, plan_tree
from stoker.operations.policy_settings import tried_policies
from stoker.operations.requests import CheckedRequest, check_tags, check_whole
from stoker.operations.stacks import (
    details_view,
    is_checked_first,
    patched_request,
    refresh_of,
    replaced_request,
    requested_stack,
)
from stoker.operations.views import required_by, resource_view, stack_view
from stoker.store import queries
from stoker.store.records import Stack, StackSettings

NO_STACK = "None"
"""The id in previews of a stack that does not exist yet."""


_COPIES = 4
"""How often the values of a preview exist on their way to the client, written out wherever they occur."""


async def stack_preview(components: ActionComponents, context: RequestContext, request: PreviewStack) -> StackPreview:
    """Return the stack that a create would make, with its resources and the plan; nothing is recorded."""
    services = components.services
    stack = replace(requested_stack(services, context, request.name, request), id=NO_STACK, root_id=NO_STACK)
    checked = await check_whole(components, context, stack, request, joint=request.joint_deployment)
    template = checked.prepared.loaded.template
    view = stack_view(stack, check_tags(request.tags))
    tried = await tried_policies(services, context.project_id, request.plan_policies)
    goal = replace(TargetDefinition.of(stack, checked, "CREATE"), tags=check_tags(request.tags), tried=tried)
    preflight = is_checked_first(services, request)
    planned = await plan_tree(services, context, stack, goal, preflight=preflight, priced=True)
    previewed: StackPreview = {
        **details_view(view, checked.definition, template, StackSettings(stack.id)),
        "resources": _previewed(services, stack, planned.plan),
        "plan": planned.to_data(),
    }
    charge_copy(previewed, _COPIES)
    return previewed


async def stack_update_preview(
    components: ActionComponents, context: RequestContext, request: PreviewUpdate
) -> ChangesPreview:
    """Preview the replacement of the stack's definition."""
    services = components.services
    stack = await find_stack(services, context, request.ref)
    checked = await replaced_request(components, context, stack, request, request.joint_deployment)
    tried = await tried_policies(services, context.project_id, request.plan_policies)
    return await _changes(services, context, stack, checked, request, check_tags(request.tags), tried)


async def stack_patch_preview(
    components: ActionComponents, context: RequestContext, request: PreviewPatch
) -> ChangesPreview:
    """Preview a change of the given parts of the stack's definition."""
    services = components.services
    stack = await find_stack(services, context, request.ref)
    checked = await patched_request(components, context, stack, request)
    tags = check_tags(request.tags) if request.tags is not None else None
    detection = request.detection
    known = await known_comparisons(services, stack, detection) if detection is not None else None
    return await _changes(services, context, stack, checked, request, tags, known=known)


_BUCKETS = {
    StepKind.KEEP: "unchanged",
    StepKind.UPDATE: "updated",
    StepKind.REFUSE: "updated",
    StepKind.REPLACE: "replaced",
    StepKind.CREATE: "added",
    StepKind.USE: "added",
    StepKind.DELETE: "deleted",
    StepKind.FORGET: "deleted",
}


_RECORDED = (StepKind.UPDATE, StepKind.REFUSE, StepKind.DELETE, StepKind.FORGET)
"""The kinds of steps whose resources are shown as recorded."""


async def _changes(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    checked: CheckedRequest,
    request: PreviewUpdate | PreviewPatch,
    tags: Sequence[str] | None,
    tried: Sequence[Policy] = (),
    known: DetectionResult | None = None,
) -> ChangesPreview:
    show_nested = request.show_nested
    refresh = refresh_of(services, request, Refresh.CHANGES)
    goal = replace(TargetDefinition.of(stack, checked, "UPDATE"), tags=tags, tried=tried)
    options: dict[str, Any] = {"preflight": is_checked_first(services, request), "priced": True, "known": known}
    planned = await plan_tree(services, context, stack, goal, with_kept=show_nested, refresh=refresh, **options)
    steps = [step for step in planned.plan.steps if show_nested or not step.depth]
    buckets: dict[str, list[ResourceView]] = {bucket: [] for bucket in _BUCKETS.values()}
    replaced = {step.name for step in steps if step.supersedes}
    items = await services.database.read(_present, stack, show_nested)
    present = dict(zip(items, await ObjectIds(services).views(items.values()), strict=True))
    for step in steps:
        if step.kind is StepKind.DELETE and step.name in replaced:
            continue
        recorded = present.get(step.uuid or "") if step.kind in _RECORDED else None
        bucket = "added" if step.imports is not None and step.uuid not in present else _BUCKETS[step.kind]
        buckets[bucket].append(_raw(stack, step) | (recorded or {}))
    changes: ChangesPreview = {"resource_changes": buckets, "plan": planned.to_data()}
    charge_copy(changes, _COPIES)
    return changes


def _present(connection: Connection, stack: Stack, show_nested: bool) -> dict[str, tuple[Stack, str, ResourceView]]:
    """Return the current resources of the stack and its nested stacks, by uuid, with their stacks and types."""
    found: dict[str, tuple[Stack, str, ResourceView]] = {}
    holder = queries.resource_by_uuid(connection, stack.parent_resource) if stack.parent_resource else None
    names = {holder.uuid: holder.name} if holder is not None else {}
    for level in queries.levels_of(connection, stack, None if show_nested else 0):
        rows = queries.resource_summaries(connection, [item.id for item in level])
        for item in level:
            users = required_by(rows.get(item.id, []))
            for row in rows.get(item.id, []):
                names[row.uuid] = row.name
                parent = names.get(item.parent_resource or "")
                view = resource_view(row, item, users.get(row.name, []), parent=parent)
                found[row.uuid] = (item, row.type, view)
    return found


def _previewed(services: EngineServices, stack: Stack, plan: Plan) -> list[Any]:
    """Return the resources of a stack to create, in order, with lists for nested stacks; unknown values are null."""
    users, type_named = _users(plan), cache(services.types.offered_type)
    found: list[Any] = []
    levels = [found]
    for step in plan.steps:
        while len(levels) > step.depth + 1:
            levels.pop()
        if step.depth == len(levels):  # the first one inside the resource before it
            levels[-1][-1] = []
            levels.append(levels[-1][-1])
        properties = {change.name: change.shown() for change in step.changes}
        type_ = type_named(step.type)
        if type_ is not None:
            properties = {name: prop.default for name, prop in type_.properties.items()} | properties
        resource = _raw(stack, step, redact(properties, plan.secrets))
        resource["required_by"] = users.get(step.key, [])
        resource["attributes"] = dict.fromkeys(type_.attributes if type_ else ())
        levels[-1].append(resource)
    return found


def _users(plan: Plan) -> dict[str, list[str]]:
    """Return for each step, by its key, the names of the resources in the same stack that depend on its resource."""
    places = {step.key: (step.depth, _split(step)[0]) for step in plan.steps}
    users: dict[str, list[str]] = {}
    for step in plan.steps:
        for key in step.after:
            if places.get(key) == places[step.key]:
                users.setdefault(key, []).append(_split(step)[1])
    return users


def _split(step: Step) -> tuple[str, str]:
    """Return the names of the resources around that of a step, outermost first, separated by dots; and its own name."""
    if not step.depth:
        return "", step.name
    holders, _, name = step.name.rpartition(".")
    return holders, name


def _raw(stack: Stack, step: Step, properties: Any = None) -> ResourceView:
    holders, name = _split(step)
    return {
        "name": name,
        "type": step.type,
        "action": "INIT",
        "status": "COMPLETE",
        "status_reason": "",
        "physical_id": "",
        "created_at": None,
        "updated_at": None,
        "required_by": [],
        "stack_id": NO_STACK if holders else stack.id,
        "stack_name": "-".join([stack.name, *holders.split(".")]) if holders else stack.name,
        "project_id": stack.project_id,
        "parent_resource": holders.rpartition(".")[2] or None,
        "nested_id": None,
        "nested_name": None,
        "root_stack_id": stack.root_id,
        "attributes": {},
        "description": "",
        "metadata": {},
        "properties": properties or {},
    }
