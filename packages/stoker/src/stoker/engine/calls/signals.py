"""Deliver a signal to a resource; record the result with its event."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace

from stoker.base.errors import Fenced
from stoker.engine.calls.context import StackContext
from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.plugins.resource import Call, NoActionRequired
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, Event

LOG = logging.getLogger(__name__)


async def take_signal(
    acting: StackContext, state: ResourceState, call: Call, details: Mapping[str, object] | None
) -> None:
    """Deliver a signal to a resource with its `call`; waiting steps of its stack are polled immediately."""
    before = deepcopy((state.stored.metadata, state.stored.data))
    try:
        reason = await capabilities.signal(state.type, call, details)
    except NoActionRequired as nothing:
        # Alarms repeat themselves: as in Heat, an event for each repetition would hide the others.
        LOG.info("a signal to %s of stack %s has no effect: %s", state.row.name, acting.stack.name, nothing)
        return
    state.stored.metadata = call.metadata
    event = replace(state.event(reason, acting.services.clock.now()), action="SIGNAL", status=COMPLETE)
    if (state.stored.metadata, state.stored.data) == before:
        await _record_event(acting, event)
    else:
        await acting.record(state, event)
    acting.wake_all()


async def _record_event(acting: StackContext, event: Event) -> None:
    """Record the event of a signal that did not change the resource that received it.

    Its effect was on another object, such as a group that it scaled, and must not be repeated, even if an operation has
    started on the stack since, or another engine has taken over the one that ran.
    """
    announcer = acting.components.announcer
    try:
        await announcer.commit(acting.writer, Batch().add(event), await announcer.sinks_of(acting.stack))
    except Fenced:
        LOG.warning(
            "the event of a signal in stack %s is not recorded: its operation was taken over", acting.stack.name
        )
