"""Actions on the contents of stacks: resources, events, templates, settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stoker.api.cfn import hooks, views
from stoker.api.cfn.call import PAGE, QueryCall, marker_of, next_token, page_of
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.rendering import JsonText
from stoker.api.cfn.stacks import policy
from stoker.api.cfn.views import View
from stoker.contract.change_sets import ListFutureStacks, ShowChangeSet
from stoker.contract.drift import ListDrift
from stoker.contract.events import ListEventsInDetail
from stoker.contract.request import Answer, OfStack, by_name
from stoker.contract.resources import DescribeResource, FindStackOfObject, ListResources, SignalResource
from stoker.contract.stacks import ChangeSettings, SettingsChange, ShowSettings, ShowTemplate

_AMAZON_SIGNAL = {"UniqueId": "UniqueId", "Status": "Status"}
_OWN_SIGNAL = {"UniqueId": "id", "Status": "status"}


def describe_one(call: QueryCall) -> dict[str, object]:
    """Return a resource with its metadata."""
    view = call.execute_on_stack(DescribeResource(ref=call.ref, name=call["LogicalResourceId"]))
    return {"StackResourceDetail": views.resource_detail(view)}


def describe_all(call: QueryCall) -> dict[str, object]:
    """Return the resources of a stack, or of the stack that a physical ID belongs to."""
    stack, physical_id = call["StackName"], call["PhysicalResourceId"]
    if (stack is None) == (physical_id is None):
        raise QueryError("InvalidParameterCombination", "Give StackName or PhysicalResourceId, and not both.")
    if stack is None:
        stack = call.execute(FindStackOfObject(physical_id=physical_id))["id"]
    filters = {} if call["LogicalResourceId"] is None else {"name": [call["LogicalResourceId"]]}
    found = _resources_of(call, stack, filters=filters)
    if filters and not found:
        raise QueryError("ValidationError", f"Resource {call['LogicalResourceId']} does not exist for stack {stack}")
    return {"StackResources": _with_drift(call, stack, found, views.resource)}


def list_all(call: QueryCall) -> dict[str, object]:
    """Return a page of a stack's resources."""
    page, token = page_of(_resources_of(call, call["StackName"]), call["NextToken"])
    summaries = _with_drift(call, call["StackName"], page, views.resource_summary)
    return {"StackResourceSummaries": summaries, "NextToken": token}


def _resources_of(call: QueryCall, stack: str, filters: Mapping[str, Sequence[str]] | None = None) -> list[View]:
    """Return the stack's resources with their positions."""
    found = _parts_of(call, ListResources(ref=by_name(stack), filters=filters))
    return [{**view, **found["stacks"][view["stack_id"]]} for view in found["resources"]] if found else []


def _with_drift(call: QueryCall, stack: str, found: Iterable[View], shown: Callable[[View], View]) -> list[View]:
    """Return resources rendered by `shown`, each with its result of the last drift detection."""
    drift = {view["name"]: view for view in _parts_of(call, ListDrift(ref=by_name(stack))) or ()}
    return [{**shown(view), "DriftInformation": views.drift_information(drift.get(view["name"]))} for view in found]


def events(call: QueryCall) -> dict[str, Any]:
    """Return a page of a stack's events, newest first."""
    found = _parts_of(call, ListEventsInDetail(ref=call.ref, limit=PAGE, marker=marker_of(call["NextToken"]))) or ()
    token = next_token(found[-1]["id"]) if len(found) == PAGE else None
    return {"StackEvents": [each for view in found for each in _with_hooks(view)], "NextToken": token}


def _with_hooks(view: View) -> list[View]:
    """Return an event, after those of the policies that were asked when the operation had begun."""
    event = views.event(view)
    return [
        *({**event, **_of_policy(view, result)} for result in reversed(view.get("policy_results", ()))),
        event,
    ]


def _of_policy(view: View, result: View) -> View:
    return {
        "EventId": result["id"],
        "HookInvocationId": result["id"],
        "LogicalResourceId": result["path"] or view["resource_name"],
        "PhysicalResourceId": "" if result["path"] else views.event(view)["PhysicalResourceId"],
        "ResourceType": result["type"] if result["path"] else views.STACK_TYPE,
        "ResourceStatusReason": None,
        "ResourceProperties": None,
        **hooks.event_members(result),
    }


def _parts_of(call: QueryCall, request: OfStack[Answer]) -> Answer | None:
    """Return the engine's list of parts of a stack; None if it has only change sets so far."""
    try:
        return call.execute_on_stack(request)
    except QueryError:
        if call.execute(ListFutureStacks(stack=request.ref["name"])):
            return None
        raise


def template(call: QueryCall) -> dict[str, Any]:
    """Return the template of a stack or of a change set."""
    if call["ChangeSetName"] is not None:
        held = call.execute(ShowChangeSet(name=call["ChangeSetName"], stack=call["StackName"]))
        body = held["template"]
    elif call["StackName"] is not None:
        body = call.execute_on_stack(ShowTemplate(ref=call.ref))
    else:
        raise QueryError("MissingParameter", "The request must have the parameter StackName, or ChangeSetName.")
    return {"TemplateBody": JsonText(body), "StagesAvailable": ["Original"]}


def signal(call: QueryCall) -> None:
    """Send a signal to a resource; AWS and Heat use different keys in signals."""
    found = call.execute_on_stack(DescribeResource(ref=call.ref, name=call["LogicalResourceId"]))
    amazon = found["type"].startswith("AWS::")
    details = {name: call[key] for key, name in (_AMAZON_SIGNAL if amazon else _OWN_SIGNAL).items()}
    if amazon:
        details |= {"Reason": "", "Data": ""}
    call.execute_on_stack(SignalResource(ref=call.ref, name=call["LogicalResourceId"], details=details))


# -- settings ------------------------------------------------------------------------------------------------------


def set_policy(call: QueryCall) -> None:
    """Set the stack policy."""
    document = policy(call, "StackPolicy")
    if document is None:
        raise QueryError("MissingParameter", "The request must have the parameter StackPolicyBody, or StackPolicyURL.")
    call.execute_on_stack(ChangeSettings(ref=call.ref, changes={"policy": document}))


def get_policy(call: QueryCall) -> dict[str, object]:
    """Return the stack policy; without a policy, all updates are allowed."""
    found = call.execute_on_stack(ShowSettings(ref=call.ref))["policy"]
    return {"StackPolicyBody": None if found is None else JsonText(found)}


def protect(call: QueryCall) -> dict[str, object]:
    """Enable or disable termination protection."""
    changes: SettingsChange = {"protected": call["EnableTerminationProtection"]}
    return {"StackId": views.stack_arn(call.execute_on_stack(ChangeSettings(ref=call.ref, changes=changes)))}
