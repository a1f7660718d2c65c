"""What a create or an update would do: the plan, in Heat's shape for Heat's clients and in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.base.context import RequestContext
from stoker.engine.core import Engine
from stoker.engine.plan import Kind, Plan
from stoker.operations.inspection import masked
from stoker.operations.lookup import Reference, find_stack
from stoker.operations.planning import make_plan
from stoker.operations.requests import CheckedRequest, StackRequest, check_tags, check_whole
from stoker.operations.settings import settings_view
from stoker.operations.stacks import new_stack, patched_request
from stoker.operations.views import stack_view
from stoker.schema.unknown import has_unknown
from stoker.store.records import Stack, StackSettings
from stoker.template.expressions import UnknownScope


async def stack_preview(engine: Engine, context: RequestContext, name: Any, **body: Any) -> dict[str, Any]:
    """The stack that a create would make, with its resources and the plan; nothing is recorded."""
    request = StackRequest(**body)
    stack = new_stack(engine, context, name, request)
    checked = await check_whole(engine, context, stack, request)
    template = checked.prepared.loaded.template
    view = stack_view(stack, check_tags(request.tags))
    view["parameters"] = checked.definition.parameters.as_text()
    view["description"] = view["template_description"] = template.description or "No description"
    view |= settings_view(StackSettings(stack.id))
    view["resources"] = _previewed(stack, checked)
    view["plan"] = shown(await make_plan(engine, stack, checked, "CREATE"), checked)
    return view


async def stack_update_preview(engine: Engine, context: RequestContext, ref: Reference, **body: Any) -> dict[str, Any]:
    """What replacing the stack's definition would do."""
    stack = await find_stack(engine, context, ref)
    return await _changes(engine, stack, await check_whole(engine, context, stack, StackRequest(**body)))


async def stack_patch_preview(engine: Engine, context: RequestContext, ref: Reference, **body: Any) -> dict[str, Any]:
    """What laying the given parts over the stack's present ones would do."""
    stack = await find_stack(engine, context, ref)
    return await _changes(engine, stack, await patched_request(engine, context, stack, StackRequest(**body)))


def shown(plan: Plan, checked: CheckedRequest) -> dict[str, Any]:
    """The plan as data, with values of hidden parameters blotted out."""
    parameters = checked.definition.parameters
    secrets = {str(parameters.get(name)) for name in parameters.hidden} - {"", "None"}
    data: dict[str, Any] = masked(plan.to_data(), secrets)
    return data


_BUCKETS = {
    Kind.KEEP: "unchanged",
    Kind.UPDATE: "updated",
    Kind.REPLACE: "replaced",
    Kind.CREATE: "added",
    Kind.DELETE: "deleted",
}


async def _changes(engine: Engine, stack: Stack, checked: CheckedRequest) -> dict[str, Any]:
    plan = await make_plan(engine, stack, checked, "UPDATE")
    buckets: dict[str, list[dict[str, Any]]] = {bucket: [] for bucket in _BUCKETS.values()}
    replaced = {step.name for step in plan.steps if step.kind is Kind.REPLACE}
    for step in plan.steps:
        if step.kind is Kind.DELETE and step.name in replaced:
            continue
        buckets[_BUCKETS[step.kind]].append(_raw(stack, step.name, step.type))
    return {"resource_changes": buckets, "plan": shown(plan, checked)}


def _raw(stack: Stack, name: str, type_name: str, properties: Any = None) -> dict[str, Any]:
    return {
        "name": name,
        "type": type_name,
        "action": "INIT",
        "status": "COMPLETE",
        "status_reason": "",
        "physical_id": "",
        "created_at": None,
        "updated_at": None,
        "required_by": [],
        "stack_id": stack.id,
        "stack_name": stack.name,
        "project_id": stack.project_id,
        "parent_resource": None,
        "nested_id": None,
        "nested_name": None,
        "root_stack_id": stack.root_id,
        "attributes": {},
        "description": "",
        "metadata": {},
        "properties": properties or {},
    }


def _previewed(stack: Stack, checked: CheckedRequest) -> list[dict[str, Any]]:
    """The resources of a stack that does not exist, in order; values that need others to exist are null."""
    scope = UnknownScope()
    secrets_of = checked.definition.parameters
    secrets = {str(secrets_of.get(name)) for name in secrets_of.hidden} - {"", "None"}
    rows = []
    for name in checked.wanted.order:
        target = checked.wanted.target(name, scope)
        properties = masked(_known(target.given), secrets)
        rows.append(_raw(stack, name, target.type_name, properties))
    return rows


def _known(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return None if has_unknown(value) else value
