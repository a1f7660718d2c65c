"""Actions on change sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypedDict

from stoker.api.cfn import views
from stoker.api.cfn.call import QueryCall, no_stack, page_of
from stoker.api.cfn.change_details import changes_of
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.identifiers import IDENTIFIER
from stoker.api.cfn.stacks import disable_rollback, new_parameters, patch, preflight, requested_settings
from stoker.base.costs_sentence import costs_sentence
from stoker.base.errors import EntityNotFound, Invalid, PlanOutdated
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
"""The key of a resource identifier that has the ID of an object; other keys are fields, as its service lists it."""


def create(call: QueryCall) -> dict[str, Any]:
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
    view = call.execute(
        CreateChangeSet(
            stack_name=call["StackName"],
            name=call["ChangeSetName"],
            kind=kind,
            description=call["Description"],
            body=body,
            settings=requested_settings(call),
            nested=bool(call["IncludeNestedStacks"]),
            deployment_mode=call["DeploymentMode"],
            import_existing=bool(call["ImportExistingResources"]),
        )
    )
    return {"Id": change_set_arn(view), "StackId": stack_arn(view)}


def _exists(call: QueryCall) -> bool:
    try:
        call.execute(IdentifyStack(ref=call.ref))
    except EntityNotFound:
        return False
    return True


def _imported(item: Mapping[str, Any]) -> dict[str, object]:
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


def _new_stack(call: QueryCall) -> StackPatch:
    return StackPatch(
        template=call.required_text_of("Template"),
        parameters=new_parameters(call),
        tags=views.plain_tags(call["Tags"] or ()),
        disable_rollback=disable_rollback(call),
        preflight=preflight(call),
    )


def describe(call: QueryCall) -> dict[str, object]:
    """Return a change set with a page of its changes."""
    view = of_change_set(call, ShowChangeSet(**named(call)))
    changes, token = page_of(list(changes_of(view, with_values=bool(call["IncludePropertyValues"]))), call["NextToken"])
    settings = view["settings"]
    return {
        **_summary(view),
        "StatusReason": view["status_reason"] or costs_sentence(view.get("costs")) or None,
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": value}
            for name, value in view["parameters"].items()
            if not views.is_pseudo_parameter(name)
        ],
        "NotificationARNs": settings.get("notification_topics", []),
        "Capabilities": settings.get("capabilities", []),
        "Tags": views.tags(view["tags"]),
        "IncludeNestedStacks": view["nested"],
        "DeploymentMode": view.get("deployment_mode"),
        "StackDriftStatus": view.get("drift"),
        "Changes": changes,
        "NextToken": token,
    }


def list_all(call: QueryCall) -> dict[str, object]:
    """Return a page of a stack's change sets."""
    try:
        found = call.execute(ListChangeSets(stack=call["StackName"]))
    except EntityNotFound:
        raise no_stack(call["StackName"]) from None
    page, token = page_of(found, call["NextToken"])
    return {"Summaries": [_summary(view) for view in page], "NextToken": token}


def execute(call: QueryCall) -> None:
    """Start to execute a change set."""
    try:
        of_change_set(call, ExecuteChangeSet(**named(call), disable_rollback=call["DisableRollback"]))
    except (Invalid, PlanOutdated) as error:
        if type(error) not in (Invalid, PlanOutdated):
            raise
        raise QueryError("InvalidChangeSetStatus", error.message) from error


def delete(call: QueryCall) -> None:
    """Delete a change set."""
    of_change_set(call, DeleteChangeSet(**named(call)))


class Named(TypedDict):
    """The name, ID or ARN of a change set, and its stack."""

    name: str
    stack: str | None


def named(call: QueryCall) -> Named:
    """Return the change set that the request names. Raises QueryError."""
    name, stack = call["ChangeSetName"], call["StackName"]
    if stack is None and not name.startswith("arn:"):
        raise QueryError("ValidationError", "StackName must be given unless ChangeSetName is an ARN.")
    return {"name": name, "stack": stack}


def of_change_set(call: QueryCall, request: Request[Answer]) -> Answer:
    """Have an engine carry out a request about the change set in ChangeSetName. Raises QueryError."""
    try:
        return call.execute(request)
    except EntityNotFound as error:
        if type(error) is not EntityNotFound:
            raise
        raise QueryError("ChangeSetNotFound", f"ChangeSet [{call['ChangeSetName']}] does not exist") from error


def change_set_arn(view: Mapping[str, object]) -> str:
    """Return the ARN of a change set."""
    return f"arn:openstack:heat::{view['project_id']}:changeSet/{view['name']}/{view['id']}"


def stack_arn(view: Mapping[str, Any]) -> str:
    """Return the StackId of a change set's stack."""
    return arn(view["project_id"], view["stack_name"], view["stack_id"])


def _summary(view: Mapping[str, Any]) -> dict[str, object]:
    return {
        "ChangeSetId": change_set_arn(view),
        "ChangeSetName": view["name"],
        "StackId": stack_arn(view),
        "StackName": view["stack_name"],
        "Description": view["description"] or None,
        "CreationTime": views.time_text(view["created_at"]),
        "ExecutionStatus": view["execution_status"],
        "Status": view["status"],
        "StatusReason": view["status_reason"] or None,
    }
