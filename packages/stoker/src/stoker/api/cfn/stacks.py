"""Actions on stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.api.cfn import views
from stoker.api.cfn.call import PAGE, QueryCall, marker_of, next_token, no_stack
from stoker.api.cfn.faults import QueryError
from stoker.api.requests import parse_json
from stoker.base.errors import EntityNotFound, ReleaseMismatch
from stoker.base.ids import arn
from stoker.contract.change_sets import ForgetFutureStack, ListFutureStacks
from stoker.contract.request import by_name
from stoker.contract.stacks import (
    ActOnStack,
    ChangeSettings,
    CheckForChanges,
    CreateStackWithSettings,
    DeleteStack,
    DescribeStack,
    DescribeStacks,
    ListedStack,
    ListStacks,
    PatchStack,
    SettingsChange,
    ShowStack,
    StackPatch,
)
from stoker.contract.views import StackView

NO_UPDATES = "No updates are to be performed."
"""The error message for an update without changes; clients search for these words."""

_DETAILED_PAGE = 25
"""Number of stacks on a page in full: their outputs may need requests to services."""

_REVIEW = "REVIEW_IN_PROGRESS"


# -- creation and update -------------------------------------------------------------------------------------------


def create(call: QueryCall) -> dict[str, Any]:
    """Start to create a stack."""
    view = call.execute(
        CreateStackWithSettings(
            name=call["StackName"],
            settings=requested_settings(call),
            template=call.required_text_of("Template"),
            parameters=new_parameters(call),
            tags=views.plain_tags(call["Tags"] or ()),
            timeout_mins=call["TimeoutInMinutes"],
            disable_rollback=disable_rollback(call),
            preflight=preflight(call),
        )
    )
    return _begun(view)


def preflight(call: QueryCall) -> bool | None:
    """Return whether the plan is checked before the first change; None means as the operator has set."""
    return False if call["DisableValidation"] else None


def disable_rollback(call: QueryCall) -> bool:
    """Return whether a failed creation is left as it is. As in AWS, it is rolled back by default."""
    disabled = call.values.get("DisableRollback")
    if disabled is not None and call["OnFailure"] is not None:
        raise QueryError("InvalidParameterCombination", "Give DisableRollback or OnFailure, not both.")
    return bool(disabled) or call["OnFailure"] == "DO_NOTHING"


def requested_settings(call: QueryCall) -> SettingsChange:
    """Return the settings of the stack in the request; missing ones are omitted."""
    found: SettingsChange = {}
    if call["NotificationARNs"] is not None:
        found["notification_topics"] = call["NotificationARNs"]
    if call["Capabilities"] is not None:
        found["capabilities"] = call["Capabilities"]
    if call.values.get("EnableTerminationProtection") is not None:
        found["protected"] = call["EnableTerminationProtection"]
    stack_policy = policy(call, "StackPolicy") if "StackPolicyBody" in call.values else None
    if stack_policy is not None:
        found["policy"] = stack_policy
    return found


def policy(call: QueryCall, name: str) -> Any:
    """Return the stack policy in `<name>Body` or `<name>URL`, parsed."""
    text = call.text_of(name)
    return None if text is None else parse_json(text.encode(), f"the document {name}")


def update(call: QueryCall) -> dict[str, Any]:
    """Start to update a stack. As in AWS, an update without changes, or of a stack in progress, is refused."""
    body = vars(replace(patch(call), policy=policy(call, "StackPolicyDuringUpdate")))
    settings = requested_settings(call)
    if not call.execute_on_stack(CheckForChanges(ref=call.ref, settings=settings, **body)):
        raise QueryError("ValidationError", NO_UPDATES)
    request = PatchStack(ref=call.ref, settings=settings or None, **body)
    return _begun(_patched(call, replace(request, supersede=False)))


def _begun(view: StackView) -> dict[str, object]:
    return {"StackId": views.stack_arn(view), "OperationId": view.get("operation")}


def _patched(call: QueryCall, request: PatchStack) -> StackView:
    """Start an update.

    An engine of release 0.1.0 supersedes what is in progress, and changes settings only in another request, which can
    be lost.
    """
    try:
        return call.execute_on_stack(request)
    except ReleaseMismatch as refused:
        if not request.supersede:
            return _patched(call, replace(request, supersede=True))
        if request.settings is None or refused.argument != "settings":
            raise
        view = call.execute_on_stack(replace(request, settings=None))
        call.execute_on_stack(ChangeSettings(ref=call.ref, changes=request.settings))
        return view


def patch(call: QueryCall) -> StackPatch:
    """Return the body of an update.

    Parameters that are neither given nor kept (UsePreviousValue) have their default.
    """
    template = call.text_of("Template")
    if (template is None) != bool(call["UsePreviousTemplate"]):
        raise QueryError(
            "InvalidParameterCombination", "Give the template (TemplateBody or TemplateURL) or UsePreviousTemplate."
        )
    parameters, previous_names = _values_and_previous_names(call)
    present = call.execute_on_stack(ShowStack(ref=call.ref, resolve_outputs=False))["parameters"]
    return StackPatch(
        template=template,
        parameters=parameters,
        keep_parameters=sorted(previous_names),
        clear_parameters=[
            name
            for name in present
            if name not in parameters and name not in previous_names and not views.is_pseudo_parameter(name)
        ],
        tags=None if call["Tags"] is None else views.plain_tags(call["Tags"]),
        timeout_mins=call.values.get("TimeoutInMinutes"),
        disable_rollback=disable_rollback(call),
        preflight=preflight(call),
    )


def new_parameters(call: QueryCall) -> dict[str, str]:
    """Return the parameters of a new stack, which has no previous values."""
    parameters, previous_names = _values_and_previous_names(call)
    if previous_names:
        raise QueryError(
            "ValidationError", f"A new stack has no previous values for {', '.join(sorted(previous_names))}."
        )
    return parameters


def _values_and_previous_names(call: QueryCall) -> tuple[dict[str, str], set[str]]:
    parameters: dict[str, str] = {}
    previous_names: set[str] = set()
    for item in call["Parameters"]:
        name, value, previous = item["ParameterKey"], item["ParameterValue"], bool(item["UsePreviousValue"])
        if name in parameters or name in previous_names:
            raise QueryError("ValidationError", f"The parameter {name} is given more than once.")
        if previous == (value is not None):
            raise QueryError(
                "ValidationError", f"Give a value for the parameter {name}, or UsePreviousValue, and not both."
            )
        if previous:
            previous_names.add(name)
        else:
            parameters[name] = value
    return parameters, previous_names


FORCE = "FORCE_DELETE_STACK"
"""The deletion mode that leaves behind what cannot be deleted."""


def delete(call: QueryCall) -> None:
    """Start to delete a stack, or delete its change sets if it has only these.

    As with AWS, only a deletion that has failed can be repeated with resources to retain, or with force.
    """
    retain, force = tuple(call["RetainResources"] or ()), call["DeletionMode"] == FORCE
    try:
        if retain or force:
            view = call.execute(ShowStack(ref=call.ref, resolve_outputs=False))
            if (view["action"], view["status"]) != ("DELETE", "FAILED"):
                option = "RetainResources" if retain else f"DeletionMode {FORCE}"
                raise QueryError(
                    "ValidationError",
                    f"{option} is only possible for a stack in the state DELETE_FAILED; the stack {view['name']} is in "
                    f"{view['action']}_{view['status']}.",
                )
        call.execute(DeleteStack(ref=call.ref, retain=retain, force=force))
    except EntityNotFound:
        try:
            call.execute(ForgetFutureStack(stack=call["StackName"]))
        except EntityNotFound:
            raise no_stack(call["StackName"]) from None


def act(action: str) -> Any:
    """Return a handler that starts an action on a stack."""

    def handler(call: QueryCall) -> None:
        call.execute_on_stack(ActOnStack(ref=call.ref, action=action))

    return handler


def roll_back(call: QueryCall) -> dict[str, object]:
    """Start to roll back a failed creation or update."""
    call.execute_on_stack(ActOnStack(ref=call.ref, action="rollback"))
    view = call.execute_on_stack(DescribeStack(ref=call.ref))
    began = (each["id"] for each in view.get("last_operations", ()) if each["action"] == "ROLLBACK")
    return {"StackId": views.stack_arn(view), "OperationId": next(began, None)}


def continue_rollback(call: QueryCall) -> None:
    """Resume a failed rollback, without the resources to skip."""
    view = call.execute_on_stack(ShowStack(ref=call.ref, resolve_outputs=False))
    if (view["action"], view["status"]) != ("ROLLBACK", "FAILED"):
        raise QueryError(
            "ValidationError",
            f"Only a failed rollback can be continued; {view['name']} is {views.stack_status(view)}.",
        )
    call.execute_on_stack(ActOnStack(ref=call.ref, action="retry", skip=tuple(call["ResourcesToSkip"] or ())))


# -- reading -------------------------------------------------------------------------------------------------------


def describe(call: QueryCall) -> dict[str, object]:
    """Return one stack, or a page of all stacks, in full."""
    if call["StackName"] is not None:
        return {"Stacks": [_described(call, call["StackName"])]}
    page = call.execute(DescribeStacks(limit=_DETAILED_PAGE, marker=marker_of(call["NextToken"])))
    review = [] if call["NextToken"] else call.execute(ListFutureStacks())
    return {
        "Stacks": [*map(views.stack, page), *map(_in_review, review)],
        "NextToken": _following(page, _DETAILED_PAGE),
    }


def _described(call: QueryCall, name: str) -> dict[str, Any]:
    try:
        view = call.execute(DescribeStack(ref=by_name(name)))
    except EntityNotFound:
        review = call.execute(ListFutureStacks(stack=name))
        if not review:
            raise no_stack(name) from None
        return _in_review(review[0])
    return views.stack(view)


def _in_review(view: Mapping[str, Any]) -> dict[str, object]:
    """Return the view of a stack that has only change sets."""
    return {
        "StackId": arn(view["project_id"], view["name"], view["id"]),
        "StackName": view["name"],
        "CreationTime": views.time_text(view["created_at"]),
        "StackStatus": _REVIEW,
        "DriftInformation": views.stack_drift({"status": "NOT_CHECKED", "time": None}),
    }


def list_stacks(call: QueryCall) -> dict[str, object]:
    """Return a page of the project's stacks with one of the requested statuses, including deleted ones."""
    marker = marker_of(call["NextToken"])
    page = _listed(call, ListStacks(limit=PAGE, marker=marker, show_deleted=True))
    statuses = call["StackStatusFilter"]
    review = [] if call["NextToken"] else [_in_review(view) for view in call.execute(ListFutureStacks())]
    summaries = [*map(views.stack_summary, page), *review]
    return {
        "StackSummaries": [each for each in summaries if not statuses or each["StackStatus"] in statuses],
        "NextToken": _following(page, PAGE),
    }


def _listed(call: QueryCall, request: ListStacks) -> Sequence[ListedStack]:
    """Return a page of stacks; an engine of the release before does not tell their drift and latest operations."""
    try:
        return call.execute(replace(request, with_latest=True))["stacks"]
    except ReleaseMismatch:
        return call.execute(request)["stacks"]


def _following(page: Sequence[StackView], size: int) -> str | None:
    return next_token(page[-1]["id"]) if len(page) == size else None
