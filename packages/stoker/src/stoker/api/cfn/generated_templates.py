"""Actions on templates that are generated from existing objects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import yaml

from stoker.api.cfn import views
from stoker.api.cfn.call import PAGE, QueryCall, page_of
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.identifiers import identifier, one_identifier
from stoker.base.errors import ActionInProgress, Conflict, EntityNotFound
from stoker.base.ids import arn
from stoker.contract.generated_templates import (
    CreateGeneratedTemplate,
    DeleteGeneratedTemplate,
    ListGeneratedTemplates,
    ObjectToGenerate,
    ShowGeneratedTemplate,
    TemplatePolicies,
    UpdateGeneratedTemplate,
)
from stoker.contract.request import Answer, Request
from stoker.contract.stacks import IdentifyStack

_ARN = "arn:openstack:heat::{}:generatedTemplate/{}"
_NAME = "GeneratedTemplateName"
POLICIES = {"DELETE": "Delete", "RETAIN": "Retain"}
"""The policies of resources, as the API calls them."""
_SHOWN_POLICIES = {value: name for name, value in POLICIES.items()}
_MOST_REASON = 256


def create(call: QueryCall) -> dict[str, Any]:
    """Start to generate a template."""
    request = CreateGeneratedTemplate(
        name=call[_NAME],
        objects=_objects(call["Resources"]),
        policies=_policies(call),
        stack_name=call["StackName"],
    )
    if call["StackName"] is not None:
        call.execute_on_stack(IdentifyStack(ref=call.ref))
    return _identity(_execute(call, request))


def update(call: QueryCall) -> dict[str, Any]:
    """Start to change a generated template."""
    request = UpdateGeneratedTemplate(
        name=_name(call),
        new_name=call["NewGeneratedTemplateName"],
        add=_objects(call["AddResources"]),
        remove=call["RemoveResources"] or (),
        refresh=bool(call["RefreshAllResources"]),
        policies=_policies(call),
    )
    return _identity(_execute(call, request))


def describe(call: QueryCall) -> dict[str, object]:
    """Return a generated template with the progress of its resources, and what it does not say of them."""
    view = _execute(call, ShowGeneratedTemplate(name=_name(call)))
    resources = view["resources"]
    states = Counter(each["status"] for each in resources)
    policies = view["policies"]
    stack, is_read = view["stack_id"], _is_read(view["status"])
    return {
        **_summary(view),
        "Resources": [_resource(each, is_read) for each in resources],
        "Progress": {
            "ResourcesSucceeded": states["COMPLETE"],
            "ResourcesFailed": states["FAILED"],
            "ResourcesProcessing": states["PENDING"] * is_read,
            "ResourcesPending": states["PENDING"] * (not is_read),
        },
        "StackId": arn(view["project_id"], view["stack_name"] or "", stack) if stack is not None else None,
        "TemplateConfiguration": {
            "DeletionPolicy": _SHOWN_POLICIES[policies["deletion_policy"]],
            "UpdateReplacePolicy": _SHOWN_POLICIES[policies.get("update_replace_policy", policies["deletion_policy"])],
        },
        "TotalWarnings": sum(len(_warnings(each["warnings"])) for each in resources),
    }


def get(call: QueryCall) -> dict[str, Any]:
    """Return the template itself, once there is one."""
    view = _execute(call, ShowGeneratedTemplate(name=_name(call)))
    template = view["template"]
    if template is None:
        return {"Status": view["status"]}
    if call["Format"] == "YAML":
        text = yaml.safe_dump(template, sort_keys=False, allow_unicode=True, default_flow_style=False)
    else:
        text = json.dumps(template, indent=2)
    return {"Status": view["status"], "TemplateBody": text}


def list_all(call: QueryCall) -> dict[str, object]:
    """Return a page of the generated templates of the project."""
    page, token = page_of(_execute(call, ListGeneratedTemplates()), call["NextToken"], call["MaxResults"] or PAGE)
    shown = [{**_summary(each), "NumberOfResources": each["number_of_resources"]} for each in page]
    return {"Summaries": shown, "NextToken": token}


def delete(call: QueryCall) -> None:
    """Delete a generated template."""
    _execute(call, DeleteGeneratedTemplate(name=_name(call)))


def _execute(call: QueryCall, request: Request[Answer]) -> Answer:
    try:
        return call.execute(request)
    except EntityNotFound as error:
        raise QueryError("GeneratedTemplateNotFound", error.message) from error
    except ActionInProgress as error:
        raise QueryError("ConcurrentResourcesLimitExceeded", error.message) from error
    except Conflict as error:
        raise QueryError("AlreadyExistsException", error.message) from error


def _name(call: QueryCall) -> str:
    """Return the name or the ID, also of an ARN of the project."""
    return str(call[_NAME]).removeprefix(_ARN.format(call.context.project_id, ""))


def _objects(definitions: Iterable[Mapping[str, Any]] | None) -> list[ObjectToGenerate]:
    return [
        {
            "resource_type": each["ResourceType"],
            "physical_resource_id": one_identifier(each),
            "resource_name": each["LogicalResourceId"],
        }
        for each in definitions or ()
    ]


def _policies(call: QueryCall) -> TemplatePolicies:
    configuration = call["TemplateConfiguration"] or {}
    found: TemplatePolicies = {}
    if configuration.get("DeletionPolicy") is not None:
        found["deletion_policy"] = POLICIES[configuration["DeletionPolicy"]]
    if configuration.get("UpdateReplacePolicy") is not None:
        found["update_replace_policy"] = POLICIES[configuration["UpdateReplacePolicy"]]
    return found


def _identity(view: Mapping[str, object]) -> dict[str, object]:
    return {"GeneratedTemplateId": _ARN.format(view["project_id"], view["id"])}


def _summary(view: Mapping[str, Any]) -> dict[str, object]:
    return {
        **_identity(view),
        "GeneratedTemplateName": view["name"],
        "Status": view["status"],
        "StatusReason": view["reason"][:_MOST_REASON] or None,
        "CreationTime": views.time_text(view["created_at"]),
        "LastUpdatedTime": views.time_text(view["updated_at"]),
    }


def _is_read(status: str) -> bool:
    """Return whether the pending resources of a template with the status are being read."""
    return status.endswith("_IN_PROGRESS")


def _resource(view: Mapping[str, Any], is_read: bool) -> dict[str, object]:
    return {
        "ResourceType": view["resource_type"],
        "LogicalResourceId": view["resource_name"],
        "ResourceIdentifier": identifier(view["physical_resource_id"]),
        "ResourceStatus": "IN_PROGRESS" if is_read and view["status"] == "PENDING" else view["status"],
        "ResourceStatusReason": view["reason"] or None,
        "Warnings": _warnings(view["warnings"]),
    }


def _warnings(found: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the warnings of a resource, one for each kind."""
    ordered = sorted(found, key=lambda each: str(each["kind"]))
    return [
        {
            "Type": kind,
            "Properties": [
                {
                    "PropertyPath": each["property"],
                    "Required": each["required"],
                    "Description": each["description"],
                }
                for each in group
            ],
        }
        for kind, group in groupby(ordered, key=lambda each: str(each["kind"]))
    ]
