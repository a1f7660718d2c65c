"""Find the stack or resource that a request names, without revealing whether other projects have it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound, Forbidden
from stoker.contract.request import Reference
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.store import queries
from stoker.store.records import Operation, Stack

_ARN = re.compile(r"arn:openstack:heat::(?P<project>[^:]*):stacks/(?P<name>[^/]+)/(?P<id>[^/]+)")


async def find_stack(
    services: EngineServices, context: RequestContext, ref: Reference, *, deleted: bool = False
) -> Stack:
    """Return the stack that a request refers to. Raises EntityNotFound.

    With `deleted`, a deleted stack is also found by its id (or ARN); a name that does not belong to the id finds
    nothing.
    """
    return await services.database.read(found_stack, context, ref, deleted)


async def find_operation(services: EngineServices, stack: Stack, operation_id: str) -> Operation:
    """Return an operation of a stack. Raises EntityNotFound."""
    operation = await services.database.read(queries.operation_by_id, operation_id)
    if operation is None or operation.stack_id != stack.id:
        raise EntityNotFound(f"The Operation ({operation_id}) could not be found in Stack {stack.name}.")
    return operation


def named_stack(ref: Reference) -> tuple[str | None, str | None]:
    """Return the name and the ID of the stack that a request refers to, as far as it gives them."""
    name, identifier = ref.get("name"), ref.get("id")
    match = _ARN.fullmatch(name) if name and not identifier else None
    return (match["name"], match["id"]) if match else (name, identifier)


def found_stack(connection: Connection, context: RequestContext, ref: Reference, deleted: bool) -> Stack:
    """Return the same on an open connection, for callers that read more data about the stack at once."""
    name, identifier = ref.get("name"), ref.get("id")
    if name and not identifier:
        match = _ARN.fullmatch(name)
        stack = queries.stack_by_id(connection, match["id"]) if match else _by_name_or_id(connection, context, name)
    else:
        stack = queries.stack_by_id(connection, str(identifier))
        if stack is not None and name and stack.name != name:
            stack = None
    if stack is None or (stack.deleted_at is not None and not deleted):
        raise EntityNotFound(f"The Stack ({name or identifier}) could not be found.")
    if context.project_id not in (stack.project_id, stack.user_project_id) and not context.is_admin:
        raise EntityNotFound(f"The Stack ({name or identifier}) could not be found.")
    return stack


def _by_name_or_id(connection: Connection, context: RequestContext, name: str) -> Stack | None:
    """Return a stack of the caller's project, or for a stack user, one of the tree that the user belongs to."""
    return (
        queries.stack_by_name(connection, context.project_id, name)
        or queries.stack_by_users(connection, context.project_id, name)
        or queries.stack_by_id(connection, name)
    )


def is_stack_user(context: RequestContext, stack: Stack) -> bool:
    """Return whether the caller is one of the stack's own users, as agents in servers are."""
    return context.project_id == stack.user_project_id and context.project_id != stack.project_id


def uses_itself(context: RequestContext, state: ResourceState) -> bool:
    """Return whether a stack user is the one of this very resource, and may use it whatever else the stack contains."""
    belongs = state.stored.data.get("user_id") == context.user_id
    return belongs and not isinstance(state.type, capabilities.UserSharing)


def may_use(context: RequestContext, stack: Stack, state: ResourceState, current: Mapping[str, ResourceState]) -> bool:
    """Return whether the caller can read and signal a resource of a stack of its project; `current` are all by name.

    Stack users can use only what the resource that they belong to allows.
    """
    if not is_stack_user(context, stack):
        return True
    owners = [one for one in (state, *current.values()) if one.stored.data.get("user_id") == context.user_id]
    others = {name: other.snapshot() for name, other in current.items()} if owners else {}
    return any(capabilities.lets_use(owner.type, owner.snapshot(), state.row.name, others) for owner in owners)


def require_stack_user_access(
    context: RequestContext, stack: Stack, state: ResourceState, current: Mapping[str, ResourceState]
) -> None:
    """Raise Forbidden unless `may_use` allows it."""
    if not may_use(context, stack, state, current):
        raise Forbidden("You are not allowed to use this resource.")


async def tree_or_project(
    services: EngineServices, context: RequestContext, ref: Reference | None
) -> tuple[str, str | None]:
    """Return the project and the root stack that settings are for; without `ref`, there is no stack.

    Raises EntityNotFound, and BadValue for a nested stack.
    """
    if ref is None:
        return context.project_id, None
    stack = await find_stack(services, context, ref)
    if stack.parent_id is not None:
        raise BadValue(f"This is set for a tree of stacks as a whole; {stack.name} is a nested stack.")
    return stack.project_id, stack.id
