"""Convert the engine's views to the format of CloudFormation's API.

Pure functions from a view to a part of a response. The keys are those of Heat's CloudFormation API and of the AWS
CloudFormation API reference.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.rendering import JsonText
from stoker.base.ids import arn
from stoker.contract.stacks import CREATES_CHANGE_SET
from stoker_foundation.clock import isoformat

View: TypeAlias = Mapping[str, Any]

STACK_TYPE = "AWS::CloudFormation::Stack"
"""The resource type in a stack's own events."""

_IMPORTING = {"CREATE": "IMPORT", "UPDATE": "IMPORT", "ROLLBACK": "IMPORT_ROLLBACK"}
"""The actions of stacks that carry out import change sets, as the API calls them."""
_OPERATIONS = {"ROLLBACK": "ROLLBACK", CREATES_CHANGE_SET: "CREATE_CHANGESET", "ABANDON": "DELETE_STACK"}
_MOST_TAGS = 50
_RESERVED = "aws:"
_OWN_STACK_TYPE = "OS::Heat::Stack"


def time_text(seconds: float | None) -> str | None:
    """Return a time of a view in the format of responses; None for None."""
    return None if seconds is None else isoformat(seconds)


def stack_arn(view: View) -> str:
    """Return a stack's StackId."""
    return arn(view["project_id"], view["name"], view["id"])


def stack_status(view: View) -> str:
    """Return the status of a stack; `imported` is true if an import change set has made it what it is."""
    action = _IMPORTING.get(view["action"]) if view.get("imported") else None
    return f"{action}_{view['status']}" if action else _status(view, view["updated_at"] is not None)


def _status(view: View, changed: bool) -> str:
    """Return action and status; the status of a rollback depends on whether it reverts the creation or an update."""
    action = "UPDATE_ROLLBACK" if changed and view["action"] == "ROLLBACK" else view["action"]
    return f"{action}_{view['status']}"


def stack_summary(view: View) -> dict[str, object]:
    """Return a stack for ListStacks."""
    return {
        "StackId": stack_arn(view),
        "StackName": view["name"],
        "TemplateDescription": view["description"] or None,
        "CreationTime": time_text(view["created_at"]),
        "LastUpdatedTime": time_text(view["updated_at"]),
        "DeletionTime": time_text(view["deleted_at"]),
        "StackStatus": stack_status(view),
        "StackStatusReason": view["status_reason"],
        "DriftInformation": stack_drift(view["drift"]) if "drift" in view else None,
        "LastOperations": _last_operations(view),
    }


def stack_drift(summary: View) -> dict[str, object]:
    """Return whether a stack has drifted, and when somebody has looked."""
    return {"StackDriftStatus": summary["status"], "LastCheckTimestamp": time_text(summary["time"])}


def _last_operations(view: View) -> list[dict[str, object]]:
    last = view.get("last_operations", ())
    return [{"OperationType": operation_type(each), "OperationId": each["id"]} for each in last]


def stack(view: View) -> dict[str, Any]:
    """Return a stack for DescribeStacks."""
    return {
        "StackId": stack_arn(view),
        "StackName": view["name"],
        "ParentId": _arn_above(view, view["parent_id"]),
        "RootId": _arn_above(view, view["root_id"]),
        "Description": view["description"] or None,
        "CreationTime": time_text(view["created_at"]),
        "LastUpdatedTime": time_text(view["updated_at"]),
        "DeletionTime": time_text(view["deleted_at"]),
        "StackStatus": stack_status(view),
        "StackStatusReason": view["status_reason"],
        "DisableRollback": view["disable_rollback"],
        "TimeoutInMinutes": view["timeout_mins"],
        "NotificationARNs": view["notification_topics"],
        "Capabilities": view["capabilities"],
        "EnableTerminationProtection": view["protected"],
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": text(value)}
            for name, value in view["parameters"].items()
            if not is_pseudo_parameter(name)
        ],
        "Outputs": [
            {**_output(item), "ExportName": view["exports"].get(item["output_key"])}
            for item in view.get("outputs") or ()
            if item["enabled"]
        ],
        "Tags": tags(view["tags"]),
        "DriftInformation": stack_drift(view["drift"]),
        "LastOperations": _last_operations(view),
    }


def operation_type(operation: View) -> str:
    """Return the type of an operation; actions that AWS does not have are named alike: `SUSPEND_STACK`."""
    if operation["action"] == "ROLLBACK" and operation["continues"]:
        return "CONTINUE_ROLLBACK"
    return _OPERATIONS.get(operation["action"], f"{operation['action']}_STACK")


def _arn_above(view: View, stack_id: str | None) -> str | None:
    """Return the StackId of a stack above a nested one; lists contain no nested stacks."""
    name = view.get("above", {}).get(stack_id)
    return None if name is None or stack_id is None else arn(view["project_id"], name, stack_id)


def is_pseudo_parameter(name: str) -> bool:
    """Return whether a parameter is a pseudo parameter, which every stack has."""
    return "::" in name


def _output(item: View) -> dict[str, Any]:
    return {
        "OutputKey": item["output_key"].replace(":", "."),
        "OutputValue": text(item["output_value"]),
        "Description": item["description"] or None,
    }


def tags(plain: Sequence[str] | None) -> list[dict[str, str]]:
    """Return tags as pairs: a stack's tag `owner=ops` has the key `owner`; one without `=` has an empty value."""
    pairs = [tag.partition("=") for tag in plain or ()]
    return [{"Key": key, "Value": value} for key, _, value in pairs]


def plain_tags(pairs: Sequence[View]) -> list[str]:
    """Reverse `tags`. Raises QueryError for tags that AWS would refuse, or that `tags` would not restore."""
    if problem := next(_problems_of_tags([pair["Key"] for pair in pairs]), None):
        raise QueryError("ValidationError", problem)
    return [f"{pair['Key']}={pair['Value']}" if pair["Value"] else pair["Key"] for pair in pairs]


def _problems_of_tags(keys: Sequence[str]) -> Iterator[str]:
    if len(keys) > _MOST_TAGS:
        yield f"A stack can have at most {_MOST_TAGS} tags, not {len(keys)}."
    for key, count in Counter(keys).items():
        if not key:
            yield "The key of a tag is empty."
        if "=" in key:
            yield f"The key of the tag {key!r} contains '=', which separates keys from values in tags of stacks."
        if key.lower().startswith(_RESERVED):
            yield f"The key of the tag {key!r} begins with {_RESERVED!r}, which is reserved."
        if count > 1:
            yield f"The tag {key!r} is given {count} times; give it once."


def _resource(view: View) -> dict[str, object]:
    return {
        "LogicalResourceId": view["name"],
        "PhysicalResourceId": view["physical_id"] or "",
        "ResourceType": view["type"],
        "ResourceStatus": f"{_of_resource(view)}_{view['status']}",
        "ResourceStatusReason": view["status_reason"],
    }


def _of_resource(view: View) -> str:
    """Return the action on a resource, as the API calls it."""
    return "IMPORT" if view["action"] == "ADOPT" else str(view["action"])


def _of_stack(view: View) -> dict[str, object]:
    return {
        "StackId": arn(view["project_id"], view["stack_name"], view["stack_id"]),
        "StackName": view["stack_name"],
    }


def resource_summary(view: View) -> dict[str, object]:
    """Return a resource for ListStackResources."""
    return {**_resource(view), "LastUpdatedTimestamp": time_text(view["updated_at"])}


def resource(view: View) -> dict[str, Any]:
    """Return a resource for DescribeStackResources."""
    return {
        **_of_stack(view),
        **_resource(view),
        "Timestamp": time_text(view["updated_at"]),
        "Description": view.get("description", ""),
    }


def resource_detail(view: View) -> dict[str, object]:
    """Return a resource for DescribeStackResource; agents in servers read its metadata."""
    return {
        **_of_stack(view),
        **resource_summary(view),
        "Description": view["description"],
        "Metadata": JsonText(view["metadata"]),
        "DriftInformation": drift_information(view["drift"]) if "drift" in view else None,
    }


def drift_information(view: View | None) -> dict[str, object]:
    """Return the drift status of a resource from the last detection; None if it was never checked."""
    return {
        "StackResourceDriftStatus": "NOT_CHECKED" if view is None else view["status"],
        "LastCheckTimestamp": None if view is None else time_text(view["time"]),
    }


def resource_drift(view: View) -> dict[str, object]:
    """Return the differences between a resource and its recorded properties."""
    return {
        "StackId": _of_stack(view)["StackId"],
        "LogicalResourceId": view["name"],
        "PhysicalResourceId": view["physical_id"],
        "ResourceType": view["type"],
        "ExpectedProperties": None if view["expected"] is None else JsonText(view["expected"]),
        "ActualProperties": None if view["actual"] is None else JsonText(view["actual"]),
        "PropertyDifferences": [
            {
                "PropertyPath": pointer(*each["path"]),
                "ExpectedValue": text(each["before"]),
                "ActualValue": text(each["after"]),
                "DifferenceType": _difference_type(each),
            }
            for each in view["differences"]
        ],
        "StackResourceDriftStatus": view["status"],
        "DriftStatusReason": _drift_reason(view),
        "Timestamp": time_text(view["time"]),
    }


def _drift_reason(view: View) -> str | None:
    """Return what was not compared, and what the template ignores; the format has no other place for that."""
    ignored = ", ".join(each["path"] + " (differs)" * each["differs"] for each in view.get("ignored", ()))
    parts = [view.get("reason"), f"ignored, as the template says: {ignored}" if ignored else ""]
    return "; ".join(filter(None, parts)) or None


def _difference_type(difference: View) -> str:
    if difference["before"] is None:
        return "ADD"
    return "REMOVE" if difference["after"] is None else "NOT_EQUAL"


def event(view: View) -> dict[str, object]:
    """Return an event. A stack's own events have AWS's type for stacks and its StackId, which clients search for."""
    of_stack = _of_stack(view)
    own = view["resource_type"] == _OWN_STACK_TYPE and view["physical_id"] == view["stack_id"]
    return {
        **of_stack,
        "EventId": view["id"],
        "OperationId": view.get("operation_id"),
        "ClientRequestToken": view.get("client_request_token"),
        "LogicalResourceId": view["resource_name"],
        "PhysicalResourceId": of_stack["StackId"] if own else view["physical_id"] or "",
        "ResourceType": STACK_TYPE if own else view["resource_type"],
        "ResourceStatus": _status(view if own else {**view, "action": _of_resource(view)}, view["after_change"]),
        "ResourceStatusReason": view["status_reason"],
        "ResourceProperties": json.dumps(view["resource_properties"]),
        "Timestamp": time_text(view["time"]),
    }


def template_parameter(name: str, described: View) -> dict[str, object]:
    """Return a parameter of a template."""
    default = described.get("Default")
    if isinstance(default, list) and described["Type"] != "Json":
        default = ",".join(map(text, default))
    return {
        "ParameterKey": name,
        "DefaultValue": text(default) if "Default" in described else None,
        "NoEcho": described["NoEcho"] == "true",
        "Description": described["Description"] or "",
    }


def pointer(*parts: str | int) -> str:
    """Return a path as a JSON pointer: `/Properties/tags/0`."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def text(value: Any) -> str:
    """Return a value as a string, as AWS writes it: `true`, `443`; structures as JSON."""
    match value:
        case str():
            return value
        case None:
            return ""
        case _:
            return json.dumps(value)
