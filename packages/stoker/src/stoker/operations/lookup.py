"""The stack or resource that a request names: found without revealing whether other projects have it; and the requests
that are possible in each state of a stack.

The table of the states is used before a request is checked in detail, and again in the transaction that records it, so
that only one of two simultaneous requests succeeds. `retry` and `rollback` are Stoker's own requests;
tests/api/test_api_lifecycle.py has the states for Heat's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, BadValue, EntityNotFound, Forbidden, NotSupported
from stoker.contract.request import Reference
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.store import queries
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Operation, Stack
from stoker_foundation.clock import isoformat

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
    return found_by(_stack_alone, connection, context, ref, deleted=deleted)[0]


def _stack_alone(connection: Connection, **values: str) -> tuple[Stack, None] | None:
    stack = queries.stack_with(connection, **values)
    return None if stack is None else (stack, None)


Details = TypeVar("Details")


def found_by(
    read: Callable[..., tuple[Stack, Details] | None],
    connection: Connection,
    context: RequestContext,
    ref: Reference,
    *,
    deleted: bool,
) -> tuple[Stack, Details]:
    """Return the same with what is read together with the stack.

    `read` is called with a connection and the values of columns of stacks, and returns the stack that has them, or
    None.
    """
    name, identifier = ref.get("name"), ref.get("id")
    if name and not identifier:
        match = _ARN.fullmatch(name)
        found = read(connection, id=match["id"]) if match else _by_name_or_id(read, connection, context, name)
    else:
        found = read(connection, id=str(identifier))
        if found is not None and name and found[0].name != name:
            found = None
    if found is None or (found[0].deleted_at is not None and not deleted):
        raise EntityNotFound(f"The Stack ({name or identifier}) could not be found.")
    if context.project_id not in (found[0].project_id, found[0].user_project_id) and not context.is_admin:
        raise EntityNotFound(f"The Stack ({name or identifier}) could not be found.")
    return found


def _by_name_or_id(
    read: Callable[..., tuple[Stack, Details] | None], connection: Connection, context: RequestContext, name: str
) -> tuple[Stack, Details] | None:
    """Return a stack of the caller's project, or for a stack user, one of the tree that the user belongs to."""
    return (
        read(connection, project_id=context.project_id, live_name=name)
        or read(connection, user_project_id=context.project_id, live_name=name)
        or read(connection, id=name)
    )


def is_stack_user(context: RequestContext, stack: Stack) -> bool:
    """Return whether the caller is one of the stack's own users, as agents in servers are."""
    return context.project_id == stack.user_project_id and context.project_id != stack.project_id


def uses_itself(context: RequestContext, state: ResourceState) -> bool:
    """Return whether a stack user is the one of this very resource, and may use it whatever else the stack contains."""
    belongs = state.stored.data.get("user_id") == context.user_id
    return belongs and not isinstance(state.type, capabilities.UserOwner)


def may_use(context: RequestContext, stack: Stack, state: ResourceState, current: Mapping[str, ResourceState]) -> bool:
    """Return whether the caller can read and signal a resource of a stack of its project; `current` are all by name.

    Stack users can use only what the resource that they belong to allows.
    """
    if not is_stack_user(context, stack):
        return True
    owners = [owner for owner in (state, *current.values()) if owner.stored.data.get("user_id") == context.user_id]
    others = {name: other.snapshot() for name, other in current.items()} if owners else {}
    return any(capabilities.user_may_use(owner.type, owner.snapshot(), state.row.name, others) for owner in owners)


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


# -- the requests that are possible in each state ----------------------------------------------------------------

State = tuple[str, str]
"""Action and status of a stack."""


class RequestDecision(Enum):
    """The decision about a request."""

    TAKEN = "taken"
    DONE = "done already"
    REFUSED = "refused"
    BUSY = "refused while another operation runs"


DEFINING = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")
"""Actions that apply a definition."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`decide` returns the decision for a state; `refusal` is the reason for a refusal, and what to do instead."""

    decide: Callable[[State], RequestDecision]
    refusal: str


def _unless(actions: tuple[str, ...]) -> Callable[[State], RequestDecision]:
    return lambda state: RequestDecision.REFUSED if state[0] in actions else RequestDecision.TAKEN


def _only(*states: State) -> Callable[[State], RequestDecision]:
    return lambda state: RequestDecision.TAKEN if state in states else RequestDecision.REFUSED


def _settled(refused: tuple[str, ...]) -> Callable[[State], RequestDecision]:
    """Require that no operation runs, and refuse the request in the states of the actions `refused`."""

    def decide(state: State) -> RequestDecision:
        if state[0] in refused and state != ("SUSPEND", IN_PROGRESS):
            return RequestDecision.REFUSED
        return RequestDecision.BUSY if state[1] == IN_PROGRESS else RequestDecision.TAKEN

    return decide


def _verb(action: str, *, repeatable: bool) -> Callable[[State], RequestDecision]:
    """Refuse an action on a busy stack; do nothing if the same action is running or was completed."""

    def decide(state: State) -> RequestDecision:
        if state == (action, IN_PROGRESS) or (state == (action, COMPLETE) and not repeatable):
            return RequestDecision.DONE
        return RequestDecision.BUSY if state[1] == IN_PROGRESS else RequestDecision.TAKEN

    return decide


RULES: Mapping[str, Rule] = {
    "update": Rule(
        _unless(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended cannot be updated; resume a suspended stack first.",
    ),
    "update_alone": Rule(
        _settled(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended cannot be updated; resume a suspended stack first.",
    ),
    "delete": Rule(_unless(()), ""),
    "suspend": Rule(_verb("SUSPEND", repeatable=False), ""),
    "resume": Rule(_verb("RESUME", repeatable=False), ""),
    "check": Rule(_verb("CHECK", repeatable=True), ""),
    "snapshot": Rule(
        _settled(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended has no snapshots; resume it first.",
    ),
    "restore": Rule(
        _unless(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended cannot be restored; resume a suspended stack first.",
    ),
    "abandon": Rule(_settled(()), ""),
    "cancel_update": Rule(_only(("UPDATE", IN_PROGRESS)), "Only a running update can be cancelled."),
    "cancel_without_rollback": Rule(
        _only(("UPDATE", IN_PROGRESS), ("CREATE", IN_PROGRESS)),
        "Only a running creation or update can be cancelled.",
    ),
    "retry": Rule(
        _only(*((action, FAILED) for action in (*DEFINING, "DELETE", "SUSPEND", "RESUME", "CHECK"))),
        "Only failed operations can be retried.",
    ),
    "rollback": Rule(
        _only(*((action, FAILED) for action in DEFINING)),
        "Only a failed creation or update can be rolled back; a running one can be cancelled.",
    ),
}


def _words(request: str) -> str:
    """Return the user's word for a request: `cancel` for `cancel_update`."""
    return request.partition("_")[0]


def request_decision(request: str, stack: Stack) -> RequestDecision:
    """Return whether the request is possible now. Raises NotSupported, ActionInProgress, or EntityNotFound."""
    if stack.deleted_at is not None:
        raise EntityNotFound(f"The Stack ({stack.name}) could not be found.")
    rule = RULES[request]
    found = rule.decide((stack.action, stack.status))
    state = f"{stack.action}_{stack.status}"
    if found is RequestDecision.REFUSED:
        raise NotSupported(f"{_words(request)} is not possible on stack {stack.name} in state {state}. {rule.refusal}")
    if found is RequestDecision.BUSY:
        raise ActionInProgress(
            f"Stack {stack.name} already has an action ({stack.action}) in progress; "
            f"retry {_words(request)} afterwards."
        )
    return found


async def current_decision(services: EngineServices, request: str, stack: Stack) -> RequestDecision:
    """As `request_decision`; the error for a stack with an action in progress says whose it is, and since when."""
    try:
        return request_decision(request, stack)
    except ActionInProgress as error:
        running = await services.database.read(queries.unfinished_of, stack.id)
        if not running:
            raise
        user = f" of {running[-1].user_name}" if running[-1].user_name else ""
        began = isoformat(running[-1].created_at)
        raise ActionInProgress(f"{error.message} The operation {running[-1].id}{user} runs since {began}.") from error


def guard(request: str) -> Callable[[Stack], object]:
    """Return `request_decision` on this request, for the transaction that records it."""
    return partial(request_decision, request)
