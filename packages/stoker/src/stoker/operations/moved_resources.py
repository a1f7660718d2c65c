"""Requests about resources that were moved to another stack: the URLs that they had before stay valid."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from stoker.base.context import RequestContext
from stoker.base.errors import EntityNotFound, ResourceNotFound
from stoker.contract.resources import OfResource
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.records.services import EngineServices
from stoker.operations.lookup import named_stack
from stoker.operations.routing import Owners, at_owner
from stoker.store import refactors

Answer = TypeVar("Answer")
Part = TypeVar("Part")
RequestT = TypeVar("RequestT", bound=OfResource[Any])

Served = Callable[[Part, RequestContext, RequestT], Awaitable[Answer]]


def following(
    operation: Served[RecordingComponents, RequestT, Answer],
) -> Served[RecordingComponents, RequestT, Answer]:
    """Repeat `operation` about where the resource is now, if it was moved away from the stack of the request."""
    return _following(operation, lambda components: components.services)


def following_at_owner(operation: Served[RecordingComponents, RequestT, None]) -> Served[Owners, RequestT, None]:
    """Do the same for an operation that runs in the engine that runs the stack (see `at_owner`)."""
    return _following(at_owner(operation), lambda owners: owners.components.services)


def _following(
    operation: Served[Part, RequestT, Answer], services_of: Callable[[Part], EngineServices]
) -> Served[Part, RequestT, Answer]:
    @functools.wraps(operation)
    async def followed(part: Part, context: RequestContext, request: RequestT) -> Answer:
        try:
            return await operation(part, context, request)
        except (EntityNotFound, ResourceNotFound):
            former, read = named_stack(request.ref), services_of(part).database.read
            present = await read(refactors.present_place, context.project_id, former, request.name)
            if present is None:
                raise
        stack_id, name = present
        return await operation(part, context, replace(request, ref={"name": None, "id": stack_id}, name=name))

    return followed
