"""New events of watched stacks, requested by the API processes once for all their listeners."""

from __future__ import annotations

from stoker.base.context import RequestContext
from stoker.contract.events import GetNewEvents, NewEvent, NewEvents
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.operations.views import event_view
from stoker.store import feed

MOST = 1000
"""Maximum number of events in one response."""


async def list_new_events(services: EngineServices, context: RequestContext, request: GetNewEvents) -> NewEvents:
    """Return the events after the position `after` of the given stacks, which are given by id with the depth down to
    which nested stacks count. If `after` is None, return no events, only the position of the last one. `above` of an
    event has the stacks above its own.

    `event_list` has checked that the listeners are allowed to read these stacks when they subscribed.
    """
    found = await services.database.read(feed.new_events, request.watched, request.after, MOST)
    views: list[NewEvent] = []
    identifiers = ObjectIds(services)
    for event in found.events:
        stack = found.stacks[event.stack_id]
        above = feed.above(stack, found.stacks)
        view = event_view(event, stack, found.stacks.get(stack.root_id), found.stacks)
        view["physical_id"] = await identifiers.shown(stack, event.resource_type, event.physical_id)
        views.append({**view, "above": above})
    return {"events": views, "last": found.last, "more": len(views) == MOST}
