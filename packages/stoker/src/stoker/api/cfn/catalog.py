"""Actions on templates, types, exports and limits."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from stoker.api.cfn import views
from stoker.api.cfn.call import PAGE, QueryCall, page_of
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.identifiers import IDENTIFIER
from stoker.api.cfn.rendering import JsonText
from stoker.api.cfn.stacks import new_parameters
from stoker.base.errors import EntityNotFound
from stoker.base.ids import arn
from stoker.contract.catalog import ListExports, ListImports, ListResourceTypes, ShowResourceType
from stoker.contract.previews import PreviewStack
from stoker.contract.stacks import ShowTemplate, SummarizeTemplate, ValidateTemplate

_DEPRECATED = frozenset({"DEPRECATED", "UNSUPPORTED"})

_JSON_TYPES = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "map": "object",
}


def validate(call: QueryCall) -> dict[str, object]:
    """Check a template, and return its parameters."""
    found = call.execute(ValidateTemplate(template=call.required_text_of("Template")))
    return {
        "Description": found["Description"] or None,
        "Parameters": [views.template_parameter(name, each) for name, each in found["Parameters"].items()],
    }


def estimate(call: QueryCall) -> dict[str, object]:
    """Return a URL that estimates costs: the operator's calculator with the number of resources of each type.

    Without a calculator, it is a data URL of a document with these numbers.
    """
    template = call.required_text_of("Template")
    view = call.execute(PreviewStack(name="estimate", template=template, parameters=new_parameters(call)))
    created = Counter(step["type"] for step in view["plan"]["steps"] if step["kind"] == "create")
    calculator = call.config.heat_api_cfn.cost_calculator_url
    if calculator is None:
        return {"Url": f"data:application/json,{quote(json.dumps(created))}"}
    return {"Url": f"{calculator}{'&' if '?' in calculator else '?'}{urlencode(created)}"}


def summary(call: QueryCall) -> dict[str, object]:
    """Return the parameters, resource types and metadata of a template, or of a stack's template."""
    template: Any = call.text_of("Template")
    if (template is None) == (call["StackName"] is None):
        raise QueryError("InvalidParameterCombination", "Give the template or StackName, and not both.")
    if template is None:
        template = call.execute_on_stack(ShowTemplate(ref=call.ref))
    found = call.execute(SummarizeTemplate(template=template))
    transforms = found["transform"]
    return {
        "Description": found["description"] or None,
        "Parameters": [_declared(name, each) for name, each in found["parameters"].items()],
        "ResourceTypes": found["types"],
        "Version": found["version"],
        "Metadata": None if found["metadata"] is None else JsonText(found["metadata"]),
        "ResourceIdentifierSummaries": [
            {
                "ResourceType": each["resource_type"],
                "LogicalResourceIds": list(each["names"]),
                "ResourceIdentifiers": [IDENTIFIER],
            }
            for each in found.get("importable", ())
        ],
        "DeclaredTransforms": transforms if isinstance(transforms, list) else [transforms] if transforms else [],
    }


def _declared(name: str, described: Mapping[str, Any]) -> dict[str, object]:
    allowed = described.get("AllowedValues")
    constraints = {"AllowedValues": [views.text(value) for value in allowed]} if allowed else {}
    return {
        **views.template_parameter(name, described),
        "ParameterType": described["Type"],
        "ParameterConstraints": constraints,
    }


def exports(call: QueryCall) -> dict[str, object]:
    """Return a page of the exports of the project's stacks."""
    page, token = page_of(call.execute(ListExports()), call["NextToken"])
    shown = [
        {
            "ExportingStackId": arn(call.context.project_id, each["stack_name"], each["stack_id"]),
            "Name": each["name"],
            "Value": each["value"] if isinstance(each["value"], str) else json.dumps(each["value"]),
        }
        for each in page
    ]
    return {"Exports": shown, "NextToken": token}


def imports(call: QueryCall) -> dict[str, object]:
    """Return a page of the stacks that import an export."""
    found = call.execute(ListImports(name=call["ExportName"]))
    if not found:
        raise QueryError("ValidationError", f"Export '{call['ExportName']}' is not imported by any stack.")
    page, token = page_of(found, call["NextToken"])
    return {"Imports": page, "NextToken": token}


def limits(call: QueryCall) -> dict[str, Any]:
    """Return the current limits; unlimited values are omitted."""
    limit = call.config.max_stacks_per_tenant
    found = [("StackLimit", limit)] if limit >= 0 else []
    return {"AccountLimits": [{"Name": name, "Value": value} for name, value in found]}


def list_types(call: QueryCall) -> dict[str, object]:
    """Return a page of the resource types."""
    deprecated = call["DeprecatedStatus"] == "DEPRECATED"
    prefix = (call["Filters"] or {}).get("TypeNamePrefix") or ""
    statuses = _DEPRECATED if deprecated else {"SUPPORTED"} if call["DeprecatedStatus"] else {None}
    if call["Visibility"] == "PRIVATE":  # all types are public
        statuses = set()
    found = [
        each
        for status in sorted(statuses, key=str)
        for each in call.execute(ListResourceTypes(support_status=status, with_description=True))
        if not isinstance(each, str)
        and each["resource_type"].startswith(prefix)
        and call.context.may_use(each["resource_type"])
    ]
    page, token = page_of(found, call["NextToken"], call["MaxResults"] or PAGE)
    shown = [
        {
            "Type": "RESOURCE",
            "TypeName": each["resource_type"],
            "TypeArn": _type_arn(each["resource_type"]),
            "Description": each["description"],
        }
        for each in page
    ]
    return {"TypeSummaries": shown, "NextToken": token}


def describe_type(call: QueryCall) -> dict[str, object]:
    """Return a resource type with its schema."""
    name = call["TypeName"] or _named(call["Arn"])
    if name is None:
        raise QueryError("MissingParameter", "The request must have the parameter TypeName, or Arn.")
    try:
        if not call.context.may_use(name):
            raise EntityNotFound(name)
        found = call.execute(ShowResourceType(type_name=name, with_description=True))
    except EntityNotFound:
        raise QueryError("TypeNotFoundException", f"The resource type {name} does not exist.") from None
    return {
        "Arn": _type_arn(name),
        "Type": "RESOURCE",
        "TypeName": name,
        "Description": found["description"],
        "DeprecatedStatus": "DEPRECATED" if found["support_status"]["status"] in _DEPRECATED else "LIVE",
        "Visibility": "PUBLIC",
        "Schema": JsonText(_schema(name, found)),
    }


def _type_arn(name: str) -> str:
    return f"arn:openstack:heat:::type/resource/{name.replace('::', '-')}"


def _named(type_arn: str | None) -> str | None:
    return None if type_arn is None else type_arn.rpartition("/")[2].replace("-", "::")


def _schema(name: str, found: Mapping[str, Any]) -> dict[str, object]:
    """Return the type as a JSON schema in the format of CloudFormation's registry."""
    properties = found["properties"]
    return {
        "typeName": name,
        "description": found["description"],
        "properties": {
            **{
                each: {"description": described.get("description") or ""}
                for each, described in found["attributes"].items()
            },
            **{each: _property(described) for each, described in properties.items()},
        },
        "required": [each for each, described in properties.items() if described["required"]],
        "readOnlyProperties": [f"/properties/{each}" for each in found["attributes"] if each not in properties],
        "createOnlyProperties": [
            f"/properties/{each}" for each, described in properties.items() if not described["update_allowed"]
        ],
        "additionalProperties": False,
    }


def _property(described: Mapping[str, Any]) -> dict[str, object]:
    schema: dict[str, Any] = {"description": described.get("description") or ""}
    if described["type"] in _JSON_TYPES:
        schema["type"] = _JSON_TYPES[described["type"]]
    nested = described.get("schema") or {}
    if described["type"] == "map" and nested:
        schema["properties"] = {name: _property(each) for name, each in nested.items()}
    if described["type"] == "list" and "*" in nested:
        schema["items"] = _property(nested["*"])
    if "default" in described:
        schema["default"] = described["default"]
    return schema
