"""Every route of the API: below `/v1/{project_id}`, path → method → action.

A row has the handler, the policy rule, the query, the body, and the status of success (200 by default). Routes and
rules are those of the OpenStack Orchestration API reference; extensions are listed in docs/explanation/differences.md.
"""

from __future__ import annotations

from collections.abc import Mapping

from stoker.api.requests import Query
from stoker.api.v1 import (
    approvals,
    catalog,
    generating,
    operations,
    plan_policies,
    refactors,
    resources,
    settings,
    software,
    stacks,
)
from stoker.api.v1 import stack_body as body
from stoker.api.v1.call import Action
from stoker.contract.stacks import AbandonStack, ExportStack, OfDefinition, ShowEnvironment, ShowFiles, ShowTemplate

_STACK = "/stacks/{stack_name}/{stack_id}"
_RESOURCE = _STACK + "/resources/{resource_name}"
_NO_QUERY = Query(strict=True)


def _lookup(tail: str = "", named: str | None = None) -> Action:
    return Action(stacks.redirect(tail, named), "stacks:lookup", 302)


def _lookups(*methods: str, named: str | None = None) -> dict[str, Action]:
    return {method: _lookup(named=named) for method in methods}


def _definition(kind: type[OfDefinition[object]], rule: str) -> Action:
    return Action(stacks.of_definition(kind), rule, query=stacks.DEFINITION_QUERY)


ROUTES: Mapping[str, Mapping[str, Action]] = {
    "/build_info": {"GET": Action(catalog.build_info, "build_info:build_info")},
    "/permissions": {"GET": Action(catalog.list_permissions, "permissions:index")},
    "/services": {"GET": Action(catalog.list_services, "service:index")},
    "/validate": {
        "POST": Action(
            catalog.validate_template,
            "stacks:validate_template",
            query=catalog.VALIDATE_QUERY,
            body=body.VALIDATE,
            takes_types=True,
        ),
    },
    # Catalog of templates
    "/template_versions": {"GET": Action(catalog.list_template_versions, "stacks:list_template_versions")},
    "/template_versions/{template_version}/functions": {
        "GET": Action(catalog.list_template_functions, "stacks:list_template_functions", query=catalog.FUNCTIONS_QUERY),
    },
    "/resource_types": {
        "GET": Action(
            catalog.list_resource_types, "stacks:list_resource_types", query=catalog.TYPES_QUERY, takes_types=True
        ),
    },
    "/resource_types/{type_name}": {
        "GET": Action(catalog.resource_schema, "stacks:resource_schema", takes_types=True),
    },
    "/resource_types/{type_name}/template": {
        "GET": Action(
            catalog.generate_template, "stacks:generate_template", query=catalog.TYPE_TEMPLATE_QUERY, takes_types=True
        ),
    },
    # Stacks
    "/stacks": {
        "GET": Action(stacks.index, "stacks:index", query=stacks.INDEX_QUERY, shared=True),
        "POST": Action(stacks.create, "stacks:create", 201, body=body.CREATE, takes_types=True),
    },
    "/stacks/detail": {
        "GET": Action(stacks.detail, "stacks:detail", query=stacks.INDEX_QUERY, shared=True),
        **_lookups("POST", "PUT", "PATCH", "DELETE", named="detail"),
    },
    "/stacks/preview": {
        "POST": Action(stacks.preview, "stacks:preview", body=body.PREVIEW, takes_types=True),
        **_lookups("GET", "PUT", "PATCH", "DELETE", named="preview"),
    },
    # Values that stacks share
    "/exports": {"GET": Action(stacks.list_exports, "stacks:exports")},
    # Resources of all stacks
    "/resources": {"GET": Action(resources.find, "resource:find", query=resources.FIND_QUERY)},
    # Objects of the project
    "/orphans": {"GET": Action(resources.orphans, "resource:orphans", query=_NO_QUERY)},
    "/generated_template": {
        "GET": Action(generating.generate, "resource:generate", query=generating.QUERY, takes_types=True),
    },
    "/generated_template/resource_types": {
        "GET": Action(generating.list_types, "resource:generate", takes_types=True),
    },
    # Resources that are moved between stacks
    "/refactors": {
        "GET": Action(refactors.index, "refactors:index", query=_NO_QUERY),
        "POST": Action(refactors.create, refactors.create_rule, 201, body=refactors.CREATE_BODY, takes_types=True),
    },
    "/refactors/{refactor_id}": {"GET": Action(refactors.show, "refactors:show")},
    "/refactors/{refactor_id}/actions": {"GET": Action(refactors.list_actions, "refactors:list_actions")},
    "/refactors/{refactor_id}/execute": {
        "POST": Action(refactors.execute, "refactors:execute", takes_types=True),
    },
    # Changes that wait for approval, and what changes need
    "/change_requests": {"GET": Action(approvals.index, "change_requests:index", query=approvals.INDEX_QUERY)},
    "/change_requests/{request_id}": {"GET": Action(approvals.show, "change_requests:show")},
    "/change_requests/{request_id}/approval": {
        "PUT": Action(approvals.review, "change_requests:judge", body=approvals.REVIEW_BODY),
    },
    "/change_requests/{request_id}/break_glass": {
        "POST": Action(approvals.break_glass, "change_requests:break_glass", body=approvals.REASON_BODY),
    },
    "/change_control": {
        "GET": Action(approvals.show_control, "stacks:show_change_control"),
        "PUT": Action(approvals.set_control, "stacks:update_change_control", body=approvals.CONTROL_BODY),
        "DELETE": Action(approvals.delete_control, "stacks:update_change_control"),
    },
    "/plan_policies": {
        "GET": Action(plan_policies.show, "stacks:show_plan_policies"),
        "PUT": Action(plan_policies.update, "stacks:update_plan_policies", body=plan_policies.BODY),
        "DELETE": Action(plan_policies.delete, "stacks:update_plan_policies"),
    },
    # Redirects from a name, an ID or an ARN to the stack
    "/stacks/{stack_name}": _lookups("GET", "POST", "PUT", "PATCH", "DELETE"),
    "/stacks/{stack_name}/resources": {"GET": _lookup("/resources"), "POST": _lookup("/resources")},
    "/stacks/{stack_name}/events": {"GET": _lookup("/events"), "POST": _lookup("/events")},
    "/stacks/{stack_name}/template": {"GET": _lookup("/template"), "POST": _lookup("/template")},
    "/stacks/{stack_name}/actions": {"GET": _lookup("/actions"), "POST": _lookup("/actions")},
    "/stacks/{stack_name}/environment": {"GET": _lookup("/environment")},
    "/stacks/{stack_name}/files": {"GET": _lookup("/files")},
    # One stack
    _STACK: {
        "GET": Action(stacks.show, "stacks:show", query=stacks.SHOW_QUERY),
        "PUT": Action(stacks.update, "stacks:update", 202, body=body.UPDATE, takes_types=True),
        "PATCH": Action(stacks.update_patch, body.patch_rule, 202, body=body.PATCH, takes_types=True),
        "DELETE": Action(stacks.delete, "stacks:delete", 204, query=stacks.DELETE_QUERY, takes_types=True),
    },
    f"{_STACK}/preview": {
        "PUT": Action(
            stacks.preview_update,
            "stacks:preview_update",
            query=stacks.PREVIEW_QUERY,
            body=body.PREVIEW_UPDATE,
            takes_types=True,
        ),
        "PATCH": Action(
            stacks.preview_update_patch,
            "stacks:preview_update_patch",
            query=stacks.PREVIEW_QUERY,
            body=body.PATCH,
            takes_types=True,
        ),
        "DELETE": Action(stacks.preview_delete, "stacks:delete", query=stacks.PREVIEW_DELETE_QUERY, takes_types=True),
    },
    f"{_STACK}/actions": {
        "POST": Action(stacks.act, stacks.action_rule, body=stacks.ACTION_BODY, takes_types=True),
    },
    f"{_STACK}/actions/preview": {
        "POST": Action(stacks.preview_act, stacks.action_rule, body=stacks.ACTION_BODY, takes_types=True),
    },
    f"{_STACK}/drift": {"GET": Action(stacks.drift, "stacks:drift", query=stacks.DRIFT_QUERY, takes_types=True)},
    f"{_STACK}/drift/detections": {"POST": Action(stacks.detect_drift, "stacks:drift", 201)},
    f"{_STACK}/drift/detections/{{detection_id}}": {"GET": Action(stacks.show_detection, "stacks:drift")},
    f"{_STACK}/settings": {"GET": Action(settings.show, "stacks:show_settings")},
    f"{_STACK}/settings/lock": {
        "PUT": Action(settings.lock, "stacks:lock", body=settings.LOCK_BODY),
        "DELETE": Action(settings.unlock, "stacks:unlock", 204),
    },
    f"{_STACK}/settings/policy": {
        "PUT": Action(settings.set_policy, "stacks:update_settings", 204, body=settings.POLICY_BODY),
        "DELETE": Action(settings.delete_policy, "stacks:update_settings", 204),
    },
    f"{_STACK}/settings/protection": {
        "PUT": Action(settings.protect, "stacks:update_settings", 204),
        "DELETE": Action(settings.unprotect, "stacks:update_settings", 204),
    },
    f"{_STACK}/settings/change_control": {
        "GET": Action(approvals.show_control, "stacks:show_change_control"),
        "PUT": Action(approvals.set_control, "stacks:update_change_control", body=approvals.CONTROL_BODY),
        "DELETE": Action(approvals.delete_control, "stacks:update_change_control"),
    },
    f"{_STACK}/settings/plan_policies": {
        "GET": Action(plan_policies.show, "stacks:show_plan_policies"),
        "PUT": Action(plan_policies.update, "stacks:update_plan_policies", body=plan_policies.BODY),
        "DELETE": Action(plan_policies.delete, "stacks:update_plan_policies"),
    },
    f"{_STACK}/drift/watch": {
        "GET": Action(stacks.show_drift_watch, "stacks:drift"),
        "PATCH": Action(stacks.change_drift_watch, "stacks:update_patch", body=stacks.DRIFT_WATCH_BODY),
    },
    f"{_STACK}/template": {"GET": _definition(ShowTemplate, "stacks:template")},
    f"{_STACK}/environment": {"GET": _definition(ShowEnvironment, "stacks:environment")},
    f"{_STACK}/files": {"GET": _definition(ShowFiles, "stacks:files")},
    f"{_STACK}/export": {"GET": Action(stacks.plain(ExportStack), "stacks:export")},
    f"{_STACK}/abandon": {"DELETE": Action(stacks.plain(AbandonStack), "stacks:abandon")},
    f"{_STACK}/outputs": {"GET": Action(stacks.list_outputs, "stacks:list_outputs")},
    f"{_STACK}/outputs/{{output_key}}": {"GET": Action(stacks.show_output, "stacks:show_output")},
    f"{_STACK}/snapshots": {
        "GET": Action(stacks.list_snapshots, "stacks:list_snapshots"),
        "POST": Action(stacks.create_snapshot, "stacks:snapshot", body=stacks.SNAPSHOT_BODY),
    },
    f"{_STACK}/snapshots/{{snapshot_id}}": {
        "GET": Action(stacks.show_snapshot, "stacks:show_snapshot"),
        "DELETE": Action(stacks.delete_snapshot, "stacks:delete_snapshot", 204),
    },
    f"{_STACK}/snapshots/{{snapshot_id}}/restore": {
        "POST": Action(
            stacks.restore_snapshot, "stacks:restore_snapshot", 202, body=stacks.RESTORE_BODY, takes_types=True
        ),
    },
    f"{_STACK}/snapshots/{{snapshot_id}}/restore/preview": {
        "POST": Action(
            stacks.preview_restore, "stacks:restore_snapshot", body=stacks.PREVIEW_RESTORE_BODY, takes_types=True
        ),
    },
    # Its operations
    f"{_STACK}/operations": {
        "GET": Action(operations.index, "stacks:list_operations", query=operations.INDEX_QUERY),
    },
    f"{_STACK}/operations/{{operation_id}}": {"GET": Action(operations.show, "stacks:show_operation")},
    # Its resources and events
    f"{_STACK}/events": {
        "GET": Action(
            resources.events,
            "events:index",
            query=resources.EVENTS_QUERY,
            shared=True,
            as_stream=Action(resources.event_stream, "events:index", query=resources.STREAM_QUERY),
        ),
    },
    f"{_STACK}/resources": {
        "GET": Action(resources.index, "resource:index", query=resources.INDEX_QUERY, shared=True),
    },
    _RESOURCE: {
        "GET": Action(resources.show, "resource:show", query=resources.SHOW_QUERY),
        "PATCH": Action(resources.mark_unhealthy, "resource:mark_unhealthy", body=resources.MARK_UNHEALTHY_BODY),
    },
    f"{_RESOURCE}/metadata": {"GET": Action(resources.metadata, "resource:metadata")},
    f"{_RESOURCE}/signal": {"POST": Action(resources.signal, "resource:signal", body=resources.SIGNAL_BODY)},
    f"{_RESOURCE}/events": {"GET": Action(resources.events, "events:index", query=resources.EVENTS_QUERY, shared=True)},
    f"{_RESOURCE}/events/{{event_id}}": {"GET": Action(resources.show_event, "events:show")},
    # Software on servers
    "/software_configs": {
        "GET": Action(software.list_configs, "software_configs:index", query=software.CONFIGS_QUERY),
        "POST": Action(software.create_config, "software_configs:create", body=software.CONFIG_BODY),
    },
    "/software_configs/{config_id}": {
        "GET": Action(software.show_config, "software_configs:show"),
        "DELETE": Action(software.delete_config, "software_configs:delete", 204),
    },
    "/software_deployments": {
        "GET": Action(software.list_deployments, "software_deployments:index", query=software.DEPLOYMENTS_QUERY),
        "POST": Action(software.create_deployment, "software_deployments:create", body=software.CREATE_DEPLOYMENT_BODY),
    },
    "/software_deployments/metadata/{server_id}": {
        "GET": Action(software.deployment_metadata, "software_deployments:metadata"),
    },
    "/software_deployments/{deployment_id}": {
        "GET": Action(software.show_deployment, "software_deployments:show"),
        "PUT": Action(software.update_deployment, "software_deployments:update", body=software.UPDATE_DEPLOYMENT_BODY),
        "DELETE": Action(software.delete_deployment, "software_deployments:delete", 204),
    },
}
