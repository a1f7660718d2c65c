"""The default policy rules of Heat's API, as data. `policy.yaml` can override each of them.

A rule is the check for a caller; `deprecated` is the older rule that is also sufficient if the operator has set
`[oslo_policy] enforce_new_defaults = false`. The target of every check is the project in the URL.
"""

from __future__ import annotations

from dataclasses import dataclass

PROJECT_ADMIN = "role:admin and project_id:%(project_id)s"
PROJECT_MANAGER = "(role:manager or role:admin) and project_id:%(project_id)s"
PROJECT_MEMBER = "role:member and project_id:%(project_id)s"
PROJECT_READER = "role:reader and project_id:%(project_id)s"
PROJECT_READER_OR_STACK_USER = (
    "(role:reader and project_id:%(project_id)s) or (role:heat_stack_user and project_id:%(project_id)s)"
)

CONTEXT_IS_ADMIN = "rule:context_is_admin"
DENY_STACK_USER = "rule:deny_stack_user"
ALLOW_EVERYBODY = "rule:allow_everybody"
DENY_EVERYBODY = "rule:deny_everybody"
ADMIN_ROLE = "rule:project_admin"

DEPRECATED_SINCE = "W"
"""The release that replaced the older rules."""


@dataclass(frozen=True)
class RuleSet:
    """Rules that share a check. `scoped` rules accept only project-scoped tokens."""

    names: tuple[str, ...]
    check: str
    deprecated: str | None = None
    scoped: bool = True


RULE_SETS: tuple[RuleSet, ...] = (
    RuleSet(
        ("allow_everybody",),
        "",
        scoped=False,
    ),
    RuleSet(
        ("context_is_admin",),
        "(role:admin and is_admin_project:True)",
        scoped=False,
    ),
    RuleSet(
        ("deny_everybody",),
        "!",
        scoped=False,
    ),
    RuleSet(
        ("deny_stack_user",),
        "not role:heat_stack_user",
        scoped=False,
    ),
    RuleSet(
        ("project_admin",),
        "role:admin",
        scoped=False,
    ),
    RuleSet(
        (
            "change_requests:break_glass",
            "stacks:update_change_control",
            "stacks:update_plan_policies",
        ),
        PROJECT_MANAGER,
    ),
    RuleSet(
        (
            "actions:accept_drift",
            "actions:action",
            "actions:cancel_update",
            "actions:cancel_without_rollback",
            "actions:resume",
            "actions:retry",
            "actions:rollback",
            "actions:snapshot",
            "actions:suspend",
            "change_requests:judge",
            "cloudformation:CancelUpdateStack",
            "cloudformation:CreateStack",
            "cloudformation:DeleteStack",
            "cloudformation:UpdateStack",
            "refactors:create",
            "refactors:create_stacks",
            "refactors:execute",
            "resource:mark_unhealthy",
            "software_configs:create",
            "software_configs:delete",
            "software_deployments:create",
            "software_deployments:delete",
            "software_deployments:update",
            "stacks:abandon",
            "stacks:create",
            "stacks:delete",
            "stacks:delete_snapshot",
            "stacks:export",
            "stacks:generate_template",
            "stacks:lock",
            "stacks:preview_update",
            "stacks:preview_update_patch",
            "stacks:restore_snapshot",
            "stacks:snapshot",
            "stacks:unlock",
            "stacks:update",
            "stacks:update_patch",
            "stacks:update_settings",
            "stacks:validate_template",
        ),
        PROJECT_MEMBER,
        deprecated=DENY_STACK_USER,
    ),
    RuleSet(
        (
            "actions:check",
            "build_info:build_info",
            "change_requests:index",
            "change_requests:show",
            "cloudformation:DescribeStackEvents",
            "cloudformation:DescribeStackResources",
            "cloudformation:DescribeStacks",
            "cloudformation:EstimateTemplateCost",
            "cloudformation:GetTemplate",
            "cloudformation:ListStackResources",
            "cloudformation:ListStacks",
            "cloudformation:ValidateTemplate",
            "events:index",
            "events:show",
            "permissions:index",
            "refactors:index",
            "refactors:list_actions",
            "refactors:show",
            "resource:find",
            "resource:generate",
            "resource:index",
            "resource:orphans",
            "resource:show",
            "software_configs:index",
            "software_configs:show",
            "software_deployments:index",
            "software_deployments:show",
            "stacks:detail",
            "stacks:drift",
            "stacks:environment",
            "stacks:exports",
            "stacks:files",
            "stacks:index",
            "stacks:list_operations",
            "stacks:list_outputs",
            "stacks:list_resource_types",
            "stacks:list_snapshots",
            "stacks:list_template_functions",
            "stacks:list_template_versions",
            "stacks:preview",
            "stacks:resource_schema",
            "stacks:show",
            "stacks:show_change_control",
            "stacks:show_plan_policies",
            "stacks:show_operation",
            "stacks:show_output",
            "stacks:show_settings",
            "stacks:show_snapshot",
            "stacks:template",
        ),
        PROJECT_READER,
        deprecated=DENY_STACK_USER,
    ),
    RuleSet(
        (
            "cloudformation:DescribeStackResource",
            "resource:metadata",
            "resource:signal",
            "stacks:lookup",
        ),
        PROJECT_READER_OR_STACK_USER,
        deprecated=ALLOW_EVERYBODY,
    ),
    RuleSet(
        (
            "resource_types:OS::Blazar::Host",
            "resource_types:OS::Cinder::EncryptedVolumeType",
            "resource_types:OS::Cinder::QoSAssociation",
            "resource_types:OS::Cinder::QoSSpecs",
            "resource_types:OS::Cinder::Quota",
            "resource_types:OS::Cinder::VolumeType",
            "resource_types:OS::Keystone::*",
            "resource_types:OS::Manila::ShareType",
            "resource_types:OS::Neutron::ProviderNet",
            "resource_types:OS::Neutron::QoSBandwidthLimitRule",
            "resource_types:OS::Neutron::QoSDscpMarkingRule",
            "resource_types:OS::Neutron::QoSMinimumBandwidthRule",
            "resource_types:OS::Neutron::QoSMinimumPacketRateRule",
            "resource_types:OS::Neutron::QoSPolicy",
            "resource_types:OS::Neutron::Quota",
            "resource_types:OS::Neutron::Segment",
            "resource_types:OS::Nova::Flavor",
            "resource_types:OS::Nova::HostAggregate",
            "resource_types:OS::Nova::Quota",
            "resource_types:OS::Octavia::AvailabilityZone",
            "resource_types:OS::Octavia::AvailabilityZoneProfile",
            "resource_types:OS::Octavia::Flavor",
            "resource_types:OS::Octavia::FlavorProfile",
            "resource_types:OS::Octavia::Quota",
        ),
        ADMIN_ROLE,
    ),
    RuleSet(
        ("service:index",),
        PROJECT_ADMIN,
        deprecated=CONTEXT_IS_ADMIN,
    ),
    RuleSet(
        (
            "software_configs:global_index",
            "stacks:global_index",
        ),
        DENY_EVERYBODY,
        scoped=False,
    ),
    RuleSet(
        ("software_deployments:metadata",),
        PROJECT_READER_OR_STACK_USER,
    ),
    RuleSet(
        ("stacks:update_no_change",),
        "rule:stacks:update_patch",
    ),
)

REQUEST_RULES: tuple[str, ...] = tuple(
    sorted(
        name for rules in RULE_SETS for name in rules.names if ":" in name and not name.startswith("resource_types:")
    )
)
"""The rules that permit requests, as opposed to those that other rules refer to, and those of resource types."""
