"""Results of policies on plans in the forms that AWS has for hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.cfn import views
from stoker.api.cfn.call import QueryCall, marker_of, next_token, no_stack, page_of
from stoker.api.cfn.change_sets import change_set_arn, named, of_change_set, stack_arn
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.views import View
from stoker.base.errors import BadValue, EntityNotFound
from stoker.contract.approvals import ListPolicyResults, Outcome, PolicyResultView, ShowPolicyResult
from stoker.contract.change_sets import ShowChangeSet

TARGETS = ("CHANGE_SET", "STACK", "RESOURCE")
STATUSES = ("HOOK_IN_PROGRESS", "HOOK_COMPLETE_SUCCEEDED", "HOOK_COMPLETE_FAILED", "HOOK_FAILED")
_STATUSES: Mapping[str, str] = {
    Outcome.SATISFIED: "HOOK_COMPLETE_SUCCEEDED",
    Outcome.APPROVED: "HOOK_COMPLETE_SUCCEEDED",
    Outcome.OBJECTED: "HOOK_COMPLETE_FAILED",
    Outcome.NOT_EVALUATED: "HOOK_FAILED",
    Outcome.DEFERRED: "HOOK_IN_PROGRESS",
}
_ANNOTATIONS = {
    "HOOK_IN_PROGRESS": "SKIPPED",
    "HOOK_COMPLETE_SUCCEEDED": "PASSED",
    "HOOK_COMPLETE_FAILED": "FAILED",
    "HOOK_FAILED": "SKIPPED",
}
_SEVERITIES = {"deny": "HIGH", "require_approval": "MEDIUM", "warn": "LOW"}
_PRE_PROVISION = "PRE_PROVISION"
_LONGEST_REASON = 1024
_ACTIONS = {
    "create": ("CREATE", "Add"),
    "use": ("CREATE", "Add"),
    "import": ("IMPORT", "Import"),
    "delete": ("DELETE", "Remove"),
    "forget": ("DELETE", "Remove"),
}
_CHANGED = ("UPDATE", "Modify")


def list_results(call: QueryCall) -> dict[str, object]:
    """Return results: of all plans of the project, of a stack, of a change set, or about resources with a name."""
    target, identifier = call["TargetType"], call["TargetId"]
    if (target is None) != (identifier is None):
        raise QueryError("ValidationError", "Give TargetType and TargetId together, or neither.")
    request = ListPolicyResults(marker=marker_of(call["NextToken"]))
    if target == "STACK":
        request = ListPolicyResults(stack=identifier, marker=request.marker)
    elif target == "CHANGE_SET":
        request = ListPolicyResults(change_set=identifier)
    try:
        page = call.execute(request)
    except BadValue as error:
        raise QueryError("ValidationError", error.message) from error
    except EntityNotFound as error:
        if target == "STACK":
            raise no_stack(identifier) from error
        raise QueryError("HookResultNotFound", f"No change set {identifier} has results of hooks.") from error
    selected = [view for view in page["results"] if target != "RESOURCE" or view["path"] == identifier]
    found = [_summary(view, targeted=target is not None) for view in selected]
    filters = {"TypeArn": call["TypeArn"], "Status": call["Status"]}
    marker = page["marker"]
    return {
        "TargetType": target,
        "TargetId": identifier,
        "HookResults": [each for each in found if all(v in (None, each[k]) for k, v in filters.items())],
        "NextToken": next_token(marker) if marker is not None else None,
    }


def get_result(call: QueryCall) -> dict[str, object]:
    """Return a result, with what to do about it."""
    identifier = call["HookResultId"]
    try:
        view = call.execute(ShowPolicyResult(result_id=identifier))
    except EntityNotFound as error:
        raise QueryError("HookResultNotFound", f"HookResult [{identifier}] does not exist") from error
    status = _STATUSES[view["outcome"]]
    annotation = {
        "AnnotationName": view["policy"],
        "Status": _ANNOTATIONS[status],
        "StatusMessage": view["message"] or None,
        "RemediationMessage": view["hint"] or None,
        "SeverityLevel": _SEVERITIES[view["verdict"]],
    }
    return {
        **_hook(view),
        "HookResultId": view["id"],
        "OriginalTypeName": type_name(view),
        "TypeArn": _type_arn(view),
        "Status": status,
        "HookStatusReason": _reason(view),
        "InvokedAt": views.time_text(view["time"]),
        "Target": _target(view),
        "Annotations": [annotation],
    }


def of_change_set_hooks(call: QueryCall) -> dict[str, object]:
    """Return the policies that were asked about the plan of a change set, with the resources."""
    about = named(call)
    shown = of_change_set(call, ShowChangeSet(**about))
    results = of_change_set(call, ListPolicyResults(change_set=change_set_arn(shown)))["results"]
    only = call["LogicalResourceId"]
    selected = [view for view in results if only is None or view["path"] == only]
    page, token = page_of(selected, call["NextToken"])
    return {
        "ChangeSetId": change_set_arn(shown),
        "ChangeSetName": shown["name"],
        "StackId": stack_arn(shown),
        "StackName": shown["stack_name"],
        "Status": "PLANNED",
        "Hooks": [{**_hook(view), "TargetDetails": _target_details(view)} for view in page],
        "NextToken": token,
    }


def event_members(view: View) -> dict[str, object]:
    """Return the members of an event about the result of a policy."""
    return {
        "HookType": type_name(view),
        "HookStatus": _STATUSES[view["outcome"]],
        "HookStatusReason": _reason(view),
        "HookInvocationPoint": _PRE_PROVISION,
        "HookFailureMode": _mode(view),
    }


def type_name(view: View) -> str:
    """Return the name of a policy as that of a type of hooks: `Operator::Policy::no-open-ssh`."""
    return f"{view['source'].capitalize()}::Policy::{view['policy']}"


def _type_arn(view: View) -> str:
    return f"arn:openstack:heat::{view['project_id']}:type/hook/{type_name(view).replace('::', '-')}"


def _mode(view: View) -> str:
    return "WARN" if view["verdict"] == "warn" else "FAIL"


def _hook(view: View) -> dict[str, Any]:
    return {"InvocationPoint": _PRE_PROVISION, "FailureMode": _mode(view), "TypeName": type_name(view)}


def _reason(view: View) -> str | None:
    text = "; ".join(filter(None, (view["message"], view["hint"])))
    if view["outcome"] == Outcome.APPROVED:
        text = f"approved: {text}"
    if not text:
        return None
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"


def _summary(view: PolicyResultView, *, targeted: bool) -> dict[str, object]:
    is_resource = bool(view["path"])
    return {
        **_hook(view),
        "HookResultId": view["id"],
        "Status": _STATUSES[view["outcome"]],
        "HookStatusReason": _reason(view),
        "InvokedAt": views.time_text(view["time"]),
        "TargetType": "RESOURCE" if is_resource else "CHANGE_SET" if view["change_set_id"] else "STACK",
        "TargetId": view["path"] if is_resource else _planned(view),
        "TypeArn": _type_arn(view),
        "HookExecutionTarget": None if targeted else _planned(view),
    }


def _planned(view: PolicyResultView) -> str:
    """Return the ARN of the change set whose plan was judged, or of the stack."""
    if view["change_set_id"] is None:
        return stack_arn(view)
    return change_set_arn({**view, "name": view["change_set_name"], "id": view["change_set_id"]})


def _target(view: PolicyResultView) -> dict[str, object]:
    if not view["path"]:
        action = view["action"] if view["action"] in ("CREATE", "DELETE", "IMPORT") else "UPDATE"
        kind, name = "STACK", views.STACK_TYPE
        return {"TargetType": kind, "TargetTypeName": name, "TargetId": stack_arn(view), "Action": action}
    action, _ = _ACTIONS.get(view["kind"] or "", _CHANGED)
    return {"TargetType": "RESOURCE", "TargetTypeName": view["type"], "TargetId": view["path"], "Action": action}


def _target_details(view: PolicyResultView) -> dict[str, object]:
    if not view["path"]:
        return {"TargetType": "STACK"}
    _, action = _ACTIONS.get(view["kind"] or "", _CHANGED)
    details = {"LogicalResourceId": view["path"], "ResourceType": view["type"], "ResourceAction": action}
    return {"TargetType": "RESOURCE", "ResourceTargetDetails": details}
