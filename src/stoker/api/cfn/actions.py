"""The actions of the Query API: their parameters, policy rules and handlers.

The first 13 are Heat's; AWS's current clients use the others. These also use policy rules of Heat: each has the rule of
the corresponding Heat action, so that users who cannot update stacks cannot execute change sets either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.api.cfn import catalog, change_sets, drift, resources, stacks
from stoker.api.cfn.call import PAGE, Action
from stoker.api.cfn.parameters import (
    Parameter,
    Parameters,
    boolean,
    list_of,
    matching,
    one_of,
    refused,
    structure,
    text,
    whole_number_within,
)

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")

_MOST_MINUTES = 60 * 24 * 365
"""The longest timeout of a stack, one year."""

_TOKEN_FORM = matching("[a-zA-Z0-9][-a-zA-Z0-9]{0,127}", "1 to 128 letters, digits and hyphens")
_TEXTS = list_of(text)

_STATUSES = list_of(
    one_of(
        *(
            f"{action}_{status}"
            for action in (
                "REVIEW", "CREATE", "UPDATE", "ROLLBACK", "UPDATE_ROLLBACK", "DELETE", "IMPORT", "IMPORT_ROLLBACK",
                "ADOPT", "SUSPEND", "RESUME", "CHECK", "SNAPSHOT", "RESTORE",
            )
            for status in ("IN_PROGRESS", "COMPLETE", "FAILED")
        ),
        "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
    )
)  # fmt: skip
"""The statuses with which stacks can be filtered: those of AWS, and those of Heat's other actions."""

_STACK: Parameters = {"StackName": Parameter(text, required=True)}
_ANY_STACK: Parameters = {"StackName": Parameter(text)}
_RESOURCE: Parameters = {**_STACK, "LogicalResourceId": Parameter(text, required=True)}
_NEXT: Parameters = {"NextToken": Parameter(text)}
_REPEATABLE: Parameters = {"ClientRequestToken": Parameter(_TOKEN_FORM)}
_TEMPLATE: Parameters = {"TemplateBody": Parameter(text), "TemplateURL": Parameter(text, aliases=("TemplateUrl",))}
_POLICY: Parameters = {"StackPolicyBody": Parameter(text), "StackPolicyURL": Parameter(text)}
_POLICY_DURING_UPDATE: Parameters = {
    "StackPolicyDuringUpdateBody": Parameter(text),
    "StackPolicyDuringUpdateURL": Parameter(text),
}
_NO_ROLE: Parameters = {"RoleARN": refused("operations use the credentials of the calling user")}

_VALUES = list_of(
    structure(
        ParameterKey=Parameter(text, required=True),
        ParameterValue=Parameter(text),
        UsePreviousValue=Parameter(boolean),
    )
)
_TAGS = list_of(structure(Key=Parameter(text, required=True), Value=Parameter(text, default="")))

_NOTED: Parameters = {
    "Tags": Parameter(_TAGS),
    "Capabilities": Parameter(list_of(one_of(*CAPABILITIES))),
    "NotificationARNs": Parameter(_TEXTS),
}
_FAILURE: Parameters = {
    "DisableRollback": Parameter(boolean),
    "OnFailure": Parameter(one_of("DO_NOTHING", "ROLLBACK", "DELETE")),
}
_AMAZON_ONLY: Parameters = {
    **_NO_ROLE,
    "ResourceTypes": refused("policy rules `resource_types:*` define the resource types that a user can use"),
    "RollbackConfiguration": refused("there are no alarms that monitor updates"),
    "RetainExceptOnCreate": refused("deletion policies also apply to rollbacks"),
}


def _change_set_rule(values: Mapping[str, Any]) -> str:
    return "cloudformation:CreateStack" if values["ChangeSetType"] == "CREATE" else "cloudformation:UpdateStack"


_CHANGE_SET: Parameters = {"ChangeSetName": Parameter(text, required=True), "StackName": Parameter(text)}

ACTIONS: Mapping[str, Action] = {
    # -- Heat's ----------------------------------------------------------------------------------------------------
    "CreateStack": Action(
        stacks.create,
        "cloudformation:CreateStack",
        {
            **_STACK,
            **_TEMPLATE,
            "Parameters": Parameter(_VALUES, default=()),
            "TimeoutInMinutes": Parameter(whole_number_within(1, _MOST_MINUTES)),
            **_FAILURE,
            **_NOTED,
            "EnableTerminationProtection": Parameter(boolean),
            **_POLICY,
            **_REPEATABLE,
            **_AMAZON_ONLY,
        },
        takes_types=True,
    ),
    "UpdateStack": Action(
        stacks.update,
        "cloudformation:UpdateStack",
        {
            **_STACK,
            **_TEMPLATE,
            "UsePreviousTemplate": Parameter(boolean),
            "Parameters": Parameter(_VALUES, default=()),
            "TimeoutInMinutes": Parameter(whole_number_within(1, _MOST_MINUTES)),
            **_FAILURE,
            **_NOTED,
            **_POLICY,
            **_POLICY_DURING_UPDATE,
            **_REPEATABLE,
            **_AMAZON_ONLY,
        },
        takes_types=True,
    ),
    "DeleteStack": Action(
        stacks.delete,
        "cloudformation:DeleteStack",
        {
            **_STACK,
            **_REPEATABLE,
            **_NO_ROLE,
            "RetainResources": refused("give the resources the deletion policy Retain, and update the stack first"),
            "DeletionMode": Parameter(one_of("STANDARD")),
        },
        takes_types=True,
    ),
    "DescribeStacks": Action(stacks.describe, "cloudformation:DescribeStacks", {**_ANY_STACK, **_NEXT}),
    "ListStacks": Action(
        stacks.list_stacks, "cloudformation:ListStacks", {"StackStatusFilter": Parameter(_STATUSES), **_NEXT}
    ),
    "GetTemplate": Action(
        resources.template,
        "cloudformation:GetTemplate",
        {**_ANY_STACK, "ChangeSetName": Parameter(text), "TemplateStage": Parameter(one_of("Original"))},
    ),
    "DescribeStackEvents": Action(resources.events, "cloudformation:DescribeStackEvents", {**_STACK, **_NEXT}),
    "DescribeStackResource": Action(
        resources.describe_one,
        "cloudformation:DescribeStackResource",
        _RESOURCE,
        undated=True,  # os-collect-config signs its requests without a time
    ),
    "DescribeStackResources": Action(
        resources.describe_all,
        "cloudformation:DescribeStackResources",
        {**_ANY_STACK, "PhysicalResourceId": Parameter(text), "LogicalResourceId": Parameter(text)},
    ),
    "ListStackResources": Action(resources.list_all, "cloudformation:ListStackResources", {**_STACK, **_NEXT}),
    "ValidateTemplate": Action(catalog.validate, "cloudformation:ValidateTemplate", _TEMPLATE, takes_types=True),
    "EstimateTemplateCost": Action(
        catalog.estimate,
        "cloudformation:EstimateTemplateCost",
        {**_TEMPLATE, "Parameters": Parameter(_VALUES, default=())},
        takes_types=True,
    ),
    "CancelUpdateStack": Action(
        stacks.act("cancel_update"),
        "cloudformation:CancelUpdateStack",
        {**_STACK, **_REPEATABLE},
        takes_types=True,
    ),
    # -- rollbacks -------------------------------------------------------------------------------------------------
    "RollbackStack": Action(
        stacks.roll_back,
        "cloudformation:UpdateStack",
        {**_STACK, **_REPEATABLE, **_NO_ROLE, "RetainExceptOnCreate": _AMAZON_ONLY["RetainExceptOnCreate"]},
        takes_types=True,
    ),
    "ContinueUpdateRollback": Action(
        stacks.continue_rollback,
        "cloudformation:UpdateStack",
        {
            **_STACK,
            **_REPEATABLE,
            **_NO_ROLE,
            "ResourcesToSkip": refused("mark a resource that cannot be repaired unhealthy with the REST API instead"),
        },
        takes_types=True,
    ),
    # -- change sets -----------------------------------------------------------------------------------------------
    "CreateChangeSet": Action(
        change_sets.create,
        _change_set_rule,
        {
            **_STACK,
            "ChangeSetName": Parameter(text, required=True),
            "ChangeSetType": Parameter(one_of("CREATE", "UPDATE")),
            "Description": Parameter(text),
            **_TEMPLATE,
            "UsePreviousTemplate": Parameter(boolean),
            "Parameters": Parameter(_VALUES, default=()),
            "OnFailure": replace(_FAILURE["OnFailure"], aliases=("OnStackFailure",)),
            **_NOTED,
            "ClientRequestToken": Parameter(_TOKEN_FORM, aliases=("ClientToken",)),
            **_AMAZON_ONLY,
            "IncludeNestedStacks": Parameter(boolean),
            "ResourcesToImport": refused("adopt a stack with the REST API instead"),
            "ImportExistingResources": refused("adopt a stack with the REST API instead"),
            "DeploymentMode": refused("an update with `converge` in the REST API compares the live state"),
        },
        takes_types=True,
    ),
    "DescribeChangeSet": Action(
        change_sets.describe,
        "cloudformation:DescribeStacks",
        {**_CHANGE_SET, **_NEXT, "IncludePropertyValues": refused("change sets do not contain property values")},
    ),
    "ListChangeSets": Action(change_sets.list_all, "cloudformation:ListStacks", {**_STACK, **_NEXT}),
    "ExecuteChangeSet": Action(
        change_sets.execute,
        "cloudformation:UpdateStack",
        {
            **_CHANGE_SET,
            **_REPEATABLE,
            "DisableRollback": Parameter(boolean),
            "RetainExceptOnCreate": _AMAZON_ONLY["RetainExceptOnCreate"],
        },
        takes_types=True,
    ),
    "DeleteChangeSet": Action(change_sets.delete, "cloudformation:UpdateStack", _CHANGE_SET),
    # -- templates, exports, types ---------------------------------------------------------------------------------
    "GetTemplateSummary": Action(
        catalog.summary,
        "cloudformation:ValidateTemplate",
        {**_ANY_STACK, **_TEMPLATE},
        takes_types=True,
    ),
    "ListExports": Action(catalog.exports, "cloudformation:ListStacks", _NEXT),
    "ListImports": Action(
        catalog.imports, "cloudformation:ListStacks", {"ExportName": Parameter(text, required=True), **_NEXT}
    ),
    "DescribeAccountLimits": Action(catalog.limits, "cloudformation:ListStacks", _NEXT),
    "ListTypes": Action(
        catalog.list_types,
        "stacks:list_resource_types",
        {
            "Visibility": Parameter(one_of("PUBLIC", "PRIVATE")),
            "Type": Parameter(one_of("RESOURCE")),
            "DeprecatedStatus": Parameter(one_of("LIVE", "DEPRECATED")),
            "ProvisioningType": refused("types are not distinguished by it"),
            "Filters": Parameter(structure(TypeNamePrefix=Parameter(text), Category=refused("types have no category"))),
            "MaxResults": Parameter(whole_number_within(1, PAGE)),
            **_NEXT,
        },
        takes_types=True,
    ),
    "DescribeType": Action(
        catalog.describe_type,
        "stacks:resource_schema",
        {
            "Type": Parameter(one_of("RESOURCE")),
            "TypeName": Parameter(text),
            "Arn": Parameter(text),
            "VersionId": refused("types have one version"),
        },
        takes_types=True,
    ),
    # -- settings and signals --------------------------------------------------------------------------------------
    "SetStackPolicy": Action(resources.set_policy, "cloudformation:UpdateStack", {**_STACK, **_POLICY}),
    "GetStackPolicy": Action(resources.get_policy, "cloudformation:GetTemplate", _STACK),
    "UpdateTerminationProtection": Action(
        resources.protect,
        "cloudformation:UpdateStack",
        {**_STACK, "EnableTerminationProtection": Parameter(boolean, required=True)},
    ),
    "SignalResource": Action(
        resources.signal,
        "resource:signal",
        {
            **_RESOURCE,
            "UniqueId": Parameter(text, required=True),
            "Status": Parameter(one_of("SUCCESS", "FAILURE"), required=True),
        },
    ),
    # -- drift -----------------------------------------------------------------------------------------------------
    "DetectStackDrift": Action(drift.detect, "actions:check", {**_STACK, "LogicalResourceIds": Parameter(_TEXTS)}),
    "DetectStackResourceDrift": Action(drift.detect_resource, "actions:check", _RESOURCE),
    "DescribeStackDriftDetectionStatus": Action(
        drift.describe_detection, "actions:check", {"StackDriftDetectionId": Parameter(text, required=True)}
    ),
    "DescribeStackResourceDrifts": Action(
        drift.describe_resources,
        "actions:check",
        {
            **_STACK,
            "StackResourceDriftStatusFilters": Parameter(list_of(one_of(*drift.STATUSES))),
            "MaxResults": Parameter(whole_number_within(1, PAGE)),
            **_NEXT,
        },
    ),
}
