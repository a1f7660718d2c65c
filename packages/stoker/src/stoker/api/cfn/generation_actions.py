"""The actions on resource scans and generated templates: their parameters, policy rules and handlers."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.api.cfn import generated_templates, resource_scans
from stoker.api.cfn.call import PAGE, Action
from stoker.api.cfn.parameters import Entries
from stoker.api.values import BOOLEAN, STRING, STRINGS, Choice, Field, Fields, Integer, ListOf, String, Structure

_READ, _WRITE = "resource:generate", "cloudformation:CreateStack"
_TOKEN_FORM = String(pattern="[a-zA-Z0-9][-a-zA-Z0-9]{0,127}", form="1 to 128 letters, digits and hyphens")
_PAGES: Fields = {"NextToken": Field(STRING), "MaxResults": Field(Integer(1, PAGE))}
_SCAN: Fields = {"ResourceScanId": Field(STRING, required=True)}
_TEMPLATE: Fields = {"GeneratedTemplateName": Field(STRING, required=True)}
_OBJECT: Fields = {
    "ResourceType": Field(STRING, required=True),
    "ResourceIdentifier": Field(Entries(), required=True),
}
_OBJECTS = ListOf(Structure(_OBJECT))
_NAMED_OBJECTS = ListOf(Structure({**_OBJECT, "LogicalResourceId": Field(STRING)}))
_POLICY = Field(Choice(*generated_templates.POLICIES))
_CONFIGURATION: Fields = {
    "TemplateConfiguration": Field(Structure({"DeletionPolicy": _POLICY, "UpdateReplacePolicy": _POLICY}))
}

ACTIONS: Mapping[str, Action] = {
    "StartResourceScan": Action(
        resource_scans.start,
        _WRITE,
        {
            "ScanFilters": Field(ListOf(Structure({"Types": Field(STRINGS, required=True)})), default=()),
            "ClientRequestToken": Field(_TOKEN_FORM),
        },
        takes_types=True,
    ),
    "DescribeResourceScan": Action(resource_scans.describe, _READ, _SCAN),
    "ListResourceScans": Action(
        resource_scans.list_all,
        _READ,
        {"ScanTypeFilter": Field(Choice(resource_scans.FULL, resource_scans.PARTIAL)), **_PAGES},
    ),
    "ListResourceScanResources": Action(
        resource_scans.list_resources,
        _READ,
        {
            **_SCAN,
            "ResourceIdentifier": Field(STRING),
            "ResourceTypePrefix": Field(STRING),
            "TagKey": Field(STRING),
            "TagValue": Field(STRING),
            **_PAGES,
        },
    ),
    "ListResourceScanRelatedResources": Action(
        resource_scans.list_related, _READ, {**_SCAN, "Resources": Field(_OBJECTS, required=True), **_PAGES}
    ),
    "CreateGeneratedTemplate": Action(
        generated_templates.create,
        _WRITE,
        {**_TEMPLATE, "StackName": Field(STRING), "Resources": Field(_NAMED_OBJECTS), **_CONFIGURATION},
        takes_types=True,
    ),
    "UpdateGeneratedTemplate": Action(
        generated_templates.update,
        _WRITE,
        {
            **_TEMPLATE,
            "NewGeneratedTemplateName": Field(STRING),
            "AddResources": Field(_NAMED_OBJECTS),
            "RemoveResources": Field(STRINGS),
            "RefreshAllResources": Field(BOOLEAN),
            **_CONFIGURATION,
        },
        takes_types=True,
    ),
    "DescribeGeneratedTemplate": Action(generated_templates.describe, _READ, _TEMPLATE),
    "GetGeneratedTemplate": Action(
        generated_templates.get, _READ, {**_TEMPLATE, "Format": Field(Choice("JSON", "YAML"))}
    ),
    "ListGeneratedTemplates": Action(generated_templates.list_all, _READ, _PAGES),
    "DeleteGeneratedTemplate": Action(generated_templates.delete, _WRITE, _TEMPLATE),
}
