"""Actions on stack refactorings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.cfn.call import QueryCall, page_of
from stoker.api.cfn.faults import QueryError
from stoker.api.templates_by_url import template_at
from stoker.base.errors import EntityNotFound
from stoker.base.ids import arn
from stoker.contract.refactoring import (
    CreateStackRefactor,
    ExecuteStackRefactor,
    ListStackRefactorActions,
    ListStackRefactors,
    RefactorMove,
    RefactorView,
    ShowStackRefactor,
)
from stoker.contract.request import Answer, Request

EXECUTION_STATUSES = (
    "UNAVAILABLE", "AVAILABLE", "OBSOLETE", "EXECUTE_IN_PROGRESS", "EXECUTE_COMPLETE", "EXECUTE_FAILED",
    "ROLLBACK_IN_PROGRESS", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED",
)  # fmt: skip
"""The execution statuses of AWS; a refactoring here is never in progress, and never fails halfway."""


def create(call: QueryCall) -> dict[str, Any]:
    """Examine new templates of stacks, which move resources between them."""
    templates: dict[str, str] = {}
    for each in call["StackDefinitions"]:
        name = each["StackName"]
        if name in templates:
            raise QueryError("ValidationError", f"StackDefinitions has several definitions of the stack {name}.")
        templates[name] = _template(call, each)
    moved = [{"from": _place(each["Source"]), "to": _place(each["Destination"])} for each in call["ResourceMappings"]]
    refactor = call.execute(
        CreateStackRefactor(
            templates=templates,
            moved=moved,
            creates=bool(call["EnableStackCreation"]),
            description=call["Description"] or "",
        )
    )
    return {"StackRefactorId": refactor["id"]}


def _template(call: QueryCall, definition: Mapping[str, Any]) -> str:
    body, url = definition["TemplateBody"], definition["TemplateURL"]
    if (body is None) == (url is None):
        raise QueryError("ValidationError", "Each of StackDefinitions must have either TemplateBody or TemplateURL.")
    return str(body) if url is None else template_at(url, call.config, call.context)


def _place(location: Mapping[str, Any]) -> dict[str, str]:
    return {"stack": location["StackName"], "resource": location["LogicalResourceId"]}


def describe(call: QueryCall) -> dict[str, object]:
    """Return a refactoring with the ARNs of its stacks."""
    view = _execute(call, ShowStackRefactor(refactor_id=call["StackRefactorId"]))
    stacks = [arn(view["project_id"], each["name"], each["id"]) for each in view["stacks"]]
    return {**_summary(view), "StackIds": stacks}


def list_actions(call: QueryCall) -> dict[str, object]:
    """Return a page of what a refactoring does."""
    view = _execute(call, ListStackRefactorActions(refactor_id=call["StackRefactorId"]))
    created = [
        {"Action": "CREATE", "Entity": "STACK", "Description": f"Stack {each['name']} is created."}
        for each in view["stacks"]
    ]
    actions, token = page_of([*created, *map(_move, view["moves"])], call["NextToken"], call["MaxResults"] or 100)
    return {"StackRefactorActions": actions, "NextToken": token}


def _move(move: RefactorMove) -> dict[str, object]:
    source = {"StackName": move["from_stack"], "LogicalResourceId": move["from_resource"]}
    target = {"StackName": move["to_stack"], "LogicalResourceId": move["to_resource"]}
    why = "The request maps it." if move["is_asked"] else "Only one stack defines a resource of this name and type."
    return {
        "Action": "MOVE",
        "Entity": "RESOURCE",
        "PhysicalResourceId": move["physical_resource_id"],
        "ResourceIdentifier": move["to_resource"],
        "Detection": "MANUAL" if move["is_asked"] else "AUTO",
        "DetectionReason": why,
        "TagResources": [],  # moving writes nothing to the cloud
        "UntagResources": [],
        "ResourceMapping": {"Source": source, "Destination": target},
    }


def list_all(call: QueryCall) -> dict[str, object]:
    """Return a page of the project's refactorings."""
    statuses = call["ExecutionStatusFilter"]
    found = [
        view for view in call.execute(ListStackRefactors()) if not statuses or view["execution_status"] in statuses
    ]
    page, token = page_of(found, call["NextToken"], call["MaxResults"] or 100)
    return {"StackRefactorSummaries": [_summary(view) for view in page], "NextToken": token}


def execute(call: QueryCall) -> None:
    """Carry a refactoring out."""
    _execute(call, ExecuteStackRefactor(refactor_id=call["StackRefactorId"]))


def _execute(call: QueryCall, request: Request[Answer]) -> Answer:
    try:
        return call.execute(request)
    except EntityNotFound as error:
        if type(error) is not EntityNotFound:
            raise
        message = f"Stack refactor [{call['StackRefactorId']}] does not exist"
        raise QueryError("StackRefactorNotFoundException", message) from error


def _summary(view: RefactorView) -> dict[str, object]:
    return {
        "StackRefactorId": view["id"],
        "Description": view["description"] or None,
        "ExecutionStatus": view["execution_status"],
        "ExecutionStatusReason": view["execution_status_reason"] or None,
        "Status": view["status"],
        "StatusReason": view["status_reason"] or None,
    }
