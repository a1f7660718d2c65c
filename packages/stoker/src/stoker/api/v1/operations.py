"""A stack's operations: an extension of Heat's API."""

from __future__ import annotations

from typing import Any

from stoker.api.requests import Query
from stoker.api.v1.call import RestCall
from stoker.api.v1.views import View, time_text
from stoker.api.values import INTEGER, STRING, Field
from stoker.contract.events import ListOperations, ShowOperation
from stoker_foundation.clock import isoformat_milli

INDEX_QUERY = Query({"limit": Field(INTEGER), "marker": Field(STRING)})

_TIMES = ("created_at", "started_at", "finished_at")


def index(call: RestCall) -> dict[str, object]:
    """List the operations of a stack, newest first."""
    found = call.execute(ListOperations(ref=call.ref, **call.query))
    return {"operations": [_operation(view) for view in found]}


def show(call: RestCall) -> dict[str, Any]:
    """Show an operation with its plan."""
    view = call.execute(ShowOperation(ref=call.ref, operation_id=call.path["operation_id"]))
    return {"operation": _operation(view)}


def _operation(view: View) -> dict[str, object]:
    """Return an operation as shown: times as strings, in `timestamps` with milliseconds; the duration in seconds."""
    shown = {name: time_text(value) if name in _TIMES else value for name, value in view.items()}
    exact = {name: None if view[name] is None else isoformat_milli(view[name]) for name in _TIMES}
    return {**shown, "timestamps": exact}
