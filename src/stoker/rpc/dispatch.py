"""The engine's side of calls: from a method name to the operation that implements it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Generic

from sqlalchemy.exc import DBAPIError

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.base.errors import Bug, DatabaseUnavailable, ReleaseMismatch, StokerError
from stoker.base.ids import new_id
from stoker.base.logging import request_scope
from stoker.contract.request import Engine, Operation, Problem, RequestMismatch
from stoker.store.failures import unusable

_log = logging.getLogger(__name__)


class Dispatcher(Generic[Engine]):
    """Runs operations by the names of their methods, for one engine."""

    def __init__(self, engine: Engine, operations: Mapping[str, Operation[Engine]]) -> None:
        self._engine = engine
        self._operations = operations

    async def dispatch(
        self, context: RequestContext, method: str, arguments: Mapping[str, Any], sender: str = ""
    ) -> Any:
        """Run an operation and return its answer; `sender` is the release of the calling process, if known.

        Errors of the `StokerError` tree are passed through. A request that another release understands differently is
        refused with ReleaseMismatch. Any other exception is a defect: it is logged in full with a reference, and raised
        as a `Bug` that contains only the reference.
        """
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

    async def _run(self, context: RequestContext, method: str, arguments: Mapping[str, Any]) -> Any:
        operation = self._operations.get(method)
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
