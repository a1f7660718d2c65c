"""The action DescribeEvents, and operations as the Query API names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.api.cfn import hooks, views
from stoker.api.cfn.call import PAGE, QueryCall, marker_of, next_token
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.views import View
from stoker.base.errors import BadValue, EntityNotFound
from stoker.contract.operation_events import ListOperationEvents

_STATUSES = {"COMPLETE": "SUCCEEDED", "FAILED": "FAILED", "SUPERSEDED": "FAILED"}
_STACK, _PROGRESS, _FAILED, _VALIDATION = "STACK_EVENT", "PROGRESS_EVENT", "PROVISIONING_ERROR", "VALIDATION_ERROR"
_HOOK = "HOOK_INVOCATION_ERROR"
_NOT_MADE = "unknown"
"""The code of a finding which says that a check could not be made."""


def describe(call: QueryCall) -> dict[str, object]:
    """Return a page of the events of operations, newest first, with what the checks of plans have found."""
    stack, change_set, operation = call["StackName"], call["ChangeSetName"], call["OperationId"]
    if stack is None and operation is None and not (change_set or "").startswith("arn:"):
        raise QueryError("ValidationError", "Give StackName, OperationId, or the ARN of a change set.")
    if change_set is not None and operation is not None:
        raise QueryError("InvalidParameterCombination", "Give ChangeSetName or OperationId, not both.")
    request = ListOperationEvents(
        limit=PAGE,
        stack=stack,
        change_set=change_set,
        operation_id=operation,
        failed=bool((call["Filters"] or {}).get("FailedEvents")),
        marker=marker_of(call["NextToken"]),
    )
    try:
        page = call.execute(request)
    except (EntityNotFound, BadValue) as error:
        raise QueryError("ValidationError", error.message) from error
    marker = page["marker"]
    return {
        "OperationEvents": [_event(view) for view in page["events"]],
        "NextToken": next_token(marker) if marker is not None else None,
    }


def _event(view: View) -> dict[str, object]:
    operation = view["operation"]
    found = {
        "EventId": view["id"],
        "StackId": views.stack_arn({**view, "id": view["stack_id"], "name": view["stack_name"]}),
        "OperationId": operation["id"],
        "OperationType": views.operation_type(operation),
        "ClientRequestToken": operation.get("client_request_token"),
        "Timestamp": views.time_text(view["time"]),
    }
    if (result := view.get("policy_result")) is not None:
        return {**found, **_of_policy(result)}
    if view["finding"] is not None:
        return {**found, **_of_finding(view["finding"])}
    if view["event"] is None:
        reason = operation["reason"] or None
        return {**found, **_of_operation(operation, operation["status"]), "ResourceStatusReason": reason}
    return {**found, **_of_event(operation, view["event"])}


def _of_operation(operation: View, status: str) -> dict[str, object]:
    """Return the members of an event that is about an operation as a whole, at its beginning or at its end."""
    ended = status in _STATUSES
    return {
        "EventType": _STACK,
        "OperationStatus": _STATUSES.get(status, "IN_PROGRESS"),
        "StartTime": views.time_text(operation["created_at"]),
        "EndTime": views.time_text(operation["ended_at"]) if ended else None,
    }


def _of_event(operation: View, event: View) -> dict[str, object]:
    known = views.event(event)
    members: Sequence[str] = (
        "LogicalResourceId",
        "PhysicalResourceId",
        "ResourceType",
        "ResourceStatus",
        "ResourceStatusReason",
        "ResourceProperties",
    )
    found = {member: known[member] for member in members}
    if known["PhysicalResourceId"] == known["StackId"]:
        return {**_of_operation(operation, event["status"]), **found}
    return {"EventType": _FAILED if event["status"] == "FAILED" else _PROGRESS, **found}


def _of_policy(result: View) -> dict[str, object]:
    return {
        "EventType": _HOOK,
        "LogicalResourceId": result["path"] or None,
        "ResourceType": result["type"],
        **hooks.event_members(result),
    }


def _of_finding(finding: Mapping[str, Any]) -> dict[str, object]:
    diagnostic = finding["diagnostic"]
    path = diagnostic["path"]
    return {
        "EventType": _VALIDATION,
        "LogicalResourceId": finding["path"] or None,
        "ResourceType": finding["type"],
        "ValidationName": finding["code"],
        "ValidationFailureMode": finding["verdict"].upper(),
        "ValidationStatus": "SKIPPED" if finding["code"] == _NOT_MADE else "FAILED",
        "ValidationPath": views.pointer(*path) if path else None,
        "ValidationStatusReason": "; ".join(filter(None, (diagnostic["message"], diagnostic["hint"]))),
    }
