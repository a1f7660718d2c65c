"""What may be asked of a stack that exists besides another definition: verbs, calling off, trying again, going back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Bug
from stoker.engine.core import Engine
from stoker.engine.running.conclusion import rollback_target
from stoker.operations.lookup import Reference, find_stack
from stoker.operations.stacks import new_operation, submit
from stoker.operations.transitions import Verdict, guard, verdict
from stoker.store import queries
from stoker.store.records import Operation, Stack

_VERBS = {"suspend": "SUSPEND", "resume": "RESUME", "check": "CHECK"}


async def stack_action(engine: Engine, context: RequestContext, ref: Reference, action: str) -> None:
    """Begin one of `ACTIONS`. Raises NotSupported or ActionInProgress where the stack's state does not allow it."""
    begin = ACTIONS.get(action)
    if begin is None:
        raise BadValue(f"Unknown stack action {action!r}; there are {', '.join(ACTIONS)}.")
    stack = await find_stack(engine, context, ref)
    if verdict(action, stack) is Verdict.TAKEN:
        await begin(engine, context, stack, action)


async def _verb(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Have every resource do the same thing."""
    operation = new_operation(engine, context, stack, _VERBS[action], stack.inputs)
    await submit(engine, context, stack, operation, guard=guard(action))


async def _cancel(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Call off what runs, and leave everything as it is."""
    await engine.cancel(stack, guard(action))


async def _roll_back(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Go back to what was there before the last operation, whether it runs (`cancel_update`) or has failed."""
    target = rollback_target(stack, await _last(engine, stack))
    await submit(engine, context, stack, new_operation(engine, context, stack, "ROLLBACK", target), guard=guard(action))


async def _retry(engine: Engine, context: RequestContext, stack: Stack, action: str) -> None:
    """Go on from what has failed: the same action, towards the same definition, with what has been done kept."""
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
"""What `stack_action` can begin."""
