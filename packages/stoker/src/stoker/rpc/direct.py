"""The transport of an embedded Stoker: a call from an API thread into the engine's event loop."""

from __future__ import annotations

import asyncio

from stoker import __version__
from stoker.contract.request import Answer, Request
from stoker.rpc.contract import (
    EngineService,
    EngineUnavailable,
    RequestContext,
    answer_of,
    json_copy,
    packed,
    reply_of,
    unpacked,
)


class DirectClient:
    """An `EngineClient` for a `service` that runs in `loop`, on another thread of the same process.

    Arguments, answers and errors are serialized to JSON as for a network transport, so that neither side can depend on
    shared objects, and code that works in one process also works in a cluster.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, service: EngineService) -> None:
        self._loop = loop
        self._service = service

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        """See `EngineClient.call`."""
        method = request.method
        sent = unpacked(packed(f"the arguments of {method}", request.arguments()))
        caller = RequestContext.from_dict(json_copy(context.to_dict()))
        work = reply_of(self._service, caller, method, sent, __version__, timeout)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return answer_of(request, future.result(timeout))
        except TimeoutError:
            raise EngineUnavailable(f"No engine answered {method} within {timeout:g} seconds.") from None
