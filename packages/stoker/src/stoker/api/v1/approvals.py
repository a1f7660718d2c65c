"""Handlers of changes that wait for approval, and of what changes of stacks need."""

from __future__ import annotations

from typing import Any

from stoker.api.requests import Body, Query
from stoker.api.v1.call import RestCall
from stoker.api.v1.views import time_text
from stoker.api.values import MAP, STRING, Field
from stoker.contract.approvals import (
    BreakGlass,
    ChangeControl,
    ControlView,
    ListChangeRequests,
    ReviewChangeRequest,
    ShowChangeRequest,
    ShowControl,
)
from stoker.contract.request import Reference

INDEX_QUERY = Query({"status": Field(STRING, repeatable=True), "plan_digest": Field(STRING)})
REVIEW_BODY = Body({"verdict": Field(STRING, required=True), "comment": Field(STRING, default="")})
REASON_BODY = Body({"reason": Field(STRING, required=True)})
CONTROL_BODY = Body({"change_control": Field(MAP, required=True)})

_TIMES = ("created_at", "expires_at", "opens_at")


def index(call: RestCall) -> dict[str, object]:
    """List the changes that wait for approval, or have waited, newest first: those with a `status`, or of a plan."""
    listing = ListChangeRequests(status=tuple(call.query["status"]), plan_digest=call.query["plan_digest"])
    return {"change_requests": [_shown(view) for view in call.execute(listing)]}


def show(call: RestCall) -> dict[str, Any]:
    """Show a change that waits for approval, with its plan."""
    return {"change_request": _shown(call.execute(ShowChangeRequest(request_id=call.path["request_id"])))}


def review(call: RestCall) -> dict[str, object]:
    """Approve or reject a change: the `verdict` is APPROVED or REJECTED, and replaces an earlier one of the caller.

    Its author cannot, nor a user without any of the roles that it asks for.
    """
    approval = ReviewChangeRequest(
        request_id=call.path["request_id"], verdict=call.body["verdict"], comment=call.body["comment"]
    )
    return {"change_request": _shown(call.execute(approval))}


def break_glass(call: RestCall) -> dict[str, object]:
    """Allow a change in an emergency, without approvals and outside of windows. The `reason` is recorded."""
    broken = BreakGlass(request_id=call.path["request_id"], reason=call.body["reason"])
    return {"change_request": _shown(call.execute(broken))}


def show_control(call: RestCall) -> dict[str, object]:
    """Show what changes need: approvals, windows and freezes; `chosen` is what is set for this stack or project."""
    return _control(call.execute(ShowControl(ref=_ref(call))))


def set_control(call: RestCall) -> dict[str, object]:
    """Set what changes need: `approvals`, `windows`, `freezes`, `automatic` and `valid_hours`."""
    return _control(call.execute(ChangeControl(ref=_ref(call), control=call.body["change_control"])))


def delete_control(call: RestCall) -> dict[str, object]:
    """Remove what is set for this stack or project; what others have set applies still."""
    return _control(call.execute(ChangeControl(ref=_ref(call), control=None)))


def _ref(call: RestCall) -> Reference | None:
    return call.ref if "stack_id" in call.path else None


def _shown(view: Any) -> dict[str, object]:
    approvals = [{**each, "created_at": time_text(each["created_at"])} for each in view["approvals"]]
    emergency = view["emergency"]
    if emergency is not None:
        emergency = {**emergency, "created_at": time_text(emergency["created_at"])}
    times = {name: time_text(view[name]) for name in _TIMES}
    return {**view, **times, "approvals": approvals, "emergency": emergency}


def _control(view: ControlView) -> dict[str, Any]:
    return {"change_control": {**view, "opens_at": time_text(view["opens_at"])}}
