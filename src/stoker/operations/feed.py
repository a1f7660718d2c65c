"""What is new on stacks that are watched: asked for by API processes, once for all their listeners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.base.context import RequestContext
from stoker.engine.core import Engine
from stoker.operations.views import event_view
from stoker.store import feed

MOST = 1000
"""How many events one answer holds."""


async def event_news(
    engine: Engine, context: RequestContext, watched: Mapping[str, int], after: int | None = None
) -> dict[str, Any]:
    """Events after the place `after` (None: none, just the place of the last one) of stacks by id, each with a depth
    down to which nested ones count. `above` of an event are the stacks above its own.

    That the listeners may see these stacks has been settled when they began to listen, by `event_list`.
    """
    found = await engine.database.read(feed.news, watched, after, MOST)
    views = []
    for event in found.events:
        stack = found.stacks[event.stack_id]
        above = feed.above(stack, found.stacks)
        view = event_view(event, stack, found.stacks.get(stack.root_id))
        views.append({**view, "above": above})
    return {"events": views, "last": found.last, "more": len(views) == MOST}
