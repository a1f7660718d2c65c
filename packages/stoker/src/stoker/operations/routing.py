"""Requests that need data in the memory of an engine: they are routed to the engine that runs the stack."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, Fenced
from stoker.contract.request import OfStack
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.ownership.membership import Membership
from stoker.engine.ownership.peers import OtherEngines, PeerUnavailable
from stoker.operations.lookup import find_stack

RequestT = TypeVar("RequestT", bound=OfStack[Any])

ATTEMPTS = 6
PEER_SECONDS = 5.0
"""Seconds to wait for another engine. Six times that is longer than a lease, and shorter than clients wait."""


@dataclass(frozen=True)
class Owners:
    """Where operations run: `membership` knows it, and `others` can be asked. `components` are those of this engine."""

    components: RecordingComponents
    membership: Membership
    others: OtherEngines


def at_owner(
    operation: Callable[[RecordingComponents, RequestContext, RequestT], Awaitable[None]],
) -> Callable[[Owners, RequestContext, RequestT], Awaitable[None]]:
    """Run `operation` in the engine that owns the stack's running operation, or here if none runs.

    An engine that does not answer is asked again, until it answers or another engine has taken over. If the stack has
    started to run or was changed in the meantime (Fenced), the request is routed again. An operation of a dead engine
    on the stack is taken over first.
    """

    @functools.wraps(operation)
    async def routed(owners: Owners, context: RequestContext, request: RequestT) -> None:
        stack = await find_stack(owners.components.services, context, request.ref)
        for _ in range(ATTEMPTS):
            await owners.membership.takeovers.take_first(stack.id)
            owner = await owners.membership.owner_elsewhere(stack.id)
            try:
                if owner is None:
                    await operation(owners.components, context, request)
                else:
                    await owners.others.peers.forward(owner, context, request, PEER_SECONDS)
                return
            except PeerUnavailable:
                continue
            except Fenced:
                await owners.membership.lease.next_renewal()
        raise ActionInProgress(f"Stack {stack.name} is being taken over by another engine; retry the request.")

    return routed
