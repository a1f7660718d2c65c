"""Results of operations as plain JSON data: times are seconds since the epoch; no links, no HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import orjson

from stoker.contract.views import EventView, FailureView, LockView, ResourceRow, ResourceView, StackLocation, StackView
from stoker.engine.records.failure import Failure, failure_of_resource
from stoker.store.records import Event, Resource, ResourceSummary, Stack

_NOTHING = "[]"


def stack_view(stack: Stack, tags: Sequence[str] | None) -> StackView:
    """Return a stack without the data that requires its template."""
    return {
        "id": stack.id,
        "name": stack.name,
        "description": stack.description,
        "project_id": stack.project_id,
        "owner": stack.parent_id,
        "user_name": stack.user_name,
        "action": stack.action,
        "status": stack.status,
        "status_reason": stack.reason,
        "created_at": stack.created_at,
        "updated_at": stack.updated_at,
        "deleted_at": stack.deleted_at,
        "disable_rollback": stack.disable_rollback,
        "timeout_mins": stack.timeout_minutes,
        "parent_id": stack.parent_id,
        "root_id": stack.root_id,
        "stack_user_project_id": stack.user_project_id,
        "tags": list(tags) if tags else None,
        "locked": lock_view(stack),
    }


def lock_view(root: Stack) -> LockView | None:
    """Return the lock of a root stack as data."""
    return None if root.locked is None else orjson.loads(root.locked)


def resource_view(
    resource: Resource | ResourceSummary,
    stack: Stack,
    required_by: Sequence[str],
    *,
    child: Stack | None = None,
    parent: str | None = None,
) -> ResourceView:
    """Return a resource with its stack, without its attributes. `parent` is as in `place_view`."""
    return {**resource_row(resource, required_by, child), **place_view(stack, parent)}


def place_view(stack: Stack, parent: str | None) -> StackLocation:
    """Return the position of a stack's resources. `parent` is the name of the resource of the nested stack."""
    return {
        "stack_id": stack.id,
        "stack_name": stack.name,
        "project_id": stack.project_id,
        "parent_resource": parent,
        "root_stack_id": stack.root_id,
    }


def resource_row(resource: Resource | ResourceSummary, required_by: Sequence[str], child: Stack | None) -> ResourceRow:
    """Return a resource of a list that contains each stack only once. `child` is the resource's nested stack."""
    return {
        "name": resource.name,
        "type": resource.type,
        "action": resource.action,
        "status": resource.status,
        "status_reason": resource.reason,
        "physical_id": resource.physical_id,
        "created_at": resource.created_at,
        "updated_at": resource.updated_at or resource.created_at,
        "required_by": required_by,
        "stack_id": resource.stack_id,
        "nested_id": child.id if child else None,
        "nested_name": child.name if child else None,
        "failure": None if resource.failure is None else failure_view(failure_of_resource(resource)),
    }


def failure_view(failure: Failure | None) -> FailureView | None:
    """Return a failure as data."""
    return None if failure is None else {"kind": failure.kind, "path": failure.path, "message": failure.message}


def required_by(resources: Sequence[Resource | ResourceSummary]) -> dict[str, list[str]]:
    """Return for each name the resources that depend on it directly."""
    users: dict[str, list[str]] = {}
    for resource in resources:
        if resource.requires != _NOTHING:
            for name in orjson.loads(resource.requires):
                users.setdefault(name, []).append(resource.name)
    return users


def event_view(
    event: Event, stack: Stack, root: Stack | None = None, above: Mapping[str, Stack] = MappingProxyType({})
) -> EventView:
    """Return an event of a stack without the properties.

    `above` contains the stacks between the one that was asked for and the event's, both included, by id.
    """
    return {
        "id": event.id,
        "stack_id": stack.id,
        "stack_name": stack.name,
        "project_id": stack.project_id,
        "resource_name": event.resource_name,
        "resource_type": event.resource_type,
        "action": event.action,
        "status": event.status,
        "status_reason": event.reason,
        "physical_id": event.physical_id,
        "time": event.time,
        "root_stack_id": stack.root_id,
        "root_stack_name": root.name if root else stack.name,
        "within": _within(stack, above),
        "cause": None if event.cause is None else orjson.loads(event.cause),
        "hook": event.hook,
        "hook_held": event.hook_held,
        "reason_code": event.reason_code,
    }


def _within(stack: Stack, above: Mapping[str, Stack]) -> list[str] | None:
    """Return the names of the resources that contain a nested stack, from the topmost of the stacks above it."""
    names: list[str] = []
    while (parent := above.get(stack.parent_id or "")) is not None:
        if stack.parent_resource_name is None:
            return None
        names.append(stack.parent_resource_name)
        stack = parent
    return names[::-1]
