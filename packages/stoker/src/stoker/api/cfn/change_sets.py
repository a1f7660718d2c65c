"""Actions on change sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypedDict

from stoker.api.cfn import views
from stoker.api.cfn.call import Call, no_stack, page_of
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.stacks import disable_rollback, new_parameters, patch, preflight, requested_settings
from stoker.base.errors import EntityNotFound, Invalid
from stoker.base.ids import arn
from stoker.contract.change_sets import (
    CreateChangeSet,
    DeleteChangeSet,
    ExecuteChangeSet,
    ListChangeSets,
    ShowChangeSet,
)
from stoker.contract.request import Answer, Request
from stoker.contract.stacks import IdentifyStack, StackPatch

_IMPORT = "IMPORT"
IDENTIFIER = "Id"
"""The key of a resource identifier that has the ID of an object; other keys are fields, as its service lists it."""
_ACTIONS = {
    "create": "Add",
    "use": "Add",
    "update": "Modify",
    "refuse": "Modify",
    "replace": "Modify",
    "delete": "Remove",
    "forget": "Remove",
}
_LOST = "deleted-outside"
_REPLACEMENT = {"update": "False", "refuse": "False", "replace": "True"}
_PARTS = {
    "metadata": "Metadata",
    "deletion_policy": "DeletionPolicy",
    "update_policy": "UpdatePolicy",
    "update_replace_policy": "UpdateReplacePolicy",
    "ignore_drift": "IgnoreDrift",
}
_RECREATION = {"update": "Never", "replace": "Always", "refuse": "Never"}


def create(call: Call) -> dict[str, Any]:
    """Plan a new stack, or a change of a stack."""
    kind = call["ChangeSetType"] or "UPDATE"
    if kind == "UPDATE" and call["OnFailure"] == "DELETE":
        raise QueryError("ValidationError", "OnStackFailure=DELETE is for change sets of the type CREATE.")
    if (kind == _IMPORT) != bool(call["ResourcesToImport"]):
        raise QueryError("ValidationError", "ResourcesToImport is for change sets of the type IMPORT, which need it.")
    is_new = kind == "CREATE" or (kind == _IMPORT and not _exists(call))
    body = _new_stack(call) if is_new else patch(call)
    if kind == _IMPORT:
        body = replace(body, environment={"imports": [_imported(each) for each in call["ResourcesToImport"]]})
    view = call.ask(
        CreateChangeSet(
            stack_name=call["StackName"],
            name=call["ChangeSetName"],
            kind=kind,
            description=call["Description"],
            body=body,
            settings=requested_settings(call),
            nested=bool(call["IncludeNestedStacks"]),
        )
    )
    return {"Id": _change_set_arn(view), "StackId": _stack_arn(view)}


def _exists(call: Call) -> bool:
    try:
        call.ask(IdentifyStack(ref=call.ref))
    except EntityNotFound:
        return False
    return True


def _imported(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of an environment for a resource to import: its object by ID, or by other fields."""
    identifier, name = dict(item["ResourceIdentifier"]), item["LogicalResourceId"]
    if IDENTIFIER not in identifier:
        return {"to": name, "identity": identifier}
    if len(identifier) > 1:
        raise QueryError(
            "ValidationError",
            f"The ResourceIdentifier of {name} has {IDENTIFIER} and other keys: give one or the others.",
        )
    return {"to": name, "id": identifier[IDENTIFIER]}


def _new_stack(call: Call) -> StackPatch:
    return StackPatch(
        template=call.required_text_of("Template"),
        parameters=new_parameters(call),
        tags=views.plain_tags(call["Tags"] or ()),
        disable_rollback=disable_rollback(call),
        preflight=preflight(call),
    )


def describe(call: Call) -> dict[str, Any]:
    """Return a change set with a page of its changes."""
    view = _ask(call, ShowChangeSet(**_named(call)))
    changes, token = page_of(list(_changes(view)), call["NextToken"])
    settings = view["settings"]
    return {
        **_summary(view),
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": value}
            for name, value in view["parameters"].items()
            if not views.is_pseudo_parameter(name)
        ],
        "NotificationARNs": settings.get("notification_topics", []),
        "Capabilities": settings.get("capabilities", []),
        "Tags": views.tags(view["tags"]),
        "IncludeNestedStacks": view["nested"],
        "Changes": changes,
        "NextToken": token,
    }


def list_all(call: Call) -> dict[str, Any]:
    """Return a page of a stack's change sets."""
    try:
        found = call.ask(ListChangeSets(stack=call["StackName"]))
    except EntityNotFound:
        raise no_stack(call["StackName"]) from None
    page, token = page_of(found, call["NextToken"])
    return {"Summaries": [_summary(view) for view in page], "NextToken": token}


def execute(call: Call) -> None:
    """Start to execute a change set."""
    try:
        _ask(call, ExecuteChangeSet(**_named(call), disable_rollback=call["DisableRollback"]))
    except Invalid as error:
        if type(error) is not Invalid:
            raise
        raise QueryError("InvalidChangeSetStatus", error.message) from error


def delete(call: Call) -> None:
    """Delete a change set."""
    _ask(call, DeleteChangeSet(**_named(call)))


class _Named(TypedDict):
    name: str
    stack: str | None


def _named(call: Call) -> _Named:
    """Return the change set that the request names. Raises QueryError."""
    name, stack = call["ChangeSetName"], call["StackName"]
    if stack is None and not name.startswith("arn:"):
        raise QueryError("ValidationError", "StackName must be given unless ChangeSetName is an ARN.")
    return {"name": name, "stack": stack}


def _ask(call: Call, request: Request[Answer]) -> Answer:
    try:
        return call.ask(request)
    except EntityNotFound as error:
        if type(error) is not EntityNotFound:
            raise
        raise QueryError("ChangeSetNotFound", f"ChangeSet [{call['ChangeSetName']}] does not exist") from error


def _change_set_arn(view: Mapping[str, Any]) -> str:
    return f"arn:openstack:heat::{view['project_id']}:changeSet/{view['name']}/{view['id']}"


def _stack_arn(view: Mapping[str, Any]) -> str:
    return arn(view["project_id"], view["stack_name"], view["stack_id"])


def _summary(view: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ChangeSetId": _change_set_arn(view),
        "ChangeSetName": view["name"],
        "StackId": _stack_arn(view),
        "StackName": view["stack_name"],
        "Description": view["description"] or None,
        "CreationTime": views.time_text(view["created_at"]),
        "ExecutionStatus": view["execution_status"],
        "Status": view["status"],
        "StatusReason": view["status_reason"] or None,
    }


def _changes(view: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the effective steps of the plan; the removal of a replaced resource belongs to its replacement."""
    steps = view["plan"]["steps"]
    replaced = {step["path"] for step in steps if step["kind"] == "replace" or _is_made_again(step)}
    for step in steps:
        action = "Import" if step.get("imports") else _ACTIONS.get(step["kind"])
        if action is None or (step["kind"] == "delete" and step["path"] in replaced):
            continue
        changes = {change["property"]: change for change in step["changes"]}
        details = [_detail(change) for change in changes.values()] if step["kind"] in _REPLACEMENT else []
        parts = list(dict.fromkeys(_PARTS[change["property"]] for change in step["definition"]))
        change = {
            "Action": action,
            "LogicalResourceId": step["path"],
            "PhysicalResourceId": step.get("imports") or _present_object(view, step),
            "ResourceType": step["type"],
            "Replacement": _REPLACEMENT.get(step["kind"]),
            "Scope": ["Properties"] * bool(details) + parts,
            "Details": details + [_detail_of_part(part) for part in parts],
        }
        yield {"Type": "Resource", "ResourceChange": change}


def _present_object(view: Mapping[str, Any], step: Mapping[str, Any]) -> str | None:
    found: str | None = view["physical_ids"].get(step["key"]) if step["kind"] != "create" else None
    return found


def _is_made_again(step: Mapping[str, Any]) -> bool:
    """Return whether a step creates an object in place of one that was deleted outside Stoker."""
    return step["kind"] == "create" and any(reason["code"] == _LOST for reason in step["reasons"])


def _detail_of_part(part: str) -> dict[str, Any]:
    return {"Target": {"Attribute": part, "RequiresRecreation": "Never"}, "Evaluation": "Static"}


def _detail(change: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "Target": {
            "Attribute": "Properties",
            "Name": change["property"],
            "RequiresRecreation": _RECREATION.get(change["effect"], "Never"),
        },
        "Evaluation": "Static" if change["known"] else "Dynamic",
        "ChangeSource": "DirectModification",
    }
