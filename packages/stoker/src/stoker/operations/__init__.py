"""The operations of the service: one coroutine per request, shared by the REST API and the Query API.

Each takes a part of the engine, the caller's context and a request of `stoker.contract`, and returns JSON. `OPERATIONS`
is the table from the method of a request to the function that implements it; only here the whole engine is known.
`READING` are those operations that record nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeVar

from stoker.base.budget import Budget, opened
from stoker.base.context import RequestContext
from stoker.contract.approvals import (
    BreakGlass,
    ChangeControl,
    ChangePlanPolicies,
    ListChangeRequests,
    ListPolicyResults,
    ReviewChangeRequest,
    ShowChangeRequest,
    ShowControl,
    ShowPlanPolicies,
    ShowPolicyResult,
)
from stoker.contract.catalog import (
    ClaimRequestToken,
    GenerateTemplate,
    GetContainerFiles,
    ListEngines,
    ListExports,
    ListImports,
    ListResourceTypes,
    ListTemplateFunctions,
    ListTemplateVersions,
    ReleaseRequestToken,
    SettleRequestToken,
    ShowBuildInfo,
    ShowResourceType,
)
from stoker.contract.change_sets import (
    CreateChangeSet,
    DeleteChangeSet,
    ExecuteChangeSet,
    ForgetFutureStack,
    ListChangeSets,
    ListFutureStacks,
    ShowChangeSet,
)
from stoker.contract.drift import (
    AcceptDrift,
    ChangeDriftWatch,
    DetectDrift,
    DetectResourceDrift,
    ListDrift,
    ShowDriftDetection,
    ShowDriftWatch,
)
from stoker.contract.events import (
    GetNewEvents,
    ListEvents,
    ListEventsInDetail,
    ListOperations,
    ShowEvent,
    ShowOperation,
)
from stoker.contract.finding import FindOrphans, FindResources
from stoker.contract.generated_templates import (
    CreateGeneratedTemplate,
    DeleteGeneratedTemplate,
    ListGeneratedTemplates,
    ShowGeneratedTemplate,
    UpdateGeneratedTemplate,
)
from stoker.contract.generating import GenerateFromProject, ListGeneratedTypes
from stoker.contract.operation_events import ListOperationEvents
from stoker.contract.previews import PreviewAction, PreviewPatch, PreviewStack, PreviewUpdate
from stoker.contract.refactoring import (
    CreateStackRefactor,
    ExecuteStackRefactor,
    ListStackRefactorActions,
    ListStackRefactors,
    ShowStackRefactor,
)
from stoker.contract.request import Operation
from stoker.contract.resource_scans import ListScannedObjects, ListScans, ShowScan, StartScan
from stoker.contract.resources import (
    DescribeResource,
    FindStackOfObject,
    ListResources,
    MarkResourceUnhealthy,
    ShowResource,
    ShowResourceMetadata,
    SignalResource,
)
from stoker.contract.snapshots import CreateSnapshot, DeleteSnapshot, ListSnapshots, RestoreSnapshot, ShowSnapshot
from stoker.contract.software import (
    CreateSoftwareConfig,
    CreateSoftwareDeployment,
    DeleteSoftwareConfig,
    DeleteSoftwareDeployment,
    ListSoftwareConfigs,
    ListSoftwareDeployments,
    ShowServerMetadata,
    ShowSoftwareConfig,
    ShowSoftwareDeployment,
    UpdateSoftwareDeployment,
)
from stoker.contract.stacks import (
    AbandonStack,
    ActOnStack,
    ChangeSettings,
    CheckForChanges,
    CreateStack,
    CreateStackWithSettings,
    DeleteStack,
    DescribeStack,
    DescribeStacks,
    ExportStack,
    IdentifyStack,
    ListOutputs,
    ListStacks,
    LockStack,
    PatchStack,
    ShowEnvironment,
    ShowFiles,
    ShowOutput,
    ShowSettings,
    ShowStack,
    ShowTemplate,
    SummarizeTemplate,
    UnlockStack,
    UpdateStack,
    ValidateTemplate,
)
from stoker.engine.calls.context import ActionComponents, RecordingComponents
from stoker.engine.core import Engine
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.operations import (
    action_previews,
    actions,
    approvals,
    catalog,
    change_set_lookup,
    change_sets,
    configs,
    containers,
    deployments,
    drift,
    drift_acceptance,
    drift_watch,
    feed,
    generated_templates,
    history,
    inspection,
    object_search,
    operation_events,
    orphans,
    policy_results,
    policy_settings,
    previews,
    query_api_views,
    refactoring,
    request_tokens,
    resource_scans,
    settings,
    signals,
    snapshots,
    stack_documents,
    stack_lists,
    stack_locks,
    stacks,
    template_generation,
    validation,
)
from stoker.operations.moved_resources import following, following_at_owner
from stoker.operations.routing import Owners, at_owner

Part = TypeVar("Part")


def _on(part: Callable[[Engine], Part], operations: Iterable[Operation[Part]]) -> Iterator[Operation[Engine]]:
    """Yield operations that take a part of the engine as operations of the engine; all work for a request shares a
    budget.
    """
    for operation in operations:
        yield Operation(operation.method, operation.decode, partial(_run, part, operation))


async def _run(
    part: Callable[[Engine], Part], operation: Operation[Part], whole: Engine, context: RequestContext, request: object
) -> object:
    services = whole.services
    with opened(Budget(services.loader.limits.allowed)):
        turn = f"requests of {context.project_id or context.user_id}"
        return await services.scheduler.run(turn, partial(operation.run, part(whole), context, request))


_ON_SUBMISSIONS: tuple[Operation[Submissions], ...] = (
    ExecuteStackRefactor.served_by(refactoring.stack_refactor_execute),
    CreateStack.served_by(stacks.stack_create),
    UpdateStack.served_by(stacks.stack_update),
    PatchStack.served_by(stacks.stack_patch),
    DeleteStack.served_by(stacks.stack_delete),
    ActOnStack.served_by(actions.stack_action),
    CreateStackWithSettings.served_by(change_sets.stack_create_with_settings),
    ExecuteChangeSet.served_by(change_sets.change_set_execute),
    CreateSnapshot.served_by(snapshots.snapshot_create),
    DeleteSnapshot.served_by(snapshots.snapshot_delete),
    RestoreSnapshot.served_by(snapshots.snapshot_restore),
    AbandonStack.served_by(stack_documents.stack_abandon),
)

_ON_OWNERS: tuple[Operation[Owners], ...] = (
    SignalResource.served_by(following_at_owner(signals.resource_signal)),
    MarkResourceUnhealthy.served_by(at_owner(signals.resource_mark_unhealthy)),
)

_PREVIEWING: tuple[Operation[ActionComponents], ...] = (
    PreviewStack.served_by(previews.stack_preview),
    PreviewUpdate.served_by(previews.stack_update_preview),
    PreviewPatch.served_by(previews.stack_patch_preview),
    PreviewAction.served_by(action_previews.stack_action_preview),
    CheckForChanges.served_by(change_sets.stack_patch_changes),
)

_ON_COMPONENTS: tuple[Operation[RecordingComponents], ...] = (
    ShowResource.served_by(following(inspection.resource_show)),
    ShowResourceMetadata.served_by(following(inspection.resource_metadata)),
    CreateChangeSet.served_by(change_sets.change_set_create),
    DescribeResource.served_by(following(inspection.resource_describe)),
    AcceptDrift.served_by(drift_acceptance.drift_accept),
    CreateStackRefactor.served_by(refactoring.stack_refactor_create),
    LockStack.served_by(stack_locks.stack_lock),
    UnlockStack.served_by(stack_locks.stack_unlock),
    ReviewChangeRequest.served_by(approvals.change_request_review),
    BreakGlass.served_by(approvals.change_request_break_glass),
    ChangeControl.served_by(approvals.change_control_change),
    ChangePlanPolicies.served_by(policy_settings.plan_policies_change),
    UpdateSoftwareDeployment.served_by(deployments.software_deployment_update),
    ShowServerMetadata.served_by(deployments.software_deployment_metadata),
)

_READING: tuple[Operation[EngineServices], ...] = (
    IdentifyStack.served_by(stacks.stack_identify),
    GetContainerFiles.served_by(containers.container_files),
    ShowStack.served_by(stacks.stack_show),
    ListStacks.served_by(stack_lists.stack_list),
    ShowTemplate.served_by(inspection.stack_template),
    ShowEnvironment.served_by(inspection.stack_environment),
    ShowFiles.served_by(inspection.stack_files),
    ListOutputs.served_by(inspection.output_list),
    ShowOutput.served_by(inspection.output_show),
    ListResources.served_by(inspection.resource_list),
    ListEvents.served_by(inspection.event_list),
    ShowEvent.served_by(inspection.event_show),
    GetNewEvents.served_by(feed.list_new_events),
    ListOperations.served_by(history.operation_list),
    ShowOperation.served_by(history.operation_show),
    ValidateTemplate.served_by(validation.validate_template),
    ListResourceTypes.served_by(catalog.resource_type_list),
    ShowResourceType.served_by(catalog.resource_type_show),
    GenerateTemplate.served_by(catalog.resource_type_template),
    ListTemplateVersions.served_by(catalog.template_version_list),
    ListTemplateFunctions.served_by(catalog.template_function_list),
    ListEngines.served_by(catalog.service_list),
    ShowBuildInfo.served_by(catalog.build_info),
    ShowSettings.served_by(settings.stack_settings_show),
    ListFutureStacks.served_by(change_set_lookup.stack_to_be),
    FindStackOfObject.served_by(query_api_views.stack_of_object),
    ShowChangeSet.served_by(change_set_lookup.change_set_show),
    ListChangeSets.served_by(change_set_lookup.change_set_list),
    ListEventsInDetail.served_by(query_api_views.event_page),
    ListOperationEvents.served_by(operation_events.operation_events),
    DescribeStack.served_by(query_api_views.stack_describe),
    DescribeStacks.served_by(query_api_views.stack_describe_page),
    FindResources.served_by(object_search.resource_find),
    FindOrphans.served_by(orphans.orphan_find),
    ShowScan.served_by(resource_scans.resource_scan_show),
    ListScans.served_by(resource_scans.resource_scan_list),
    ListScannedObjects.served_by(resource_scans.resource_scan_objects),
    ShowGeneratedTemplate.served_by(generated_templates.generated_template_show),
    ListGeneratedTemplates.served_by(generated_templates.generated_template_list),
    GenerateFromProject.served_by(template_generation.project_generate),
    ListGeneratedTypes.served_by(template_generation.generated_type_list),
    ListDrift.served_by(drift.drift_list),
    ShowDriftWatch.served_by(drift_watch.drift_watch_show),
    ShowStackRefactor.served_by(refactoring.stack_refactor_show),
    ListStackRefactors.served_by(refactoring.stack_refactor_list),
    ListStackRefactorActions.served_by(refactoring.stack_refactor_actions),
    ListChangeRequests.served_by(approvals.change_request_list),
    ShowChangeRequest.served_by(approvals.change_request_show),
    ShowControl.served_by(approvals.change_control_show),
    ShowPlanPolicies.served_by(policy_settings.plan_policies_show),
    ListPolicyResults.served_by(policy_results.policy_result_list),
    ShowPolicyResult.served_by(policy_results.policy_result_show),
    ListExports.served_by(query_api_views.export_list),
    ListImports.served_by(query_api_views.import_list),
    SummarizeTemplate.served_by(query_api_views.template_summary),
    ListSoftwareConfigs.served_by(configs.software_config_list),
    ShowSoftwareConfig.served_by(configs.software_config_show),
    ListSoftwareDeployments.served_by(deployments.software_deployment_list),
    ShowSoftwareDeployment.served_by(deployments.software_deployment_show),
    ListSnapshots.served_by(snapshots.snapshot_list),
    ShowSnapshot.served_by(snapshots.snapshot_show),
    ExportStack.served_by(stack_documents.stack_export),
)

_ON_SERVICES: tuple[Operation[RecordingServices], ...] = (
    ChangeSettings.served_by(settings.stack_settings_change),
    ForgetFutureStack.served_by(change_sets.stack_to_be_forget),
    DeleteChangeSet.served_by(change_sets.change_set_delete),
    DetectDrift.served_by(drift.drift_detect),
    DetectResourceDrift.served_by(drift.drift_detect_resource),
    StartScan.served_by(resource_scans.resource_scan_start),
    CreateGeneratedTemplate.served_by(generated_templates.generated_template_create),
    UpdateGeneratedTemplate.served_by(generated_templates.generated_template_update),
    DeleteGeneratedTemplate.served_by(generated_templates.generated_template_delete),
    ShowDriftDetection.served_by(drift.drift_status),
    ChangeDriftWatch.served_by(drift_watch.drift_watch_change),
    ClaimRequestToken.served_by(request_tokens.request_token_claim),
    SettleRequestToken.served_by(request_tokens.request_token_settle),
    ReleaseRequestToken.served_by(request_tokens.request_token_release),
    CreateSoftwareConfig.served_by(configs.software_config_create),
    DeleteSoftwareConfig.served_by(configs.software_config_delete),
    CreateSoftwareDeployment.served_by(deployments.software_deployment_create),
    DeleteSoftwareDeployment.served_by(deployments.software_deployment_delete),
)

READING: Mapping[str, Operation[Engine]] = {
    operation.method: operation
    for operation in (
        *_on(lambda engine: engine.submissions.components, _PREVIEWING),
        *_on(lambda engine: engine.services, _READING),
    )
}
"""Those that record nothing: the parts that they are given have no journal. They depend on nothing but the database and
the services of the cloud, so that a process beside an engine can carry them out, too.
"""

_RECORDING: Mapping[str, Operation[Engine]] = {
    operation.method: operation
    for operation in (
        *_on(lambda engine: engine.submissions, _ON_SUBMISSIONS),
        *_on(lambda engine: Owners(engine.submissions.components, engine.membership, engine.others), _ON_OWNERS),
        *_on(lambda engine: engine.submissions.components, _ON_COMPONENTS),
        *_on(lambda engine: engine.services, _ON_SERVICES),
    )
}

OPERATIONS: Mapping[str, Operation[Engine]] = {**READING, **_RECORDING}
