"""The transport of the embedded set-up: a call from an API thread into the engine's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from stoker.base.errors import Bug, StokerError
from stoker.rpc.contract import EngineUnavailable, RequestContext, error_from_dict, error_to_dict, json_copy


class Service(Protocol):
    """The engine's side of the transport (`stoker.rpc.dispatch.Dispatcher`)."""

    async def dispatch(self, context: RequestContext, method: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of `method`."""


class DirectClient:
    """An `EngineClient` for a `service` that runs in `loop`, on another thread of the same process.

    Arguments, answers and errors make the same way through JSON as over a wire, so that neither side can come to
    depend on shared objects, and what works embedded works distributed.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, service: Service) -> None:
        self._loop = loop
        self._service = service

    def call(self, context: RequestContext, method: str, arguments: Mapping[str, Any], timeout: float = 60.0) -> Any:
        """As `EngineClient.call`. A call that is given up on runs on, as it would on a remote engine."""
        sent = _sendable(f"the arguments of {method}", arguments)
        caller = RequestContext.from_dict(json_copy(context.to_dict()))
        future = asyncio.run_coroutine_threadsafe(self._answer(caller, method, sent), self._loop)
        try:
            reply = future.result(timeout)
        except TimeoutError:
            raise EngineUnavailable(f"No engine answered {method} within {timeout:g} seconds.") from None
        if "error" in reply:
            raise error_from_dict(reply["error"])
        return reply["answer"]

    async def _answer(self, context: RequestContext, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = await self._service.dispatch(context, method, arguments)
            return {"answer": _sendable(f"the answer of {method}", answer)}
        except StokerError as error:
            return {"error": json_copy(error_to_dict(error))}


def _sendable(what: str, data: Any) -> Any:
    try:
        return json_copy(data)
    except (TypeError, ValueError) as error:
        raise Bug(f"{what[0].upper()}{what[1:]} cannot be sent as JSON: {error}.") from error
