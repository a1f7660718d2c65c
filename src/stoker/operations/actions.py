"""Actions on existing stacks: suspend, resume, check, cancel, retry, roll back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Bug
from stoker.contract.stacks import ActOnStack
from stoker.engine.core import Engine
from stoker.engine.running.conclusion import rollback_target
from stoker.operations.lookup import find_stack
from stoker.operations.stacks import new_operation, submit
from stoker.operations.transitions import Verdict, guard, verdict
from stoker.store import queries
from stoker.store.records import Operation, Stack

_VERBS = {"suspend": "SUSPEND", "resume": "RESUME", "check": "CHECK"}


async def stack_action(engine: Engine, context: RequestContext, request: ActOnStack) -> None:
    """Begin one of `ACTIONS`. Raises NotSupported or ActionInProgress if the stack's state does not allow it."""
    begin = ACTIONS.get(request.action)
    if begin is None:
        raise BadValue(f"Unknown stack action {request.action!r}; the actions are {', '.join(ACTIONS)}.")
    stack = await find_stack(engine, context, request.ref)
    if verdict(request.action, stack) is Verdict.TAKEN:
        await begin(engine, context, stack, request.action)


async def _verb(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Apply the same action to every resource."""
    operation = new_operation(engine, context, stack, _VERBS[action], stack.inputs)
    await submit(engine, context, stack, operation, guard=guard(action))


async def _cancel(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Cancel the running operation, and leave everything as it is."""
    await engine.cancel(stack, guard(action))


async def _roll_back(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Restore the state before the last operation, while it runs (`cancel_update`) or after it has failed."""
    target = rollback_target(stack, await _last(engine, stack))
    await submit(engine, context, stack, new_operation(engine, context, stack, "ROLLBACK", target), guard=guard(action))


async def _retry(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Resume a failed operation: the same action and definition; finished steps are not repeated."""
    last = await _last(engine, stack)
    operation = new_operation(engine, context, stack, last.action, last.inputs, observe=last.observe)
    operation.former_inputs, operation.snapshot = last.former_inputs, last.snapshot
    await submit(engine, context, stack, operation, guard=guard(action))


async def _last(engine: Engine, stack: Stack) -> Operation:
    operation = await engine.database.read(queries.operation_by_id, stack.operation or "")
    if operation is None:
        raise Bug(f"the operation {stack.operation} of stack {stack.id} is not recorded")
    return operation


ACTIONS: Mapping[str, Callable[[Engine, RequestContext, Stack, str], Awaitable[None]]] = {
    "suspend": _verb,
    "resume": _verb,
    "check": _verb,
    "cancel_update": _roll_back,
    "cancel_without_rollback": _cancel,
    "retry": _retry,
    "rollback": _roll_back,
}
"""The functions behind `stack_action`, by action."""
