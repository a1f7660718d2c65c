"""Requests that concern what an engine has in memory: carried out by the engine that runs the stack."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, Fenced
from stoker.engine.core import Engine
from stoker.engine.ownership.peers import PeerAway
from stoker.operations.lookup import Reference, find_stack

Operation = Callable[..., Awaitable[Any]]

ATTEMPTS = 6
PEER_SECONDS = 5.0
"""How long another engine may take. Six times that is more than a lease, and less than clients wait."""


def at_owner(operation: Operation) -> Operation:
    """`operation`, carried out where the stack's running operation is; here when nothing runs.

    An engine that does not answer is asked again until it does or somebody else has taken its work over. What finds
    that the stack has begun to run, or has been changed, since it looked (Fenced) is begun anew.
    """

    @functools.wraps(operation)
    async def routed(engine: Engine, context: RequestContext, ref: Reference, **arguments: Any) -> Any:
        stack = await find_stack(engine, context, ref)
        for _ in range(ATTEMPTS):
            owner = await engine.membership.owner_elsewhere(stack.id)
            try:
                if owner is None:
                    return await operation(engine, context, ref=ref, **arguments)
                sent = {"ref": dict(ref), **arguments}
                return await engine.peers.ask(owner, context, operation.__name__, sent, PEER_SECONDS)
            except PeerAway:
                continue
            except Fenced:
                await engine.membership.next_beat()
        raise ActionInProgress(f"Stack {stack.name} is being handed from one engine to another; try again.")

    return routed
