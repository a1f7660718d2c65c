"""Send signals to resources, and mark resources unhealthy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from stoker.base.context import RequestContext
from stoker.base.errors import (
    ActionInProgress,
    BadValue,
    InvalidBreakPointHook,
    NotSupported,
    ResourceActionNotSupported,
    ResourceNotAvailable,
    ResourceNotFound,
)
from stoker.contract.resources import MarkResourceUnhealthy, SignalResource
from stoker.engine.calls.building import make_call
from stoker.engine.calls.context import RecordingComponents, StackContext
from stoker.engine.calls.signals import take_signal
from stoker.engine.planning.decide import mark_unhealthy
from stoker.engine.records.actions import NOT_CREATED
from stoker.engine.records.state import ResourceState, formerly_named, had_name
from stoker.engine.running.hooks import HOOKS, about, clear
from stoker.engine.running.operation_context import acting_on
from stoker.operations.lookup import find_stack, require_stack_user_access
from stoker.store import queries
from stoker.store.locks import refuse_if_locked_now
from stoker.store.records import COMPLETE, FAILED, Stack


async def resource_signal(components: RecordingComponents, context: RequestContext, request: SignalResource) -> None:
    """Deliver a signal to a resource; waiting steps of its stack are polled immediately."""
    name, details = request.name, request.details
    stack = await find_stack(components.services, context, request.ref)
    acting, state = await _resource(components, stack, name)
    state = _own(context, acting, name, state)
    require_stack_user_access(context, stack, state, acting.current)
    if details and "unset_hook" in details:
        await _clear_hook(acting, state, details["unset_hook"])
        return
    if state.row.action == NOT_CREATED:
        raise ResourceNotAvailable(f"The Resource ({name}) is not available.")
    if not state.type.signalable:
        raise ResourceActionNotSupported(f"The resource {name!r} ({state.row.type}) does not support signals.")
    if state.row.action in state.type.no_signals_during:
        raise NotSupported(
            f"The resource {name!r} cannot receive signals in state {state.row.action}_{state.row.status}."
        )
    await take_signal(acting, state, await make_call(acting, state), details)


def _own(context: RequestContext, acting: StackContext, name: str, state: ResourceState) -> ResourceState:
    """Return the resource, its predecessor that is being removed, or one that had its name, whichever the calling user
    belongs to.
    """
    states = acting.states.values()
    same_name = [other for other in states if other.row.name == state.row.name or had_name(other.row, name)]
    return next((other for other in same_name if other.stored.data.get("user_id") == context.user_id), state)


async def _clear_hook(acting: StackContext, state: ResourceState, hook: object) -> None:
    if hook not in HOOKS:
        raise InvalidBreakPointHook(f"Unknown hook {hook!r}; the hooks are {', '.join(HOOKS)}.")
    if not clear(state, hook):
        raise InvalidBreakPointHook(f"The hook {hook!r} is not set on resource {state.row.name!r}.")
    event = state.event(f"Hook {hook} is cleared", acting.services.clock.now())
    await acting.record(state, about(hook, event, held=False))
    acting.wake(state.row.uuid)


async def resource_mark_unhealthy(
    components: RecordingComponents, context: RequestContext, request: MarkResourceUnhealthy
) -> None:
    """Mark a resource unhealthy, so that the next update replaces it, or revert that mark.

    Raises StackLocked if a user has locked the tree of stacks.
    """
    services = components.services
    name = request.name
    reason = request.resource_status_reason or "state changed by resource_mark_unhealthy"
    stack = await find_stack(services, context, request.ref)
    if components.runs.get(stack.id) is not None:
        raise ActionInProgress(f"Stack {stack.name} already has an action ({stack.action}) in progress.")
    acting, state = await _resource(components, stack, name)
    if not request.mark_unhealthy:
        state = _marked(acting, state)
    row = state.row
    if request.mark_unhealthy and row.action != "DELETE":
        mark_unhealthy(state, reason)
    elif not request.mark_unhealthy and (row.action, row.status) == ("CHECK", FAILED):
        if row.physical_id is None and not state.type.local:
            raise BadValue(f"The resource {name} has no object and cannot be marked healthy.")
        row.status, row.reason = COMPLETE, reason
        row.fingerprint = ""
        state.stored.metadata, state.stored.marked = {}, False
        state.stored.creation = replace(state.stored.creation, never_usable=False)
    else:
        return
    event = state.event(row.reason, services.clock.now())
    unlocked = partial(refuse_if_locked_now, stack=stack)
    await acting.record(state, event, unlocked, partial(queries.note_direct_change, stack=stack))


def _marked(acting: StackContext, state: ResourceState) -> ResourceState:
    """Return the resource to mark: the current one, or the one that it should have replaced."""
    same_name = [other for other in acting.states.values() if other.row.name == state.row.name]
    return next((other for other in same_name if (other.row.action, other.row.status) == ("CHECK", FAILED)), state)


async def _resource(components: RecordingComponents, stack: Stack, name: str) -> tuple[StackContext, ResourceState]:
    services = components.services
    acting = await acting_on(components, stack, services.journal)
    state = acting.named(name)
    if state is None:
        by_id = [other for other in acting.current.values() if other.row.physical_id == name]
        if len(by_id) == 1:
            return acting, by_id[0]
        definition = await services.bind(stack, await services.loader.load(stack.inputs))
        if name in definition.resources:
            raise ResourceNotAvailable(f"The Resource ({name}) is not available.")
        if (moved := formerly_named(acting.current, name)) is not None:
            return acting, moved
        raise ResourceNotFound(f"The Resource ({name}) could not be found in Stack {stack.name}.")
    return acting, state
