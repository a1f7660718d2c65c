"""The actions of the Query API: their parameters, policy rules and handlers.

The first 13 are Heat's; AWS's current clients use the others. These also use policy rules of Heat: each has the rule of
the corresponding Heat action, so that users who cannot update stacks cannot execute change sets either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stoker.api.cfn import (
    catalog,
    change_sets,
    drift,
    generation_actions,
    hooks,
    operation_events,
    refactors,
    resources,
    stacks,
)
from stoker.api.cfn.call import PAGE, Action
from stoker.api.cfn.parameters import Entries, refused
from stoker.api.values import BOOLEAN, STRING, STRINGS, Choice, Field, Fields, Integer, ListOf, String, Structure
from stoker.contract.change_sets import REVERT_DRIFT

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND")

_MOST_MINUTES = 60 * 24 * 365
"""The longest timeout of a stack, one year."""

_TOKEN_FORM = String(pattern="[a-zA-Z0-9][-a-zA-Z0-9]{0,127}", form="1 to 128 letters, digits and hyphens")

_STATUSES = ListOf(
    Choice(
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

_STACK: Fields = {"StackName": Field(STRING, required=True)}
_ANY_STACK: Fields = {"StackName": Field(STRING)}
_RESOURCE: Fields = {**_STACK, "LogicalResourceId": Field(STRING, required=True)}
_NEXT: Fields = {"NextToken": Field(STRING)}
_REPEATABLE: Fields = {"ClientRequestToken": Field(_TOKEN_FORM)}
_TEMPLATE: Fields = {"TemplateBody": Field(STRING), "TemplateURL": Field(STRING, aliases=("TemplateUrl",))}
_POLICY: Fields = {"StackPolicyBody": Field(STRING), "StackPolicyURL": Field(STRING)}
_POLICY_DURING_UPDATE: Fields = {
    "StackPolicyDuringUpdateBody": Field(STRING),
    "StackPolicyDuringUpdateURL": Field(STRING),
}
_NO_ROLE: Fields = {"RoleARN": refused("operations use the credentials of the calling user")}

_VALUES = ListOf(
    Structure(
        {
            "ParameterKey": Field(STRING, required=True),
            "ParameterValue": Field(STRING),
            "UsePreviousValue": Field(BOOLEAN),
        }
    )
)
_TAGS = ListOf(Structure({"Key": Field(STRING, required=True), "Value": Field(STRING, default="")}))

_NOTED: Fields = {
    "Tags": Field(_TAGS),
    "Capabilities": Field(ListOf(Choice(*CAPABILITIES))),
    "NotificationARNs": Field(STRINGS),
}
_CHECKED: Fields = {"DisableValidation": Field(BOOLEAN)}
_FAILURE: Fields = {
    "DisableRollback": Field(BOOLEAN),
    "OnFailure": Field(Choice("DO_NOTHING", "ROLLBACK", "DELETE")),
}
_AMAZON_ONLY: Fields = {
    **_NO_ROLE,
    "ResourceTypes": refused("policy rules `resource_types:*` define the resource types that a user can use"),
    "RollbackConfiguration": refused("there are no alarms that monitor updates"),
    "RetainExceptOnCreate": refused("deletion policies also apply to rollbacks"),
}


def _change_set_rule(values: Mapping[str, object]) -> str:
    is_new = values["ChangeSetType"] in ("CREATE", "IMPORT")
    return "cloudformation:CreateStack" if is_new else "cloudformation:UpdateStack"


_TO_IMPORT = ListOf(
    Structure(
        {
            "ResourceType": Field(STRING, required=True),
            "LogicalResourceId": Field(STRING, required=True),
            "ResourceIdentifier": Field(Entries(), required=True),
        }
    )
)

_LOCATION = Structure({"StackName": Field(STRING, required=True), "LogicalResourceId": Field(STRING, required=True)})
_REFACTOR: Fields = {"StackRefactorId": Field(STRING, required=True)}


def _refactor_rule(values: Mapping[str, object]) -> str:
    return "cloudformation:CreateStack" if values["EnableStackCreation"] else "cloudformation:UpdateStack"


_CHANGE_SET: Fields = {"ChangeSetName": Field(STRING, required=True), "StackName": Field(STRING)}

ACTIONS: Mapping[str, Action] = {
    # -- Heat's ----------------------------------------------------------------------------------------------------
    "CreateStack": Action(
        stacks.create,
        "cloudformation:CreateStack",
        {
            **_STACK,
            **_TEMPLATE,
            "Parameters": Field(_VALUES, default=()),
            "TimeoutInMinutes": Field(Integer(1, _MOST_MINUTES)),
            **_FAILURE,
            **_CHECKED,
            **_NOTED,
            "EnableTerminationProtection": Field(BOOLEAN),
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
            "UsePreviousTemplate": Field(BOOLEAN),
            "Parameters": Field(_VALUES, default=()),
            "TimeoutInMinutes": Field(Integer(1, _MOST_MINUTES)),
            **_FAILURE,
            **_CHECKED,
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
            "RetainResources": Field(STRINGS),
            "DeletionMode": Field(Choice("STANDARD", stacks.FORCE)),
        },
        takes_types=True,
    ),
    "DescribeStacks": Action(stacks.describe, "cloudformation:DescribeStacks", {**_ANY_STACK, **_NEXT}),
    "ListStacks": Action(
        stacks.list_stacks, "cloudformation:ListStacks", {"StackStatusFilter": Field(_STATUSES), **_NEXT}
    ),
    "GetTemplate": Action(
        resources.template,
        "cloudformation:GetTemplate",
        {**_ANY_STACK, "ChangeSetName": Field(STRING), "TemplateStage": Field(Choice("Original"))},
    ),
    "DescribeStackEvents": Action(resources.events, "cloudformation:DescribeStackEvents", {**_STACK, **_NEXT}),
    "DescribeEvents": Action(
        operation_events.describe,
        "cloudformation:DescribeStackEvents",
        {
            **_ANY_STACK,
            "ChangeSetName": Field(STRING),
            "OperationId": Field(STRING),
            "Filters": Field(Structure({"FailedEvents": Field(BOOLEAN)})),
            **_NEXT,
        },
    ),
    "DescribeStackResource": Action(
        resources.describe_one,
        "cloudformation:DescribeStackResource",
        _RESOURCE,
        undated=True,  # os-collect-config signs its requests without a time
    ),
    "DescribeStackResources": Action(
        resources.describe_all,
        "cloudformation:DescribeStackResources",
        {**_ANY_STACK, "PhysicalResourceId": Field(STRING), "LogicalResourceId": Field(STRING)},
    ),
    "ListStackResources": Action(resources.list_all, "cloudformation:ListStackResources", {**_STACK, **_NEXT}),
    "ValidateTemplate": Action(catalog.validate, "cloudformation:ValidateTemplate", _TEMPLATE, takes_types=True),
    "EstimateTemplateCost": Action(
        catalog.estimate,
        "cloudformation:EstimateTemplateCost",
        {**_TEMPLATE, "Parameters": Field(_VALUES, default=())},
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
            "ResourcesToSkip": Field(STRINGS),
        },
        takes_types=True,
    ),
    # -- change sets -----------------------------------------------------------------------------------------------
    "CreateChangeSet": Action(
        change_sets.create,
        _change_set_rule,
        {
            **_STACK,
            "ChangeSetName": Field(STRING, required=True),
            "ChangeSetType": Field(Choice("CREATE", "UPDATE", "IMPORT")),
            "Description": Field(STRING),
            **_TEMPLATE,
            "UsePreviousTemplate": Field(BOOLEAN),
            "Parameters": Field(_VALUES, default=()),
            "OnFailure": replace(_FAILURE["OnFailure"], aliases=("OnStackFailure",)),
            **_CHECKED,
            **_NOTED,
            "ClientRequestToken": Field(_TOKEN_FORM, aliases=("ClientToken",)),
            **_AMAZON_ONLY,
            "IncludeNestedStacks": Field(BOOLEAN),
            "ResourcesToImport": Field(_TO_IMPORT, default=()),
            "ImportExistingResources": Field(BOOLEAN),
            "DeploymentMode": Field(Choice(REVERT_DRIFT)),
        },
        takes_types=True,
    ),
    "DescribeChangeSet": Action(
        change_sets.describe,
        "cloudformation:DescribeStacks",
        {**_CHANGE_SET, **_NEXT, "IncludePropertyValues": Field(BOOLEAN)},
    ),
    "ListChangeSets": Action(change_sets.list_all, "cloudformation:ListStacks", {**_STACK, **_NEXT}),
    "ExecuteChangeSet": Action(
        change_sets.execute,
        "cloudformation:UpdateStack",
        {
            **_CHANGE_SET,
            **_REPEATABLE,
            "DisableRollback": Field(BOOLEAN),
            "RetainExceptOnCreate": _AMAZON_ONLY["RetainExceptOnCreate"],
        },
        takes_types=True,
    ),
    "DeleteChangeSet": Action(change_sets.delete, "cloudformation:UpdateStack", _CHANGE_SET),
    # -- results of policies ---------------------------------------------------------------------------------------
    "DescribeChangeSetHooks": Action(
        hooks.of_change_set_hooks,
        "cloudformation:DescribeStacks",
        {**_CHANGE_SET, "LogicalResourceId": Field(STRING), **_NEXT},
    ),
    "ListHookResults": Action(
        hooks.list_results,
        "cloudformation:DescribeStackEvents",
        {
            "TargetType": Field(Choice(*hooks.TARGETS)),
            "TargetId": Field(STRING),
            "TypeArn": Field(STRING),
            "Status": Field(Choice(*hooks.STATUSES)),
            **_NEXT,
        },
    ),
    "GetHookResult": Action(
        hooks.get_result, "cloudformation:DescribeStackEvents", {"HookResultId": Field(STRING, required=True)}
    ),
    # -- refactorings ----------------------------------------------------------------------------------------------
    "CreateStackRefactor": Action(
        refactors.create,
        _refactor_rule,
        {
            "Description": Field(STRING),
            "EnableStackCreation": Field(BOOLEAN),
            "ResourceMappings": Field(
                ListOf(
                    Structure(
                        {"Source": Field(_LOCATION, required=True), "Destination": Field(_LOCATION, required=True)}
                    )
                ),
                default=(),
            ),
            "StackDefinitions": Field(ListOf(Structure({**_STACK, **_TEMPLATE})), required=True),
        },
        takes_types=True,
    ),
    "DescribeStackRefactor": Action(refactors.describe, "cloudformation:DescribeStacks", _REFACTOR),
    "ListStackRefactorActions": Action(
        refactors.list_actions,
        "cloudformation:DescribeStacks",
        {**_REFACTOR, "MaxResults": Field(Integer(1, PAGE)), **_NEXT},
    ),
    "ExecuteStackRefactor": Action(refactors.execute, "cloudformation:UpdateStack", _REFACTOR, takes_types=True),
    "ListStackRefactors": Action(
        refactors.list_all,
        "cloudformation:ListStacks",
        {
            "ExecutionStatusFilter": Field(ListOf(Choice(*refactors.EXECUTION_STATUSES))),
            "MaxResults": Field(Integer(1, PAGE)),
            **_NEXT,
        },
    ),
    # -- templates, exports, types ---------------------------------------------------------------------------------
    "GetTemplateSummary": Action(
        catalog.summary,
        "cloudformation:ValidateTemplate",
        {**_ANY_STACK, **_TEMPLATE},
        takes_types=True,
    ),
    "ListExports": Action(catalog.exports, "cloudformation:ListStacks", _NEXT),
    "ListImports": Action(
        catalog.imports, "cloudformation:ListStacks", {"ExportName": Field(STRING, required=True), **_NEXT}
    ),
    "DescribeAccountLimits": Action(catalog.limits, "cloudformation:ListStacks", _NEXT),
    "ListTypes": Action(
        catalog.list_types,
        "stacks:list_resource_types",
        {
            "Visibility": Field(Choice("PUBLIC", "PRIVATE")),
            "Type": Field(Choice("RESOURCE")),
            "DeprecatedStatus": Field(Choice("LIVE", "DEPRECATED")),
            "ProvisioningType": refused("types are not distinguished by it"),
            "Filters": Field(
                Structure({"TypeNamePrefix": Field(STRING), "Category": refused("types have no category")})
            ),
            "MaxResults": Field(Integer(1, PAGE)),
            **_NEXT,
        },
        takes_types=True,
    ),
    "DescribeType": Action(
        catalog.describe_type,
        "stacks:resource_schema",
        {
            "Type": Field(Choice("RESOURCE")),
            "TypeName": Field(STRING),
            "Arn": Field(STRING),
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
        {**_STACK, "EnableTerminationProtection": Field(BOOLEAN, required=True)},
    ),
    "SignalResource": Action(
        resources.signal,
        "resource:signal",
        {
            **_RESOURCE,
            "UniqueId": Field(STRING, required=True),
            "Status": Field(Choice("SUCCESS", "FAILURE"), required=True),
        },
    ),
    # -- drift -----------------------------------------------------------------------------------------------------
    "DetectStackDrift": Action(drift.detect, "actions:check", {**_STACK, "LogicalResourceIds": Field(STRINGS)}),
    "DetectStackResourceDrift": Action(drift.detect_resource, "actions:check", _RESOURCE),
    "DescribeStackDriftDetectionStatus": Action(
        drift.describe_detection, "actions:check", {"StackDriftDetectionId": Field(STRING, required=True)}
    ),
    "DescribeStackResourceDrifts": Action(
        drift.describe_resources,
        "actions:check",
        {
            **_STACK,
            "StackResourceDriftStatusFilters": Field(ListOf(Choice(*drift.STATUSES))),
            "MaxResults": Field(Integer(1, PAGE)),
            **_NEXT,
        },
    ),
    # -- existing objects ------------------------------------------------------------------------------------------
    **generation_actions.ACTIONS,
}
