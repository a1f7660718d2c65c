"""A resource takes a signal; what came of it is recorded with its event."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from stoker.engine.calls.context import StackContext
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import Call, NoActionRequired
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, Event

LOG = logging.getLogger(__name__)


async def take_signal(
    acting: StackContext, state: ResourceState, call: Call, details: Mapping[str, Any] | None
) -> None:
    """Hand a signal to a resource, `call` being made for it; what waits in its stack looks again at once."""
    before = deepcopy((state.stored.metadata, state.stored.data))
    try:
        reason = await state.type.signal(call, details)
    except NoActionRequired as nothing:
        # Alarms repeat themselves: an event for each would drown the others (facts: engine.yaml, signals.event).
        LOG.info("a signal to %s of stack %s changes nothing: %s", state.row.name, acting.stack.name, nothing)
        return
    state.stored.metadata = call.metadata
    event = replace(state.event(reason, acting.engine.clock.now()), action="SIGNAL", status=COMPLETE)
    if (state.stored.metadata, state.stored.data) == before:
        await _tell(acting, event)
    else:
        await acting.record(state, event)
    acting.wake_all()


async def _tell(acting: StackContext, event: Event) -> None:
    """Record the event of a signal that has changed nothing of the resource that got it.

    What it did has been done elsewhere, to a group that scales. Whatever has begun on the stack since, it must not be
    done again.
    """
    announcer = acting.engine.announcer
    await announcer.commit(Batch().add(event), await announcer.sinks_of(acting.stack))
