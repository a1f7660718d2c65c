"""The engine's side of calls: from a method name to the operation that implements it."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sqlalchemy.exc import DBAPIError

from stoker.base.context import RequestContext
from stoker.base.errors import Bug, DatabaseUnavailable, StokerError
from stoker.base.ids import new_id
from stoker.base.logging import request_scope
from stoker.store.failures import unusable

Operation = Callable[..., Awaitable[Any]]
"""`async def operation(engine, context, **arguments) -> JSON`."""

_log = logging.getLogger(__name__)


class Dispatcher:
    """Runs operations by name for one engine.

    `operations` maps the method names of the contract to coroutine functions `(engine, context, **arguments)`.
    """

    def __init__(self, engine: Any, operations: Mapping[str, Operation]) -> None:
        self._engine = engine
        self._operations = {name: (operation, inspect.signature(operation)) for name, operation in operations.items()}

    async def dispatch(self, context: RequestContext, method: str, arguments: Mapping[str, Any]) -> Any:
        """Run an operation and return its answer.

        Errors of the `StokerError` tree are passed through. Any other exception is a defect: it is logged in full with
        a reference, and raised as a `Bug` that contains only the reference.
        """
        with request_scope(context):
            try:
                return await self._bound(method, context, arguments)
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

    def _bound(self, method: str, context: RequestContext, arguments: Mapping[str, Any]) -> Awaitable[Any]:
        if method not in self._operations:
            raise Bug(f"The engine has no method {method}; API and engine may be of different releases.")
        operation, signature = self._operations[method]
        try:
            signature.bind(self._engine, context, **arguments)
        except TypeError as error:
            raise Bug(f"The engine's method {method} takes other arguments: {error}.") from error
        return operation(self._engine, context, **arguments)


def _bug(method: str) -> Bug:
    """Log the exception that is being handled, and return the error that the caller gets."""
    reference = new_id()
    _log.exception("Reference %s: %s failed unexpectedly", reference, method)
    return Bug(f"The engine failed unexpectedly in {method}.", reference)
