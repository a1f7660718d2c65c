"""The engine's side of calls: from a method name to the operation that implements it, also within one process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Generic

from sqlalchemy.exc import DBAPIError

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.base.errors import Bug, DatabaseUnavailable, ReleaseMismatch, StokerError
from stoker.base.ids import new_id
from stoker.base.logging import request_scope
from stoker.contract.request import RENAMED, Answer, Engine, Operation, Problem, Request, RequestMismatch
from stoker.rpc.contract import EngineService, EngineUnavailable, answer_of, json_copy, packed, reply_of, unpacked
from stoker.store.database import EXPIRY, Expiry
from stoker.store.failures import unusable

_log = logging.getLogger(__name__)

_AGAIN = "Send the request again."
_COMMIT_SECONDS = 5.0
"""Time for a commit that had begun when the time of its request was over."""


class Dispatcher(Generic[Engine]):
    """Runs operations by the names of their methods, for one engine."""

    def __init__(self, engine: Engine, operations: Mapping[str, Operation[Engine]]) -> None:
        self._engine = engine
        self._operations = operations
        self._calls: dict[asyncio.Task[object], Expiry] = {}
        self._stopping = False
        self._ended: asyncio.Future[object] | None = None

    async def dispatch(
        self,
        context: RequestContext,
        method: str,
        arguments: Mapping[str, object],
        sender: str = "",
        seconds: float | None = None,
    ) -> object:
        """Run an operation and return its answer; `sender` is the release of the calling process, if known.

        Without an answer within `seconds`, or when the engine stops, the operation commits nothing any more, and
        EngineUnavailable is raised; if it has committed something already, it is carried out to its end.

        Errors of the `StokerError` tree are passed through. A request that another release understands differently is
        refused with ReleaseMismatch. Any other exception is a defect: it is logged in full with a reference, and raised
        as a `Bug` that contains only the reference.
        """
        if self._stopping:
            raise EngineUnavailable(f"The engine is being stopped and did not begin with {method}. {_AGAIN}")
        expiry = Expiry()
        task = asyncio.ensure_future(self._guarded(context, method, arguments, sender, expiry))
        self._calls[task] = expiry
        task.add_done_callback(self._over)
        if self._ended is None:
            self._ended = asyncio.get_running_loop().create_future()
        try:
            either: list[asyncio.Future[object]] = [task, self._ended]
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not expiry.expire():  # it is just being committed
                await asyncio.wait([task], timeout=_COMMIT_SECONDS)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done() and not task.cancelled():
            return task.result()
        late = f"{method} took longer than {seconds or 0:g} seconds"
        why = "The engine is being stopped" if self._ended.done() else late
        if expiry.expired:
            raise EngineUnavailable(f"{why}; nothing was changed. {_AGAIN}")
        raise EngineUnavailable(f"{why}; the request is being carried out. Look at its result before repeating it.")

    def _over(self, task: asyncio.Task[object]) -> None:
        self._calls.pop(task, None)
        if not task.cancelled():
            task.exception()  # of a call whose sender has got another answer

    async def stop(self, seconds: float) -> None:
        """Refuse further calls, wait `seconds` for those in progress, and then answer the others with an error.

        What these have not committed by then is not committed any more; a commit that has begun gets a little time.
        """
        self._stopping = True
        if self._calls:
            await asyncio.wait(self._calls, timeout=seconds)
        if committing := [task for task, expiry in self._calls.items() if not expiry.expire()]:
            await asyncio.wait(committing, timeout=_COMMIT_SECONDS)
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)
        await asyncio.sleep(0)  # the waiting calls are answered
        for task in self._calls:
            task.cancel()

    async def _guarded(
        self, context: RequestContext, method: str, arguments: Mapping[str, object], sender: str, expiry: Expiry
    ) -> object:
        """Run an operation, and convert its errors."""
        EXPIRY.set(expiry)
        with request_scope(context):
            try:
                return await self._run(context, method, arguments)
            except RequestMismatch as mismatch:
                if sender == __version__:
                    raise _bug(method) from mismatch
                _log.warning("Refused a call of release %s: %s", sender or "(unknown)", mismatch)
                raise _refusal(mismatch, sender) from mismatch
            except Bug as error:
                error.reference = error.reference or new_id()
                _log.exception("Reference %s: %s failed", error.reference, method)
                raise
            except StokerError:
                raise
            except DBAPIError as error:
                if unusable(error):
                    _log.error("%s failed because the database cannot be used: %s", method, error.orig)
                    raise DatabaseUnavailable(
                        "The service's database cannot be used, and nothing was changed. "
                        "Contact the operator of the service."
                    ) from error
                raise _bug(method) from error
            except Exception as error:
                raise _bug(method) from error

    async def _run(self, context: RequestContext, method: str, arguments: Mapping[str, object]) -> object:
        operation = self._operations.get(RENAMED.get(method, method))
        if operation is None:
            raise RequestMismatch(Problem.UNKNOWN_METHOD, method)
        return await operation(self._engine, context, arguments)


def _refusal(mismatch: RequestMismatch, sender: str) -> ReleaseMismatch:
    return ReleaseMismatch(mismatch.problem.value, mismatch.method, mismatch.argument, __version__, sender)


def _bug(method: str) -> Bug:
    """Log the exception that is being handled, and return the error that the caller gets."""
    reference = new_id()
    _log.exception("Reference %s: %s failed unexpectedly", reference, method)
    return Bug(f"The engine failed unexpectedly in {method}.", reference)


class DirectClient:
    """The transport of an embedded Stoker: calls from API threads to a `service` in the event loop of their process.

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
