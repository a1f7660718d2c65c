"""Actions on existing stacks: suspend, resume, check, cancel, retry, roll back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue
from stoker.contract.stacks import ActOnStack
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.running.completion import rollback_target
from stoker.operations.action_plans import last_operation, plan_rollback, refresh_of_return
from stoker.operations.clearance import UNCONTROLLED, LazyPlan, correct_differences, gate_of
from stoker.operations.lookup import RequestDecision, current_decision, find_stack, guard
from stoker.operations.stacks import requested_operation, submit
from stoker.store.records import IN_PROGRESS, Stack

_VERBS = {"suspend": "SUSPEND", "resume": "RESUME", "check": "CHECK"}


async def stack_action(submissions: Submissions, context: RequestContext, request: ActOnStack) -> None:
    """Begin one of `ACTIONS`. Raises NotSupported or ActionInProgress if the stack's state does not allow it."""
    begin = ACTIONS.get(request.action)
    if begin is None:
        raise BadValue(f"Unknown stack action {request.action!r}; the actions are {', '.join(ACTIONS)}.")
    if request.skip and request.action != "retry":
        raise BadValue(f"Only a retry can skip resources; the action is {request.action!r}.")
    if begin not in (_roll_back, _retry) and (request.refresh is not None or request.plan_digest is not None):
        raise BadValue(
            f"Only a rollback and a retry have a plan, and choose what it compares; the action is {request.action!r}."
        )
    stack = await find_stack(submissions.services, context, request.ref)
    if await current_decision(submissions.services, request.action, stack) is RequestDecision.TAKEN:
        await begin(submissions, context, stack, request)


async def _verb(submissions: Submissions, context: RequestContext, stack: Stack, request: ActOnStack) -> None:
    """Apply the same action to every resource."""
    action = _VERBS[request.action]
    operation = requested_operation(submissions.services, context, stack, action, stack.inputs)
    clearance = UNCONTROLLED
    if action != "CHECK":  # it only reads
        clearance = await (await gate_of(submissions.components, context, stack, action)).pass_action(None)
    await submit(submissions, context, stack, operation, clearance, guard=guard(request.action))


async def _cancel(submissions: Submissions, context: RequestContext, stack: Stack, request: ActOnStack) -> None:
    """Cancel the running operation, and leave everything as it is."""
    await submissions.cancel(stack, guard(request.action))


async def _roll_back(submissions: Submissions, context: RequestContext, stack: Stack, request: ActOnStack) -> None:
    """Restore the state before the last operation, while it runs (`cancel_update`) or after it has failed."""
    services = submissions.services
    target = rollback_target(stack, await last_operation(services, stack))
    gate = await gate_of(submissions.components, context, stack, "ROLLBACK")
    refresh = refresh_of_return(stack, request.refresh, gate.refresh_of_plan(request.plan_digest))
    how: dict[str, Any] = {"refresh": refresh, "priced": gate.requires_plan}
    planned = LazyPlan(partial(plan_rollback, services, context, stack, target, **how))
    if request.plan_digest is None and stack.status == IN_PROGRESS:
        clearance = UNCONTROLLED  # a running operation is undone, as if it had failed
    else:
        clearance = await gate.pass_plan(request.plan_digest, planned)
    operation = requested_operation(services, context, stack, "ROLLBACK", target)
    await correct_differences(operation, refresh, planned)
    await submit(submissions, context, stack, operation, clearance, guard=guard(request.action))


async def _retry(submissions: Submissions, context: RequestContext, stack: Stack, request: ActOnStack) -> None:
    """Resume a failed operation: the same action and definition; finished steps are not repeated.

    It continues without the resources at the paths `skip`, and without those that the failed operation has skipped. It
    compares with the cloud what that has compared or, if it was planned or is asked to, what its plan compares.
    """
    from stoker.operations.retries import plan_retry, refresh_of_retry, retention_of_retry  # only for a retry

    services, components = submissions.services, submissions.components
    last = await last_operation(services, stack)
    retention = await retention_of_retry(services, stack, last, request.skip)
    gate = await gate_of(components, context, stack, last.action)
    refresh = refresh_of_retry(stack, last, request.refresh)
    how: dict[str, Any] = {"refresh": refresh, "priced": gate.requires_plan}
    planned = LazyPlan(partial(plan_retry, components, context, stack, last, retention, **how))
    clearance = await gate.pass_retry(last, request.skip, request.plan_digest, planned)
    operation = requested_operation(services, context, stack, last.action, last.inputs, observe=last.observe)
    operation.former_inputs, operation.snapshot = last.former_inputs, last.snapshot
    operation.skip_preflight, operation.differing = last.skip_preflight, last.differing
    operation.retention = retention.to_json()
    if request.refresh is not None or planned.is_made:
        await correct_differences(operation, refresh, planned)
    await submit(submissions, context, stack, operation, clearance, guard=guard(request.action))


ACTIONS: Mapping[str, Callable[[Submissions, RequestContext, Stack, ActOnStack], Awaitable[None]]] = {
    "suspend": _verb,
    "resume": _verb,
    "check": _verb,
    "cancel_update": _roll_back,
    "cancel_without_rollback": _cancel,
    "retry": _retry,
    "rollback": _roll_back,
}
"""The functions behind `stack_action`, by action."""
