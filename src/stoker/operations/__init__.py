"""The operations of the service: one coroutine per request, shared by the REST API and the Query API.

Each takes the engine, the caller's context and a request of `stoker.contract`, and returns JSON. `OPERATIONS` is the
table from the method of a request to the function that implements it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from stoker.base.budget import Budget, opened
from stoker.base.context import RequestContext
from stoker.contract.request import Operation
from stoker.contract.resources import MarkResourceUnhealthy, SignalResource
from stoker.engine.core import Engine
from stoker.operations import (
    abandoning,
    actions,
    catalog,
    change_sets,
    configs,
    containers,
    deployments,
    describing,
    drift,
    feed,
    history,
    inspection,
    listing,
    previews,
    repeating,
    settings,
    signals,
    snapshots,
    stacks,
)
from stoker.operations.routing import at_owner


def _within_budget(operation: Operation[Engine]) -> Operation[Engine]:
    """Make all work for one request share a budget."""

    async def run(engine: Engine, context: RequestContext, request: Any) -> Any:
        with opened(Budget(engine.loader.limits.allowed)):
            return await operation.run(engine, context, request)

    return replace(operation, run=run)


def _untyped(method: str, function: Callable[..., Awaitable[Any]]) -> Operation[Engine]:
    async def run(engine: Engine, context: RequestContext, arguments: Mapping[str, Any]) -> Any:
        return await function(engine, context, **arguments)

    return Operation(method, dict, run)


_TYPED: tuple[Operation[Engine], ...] = (
    SignalResource.served_by(at_owner(signals.resource_signal)),
    MarkResourceUnhealthy.served_by(at_owner(signals.resource_mark_unhealthy)),
)

_UNTYPED: Mapping[str, Callable[..., Awaitable[Any]]] = {
    "stack_identify": stacks.stack_identify,
    "container_files": containers.container_files,
    "stack_create": stacks.stack_create,
    "stack_preview": previews.stack_preview,
    "stack_update": stacks.stack_update,
    "stack_patch": stacks.stack_patch,
    "stack_update_preview": previews.stack_update_preview,
    "stack_patch_preview": previews.stack_patch_preview,
    "stack_delete": stacks.stack_delete,
    "stack_show": stacks.stack_show,
    "stack_list": listing.stack_list,
    "stack_action": actions.stack_action,
    "stack_template": inspection.stack_template,
    "stack_environment": inspection.stack_environment,
    "stack_files": inspection.stack_files,
    "output_list": inspection.output_list,
    "output_show": inspection.output_show,
    "resource_list": inspection.resource_list,
    "resource_show": inspection.resource_show,
    "resource_metadata": inspection.resource_metadata,
    "event_list": inspection.event_list,
    "event_show": inspection.event_show,
    "event_news": feed.event_news,
    "operation_list": history.operation_list,
    "operation_show": history.operation_show,
    "validate_template": catalog.validate_template,
    "resource_type_list": catalog.resource_type_list,
    "resource_type_show": catalog.resource_type_show,
    "resource_type_template": catalog.resource_type_template,
    "template_version_list": catalog.template_version_list,
    "template_function_list": catalog.template_function_list,
    "service_list": catalog.service_list,
    "build_info": catalog.build_info,
    "stack_create_laid_down": change_sets.create_laid_down,
    "stack_patch_changes": change_sets.stack_patch_changes,
    "stack_settings_show": settings.stack_settings_show,
    "stack_settings_change": settings.stack_settings_change,
    "stack_to_be": change_sets.stack_to_be,
    "stack_to_be_forget": change_sets.stack_to_be_forget,
    "stack_of_object": describing.stack_of_object,
    "change_set_create": change_sets.change_set_create,
    "change_set_show": change_sets.change_set_show,
    "change_set_list": change_sets.change_set_list,
    "change_set_execute": change_sets.change_set_execute,
    "change_set_delete": change_sets.change_set_delete,
    "resource_describe": inspection.resource_describe,
    "event_page": describing.event_page,
    "stack_describe": describing.stack_describe,
    "stack_describe_page": describing.stack_describe_page,
    "drift_detect": drift.drift_detect,
    "drift_detect_resource": drift.drift_detect_resource,
    "drift_status": drift.drift_status,
    "drift_list": drift.drift_list,
    "export_list": describing.export_list,
    "import_list": describing.import_list,
    "template_summary": describing.template_summary,
    "request_token_claim": repeating.request_token_claim,
    "request_token_settle": repeating.request_token_settle,
    "request_token_release": repeating.request_token_release,
    "software_config_list": configs.software_config_list,
    "software_config_create": configs.software_config_create,
    "software_config_show": configs.software_config_show,
    "software_config_delete": configs.software_config_delete,
    "software_deployment_list": deployments.software_deployment_list,
    "software_deployment_create": deployments.software_deployment_create,
    "software_deployment_show": deployments.software_deployment_show,
    "software_deployment_update": deployments.software_deployment_update,
    "software_deployment_delete": deployments.software_deployment_delete,
    "software_deployment_metadata": deployments.software_deployment_metadata,
    "snapshot_create": snapshots.snapshot_create,
    "snapshot_list": snapshots.snapshot_list,
    "snapshot_show": snapshots.snapshot_show,
    "snapshot_delete": snapshots.snapshot_delete,
    "snapshot_restore": snapshots.snapshot_restore,
    "stack_abandon": abandoning.stack_abandon,
    "stack_export": abandoning.stack_export,
}

OPERATIONS: Mapping[str, Operation[Engine]] = {
    operation.method: _within_budget(operation)
    for operation in (*_TYPED, *(_untyped(name, function) for name, function in _UNTYPED.items()))
}
