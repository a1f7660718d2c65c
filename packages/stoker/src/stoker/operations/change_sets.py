"""Change sets: creations or updates that are planned first, and executed later or never.

A change set contains the request and its plan. Executing it is an ordinary create or update with the same request; a
change of the stack in between makes it obsolete.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import (
    ActionInProgress,
    BadValue,
    Conflict,
    EntityNotFound,
    Invalid,
    StackExists,
    StokerError,
)
from stoker.base.ids import new_id
from stoker.contract.change_sets import (
    REVERT_DRIFT,
    ChangeSetIdentity,
    CreateChangeSet,
    DeleteChangeSet,
    ExecuteChangeSet,
    ForgetFutureStack,
)
from stoker.contract.request import Reference, by_name, received, sent
from stoker.contract.stacks import (
    CheckForChanges,
    CreateStackWithSettings,
    NewStack,
    PatchStack,
    Refresh,
    SettingsChange,
    StackInputs,
    StackPatch,
)
from stoker.contract.views import StackView
from stoker.engine.calls.context import ActionComponents, RecordingComponents
from stoker.engine.inspection.drift import is_unfinished, overall_of
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.plan_policies.policy import EnforcementLevel
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan
from stoker.engine.records.beginnings import written_policies
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.engine.redaction.stacks import secrets_ever
from stoker.engine.redaction.templates import redact_template
from stoker.operations.change_set_lookup import execution_of, find_change_set, identity_of, of_stack_to_be
from stoker.operations.change_set_values import ChangeSetValues, is_synchronized
from stoker.operations.existing_objects import existing_objects
from stoker.operations.lookup import find_stack, request_decision
from stoker.operations.planning import (
    Planned,
    TargetDefinition,
    check_exported_values,
    make_plan,
    plan_tree_with_values,
)
from stoker.operations.requests import CheckedRequest, check_tags, check_whole
from stoker.operations.settings import changed_settings, settings_of, settings_steps, settings_view
from stoker.operations.stacks import (
    create_stack,
    is_checked_first,
    patch_stack,
    patched_request,
    refresh_of,
    requested_stack,
)
from stoker.store import change_sets, queries
from stoker.store.journal import Batch, Statement
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, ResourceSummary, Stack, StackSettings
from stoker.store.survey_records import ChangeSet

LOG = logging.getLogger(__name__)

NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."
"""The reason of a change set without changes; clients search for these words."""

_ONLY_IMPORTS = "A change set of the type IMPORT imports objects as they are, and changes nothing."

_NAME = re.compile(r"[a-zA-Z][-a-zA-Z0-9]{0,127}")


# -- creation ------------------------------------------------------------------------------------------------------


async def change_set_create(
    components: RecordingComponents, context: RequestContext, request: CreateChangeSet
) -> ChangeSetIdentity:
    """Plan a new stack (`kind` CREATE) or a change of one (UPDATE), and store the plan under `name`.

    One of the kind IMPORT does either, and fails if anything but imports would be done. A change set without changes,
    or of which something is known to fail, is stored as failed. Raises the errors of stack_create and stack_patch, and
    StackExists if the stack has a change set with this name.
    """
    services = components.services
    name, kind, settings = request.name, request.kind, request.settings
    if not _NAME.fullmatch(name):
        raise BadValue(
            f"Invalid change set name {name!r}: it must start with a letter, contain only letters, digits and '-', "
            "and be at most 128 characters long."
        )
    stack = await _stack_of(services, context, request)
    request = _looking(request, stack)
    changed_settings(StackSettings(stack.id), settings)
    exists = await _exists(services, stack.id)
    planner = _planned_update if exists else _planned_create
    if request.import_existing:
        request = await _with_existing(components, context, stack, request, exists)
    planned, failures = await planner(components, context, stack, request)
    changed = planned["changed"]
    digest = planned.pop("digest")
    body = replace(request.body, plan_digest=digest) if request.deployment_mode == REVERT_DRIFT else request.body
    row = ChangeSet(
        id=new_id(),
        project_id=stack.project_id,
        name=name,
        kind=kind,
        stack_id=stack.id,
        stack_name=stack.name,
        description=request.description or "",
        status="CREATE_COMPLETE" if changed and not failures else FAILED,
        reason=failures if changed else NO_CHANGES,
        base=stack.operation,
        operation=None,
        body=services.sealer.seal({"body": sent(body), "settings": dict(settings), **planned}),
        created_at=services.clock.now(),
    )
    try:
        await services.journal.commit(Batch().add(row))
    except IntegrityError as error:
        raise StackExists(f"The stack {stack.name} already has a change set {name}.") from error
    return identity_of(row)


def _looking(request: CreateChangeSet, stack: Stack) -> CreateChangeSet:
    """Return the request with what is read of the cloud: what is executed later looks as its plan does.

    Raises BadValue, ActionInProgress.
    """
    refresh = Refresh.CHANGES
    if request.deployment_mode is not None:
        if request.deployment_mode != REVERT_DRIFT:
            raise BadValue(f"The deployment mode can only be {REVERT_DRIFT}, not {request.deployment_mode!r}.")
        if request.kind != "UPDATE":
            raise BadValue(f"{REVERT_DRIFT} is for change sets of the type UPDATE: there is no drift in a new stack.")
        if stack.status == IN_PROGRESS:
            raise ActionInProgress(
                f"Stack {stack.name} has an action ({stack.action}) in progress; its drift can be reverted when it has "
                "finished."
            )
        refresh = Refresh.ALL
    if not stack.inputs or request.body.refresh is not None:
        return request
    return replace(request, body=replace(request.body, refresh=refresh.value))


async def _with_existing(
    components: ActionComponents, context: RequestContext, stack: Stack, request: CreateChangeSet, exists: bool
) -> CreateChangeSet:
    """Return the request with imports of the objects that have the names of resources to create. Raises BadValue."""
    if request.kind == change_sets.IMPORT:
        raise BadValue("A change set of the type IMPORT names the objects that it imports.")
    checked = await (patched_request if exists else check_whole)(components, context, stack, request.body)
    plan = await make_plan(components.services, stack, checked, "UPDATE" if exists else "CREATE")
    imports = await existing_objects(components.services, context, plan)
    return replace(request, body=replace(request.body, environment={"imports": imports})) if imports else request


async def _stack_of(services: EngineServices, context: RequestContext, request: CreateChangeSet) -> Stack:
    """Return the stack to change; or the future one, with the id that earlier change sets reserved for it."""
    stack_name = request.stack_name
    is_present = await services.database.read(queries.stack_by_name, context.project_id, stack_name) is not None
    if request.kind == "UPDATE" or (request.kind == change_sets.IMPORT and is_present):
        stack = await find_stack(services, context, by_name(stack_name))
        request_decision("update", stack)
        return stack
    if is_present:
        raise StackExists(f"The Stack ({stack_name}) already exists.")
    earlier = await of_stack_to_be(services, context, stack_name)
    promised = earlier[0].stack_id if earlier else None
    name = earlier[0].stack_name if earlier else stack_name
    return requested_stack(services, context, name, request.body, promised)


async def _exists(services: EngineServices, stack_id: str) -> bool:
    return await services.database.read(queries.stack_by_id, stack_id) is not None


async def _planned_create(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    request: CreateChangeSet,
) -> tuple[dict[str, Any], str]:
    """Return what a change set stores, and what is known to fail, "" for nothing."""
    checked = await check_whole(components, context, stack, request.body)
    planned = await _plan(components.services, context, stack, checked, "CREATE", request)
    shown = await _planned(components.services, stack, checked, planned, request)
    stored = {**shown, "physical_ids": {}, "nested": request.nested, "changed": True}
    return stored, _failures(request, planned)


async def _planned_update(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    request: CreateChangeSet,
) -> tuple[dict[str, Any], str]:
    """Return the same as `_planned_create`."""
    services = components.services
    checked = await patched_request(components, context, stack, request.body)
    if checked.definition.exports():
        await check_exported_values(services, stack, checked)
    planned = await _plan(services, context, stack, checked, "UPDATE", request)
    steps = planned.plan.steps
    synchronizes = request.deployment_mode == REVERT_DRIFT and any(map(is_synchronized, steps))
    stored = {
        **await _planned(services, stack, checked, planned, request),
        "physical_ids": await _physical_ids(services, stack),
        "nested": request.nested,
        "changed": synchronizes
        or await _changes(components, context, stack, checked, planned.plan, request.body.tags, request.settings),
    }
    return stored, _failures(request, planned)


async def _plan(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    checked: CheckedRequest,
    action: str,
    request: CreateChangeSet,
) -> Planned:
    """Return the plan that the change set shows, and what a check of the whole one has found."""
    if request.kind == change_sets.IMPORT:
        return Planned(await make_plan(services, stack, checked, action), None)
    preflight = is_checked_first(services, request.body)
    refresh = refresh_of(services, request.body, Refresh.NONE)
    settings = services.settings
    has_policies = bool(settings.plan_policies or await written_policies(services, stack))
    priced = settings.prices is not None or has_policies
    if not (request.nested or preflight or priced or refresh is not Refresh.NONE):
        return Planned(await make_plan(services, stack, checked, action), None)
    planned = await plan_tree_with_values(
        services,
        context,
        stack,
        replace(TargetDefinition.of(stack, checked, action), tags=request.body.tags),
        with_kept=request.deployment_mode is not None,
        refresh=refresh,
        preflight=preflight,
        priced=priced,
    )
    if request.nested:
        return planned
    return replace(planned, plan=await make_plan(services, stack, checked, action, planned.observed))


def _failures(request: CreateChangeSet, planned: Planned) -> str:
    """Return what is known to fail, "" for nothing."""
    if request.kind == change_sets.IMPORT:
        return _besides_imports(planned.plan)
    found = [planned.preflight.text()] if planned.preflight is not None else []
    denied = planned.policies.with_verdict(EnforcementLevel.DENY) if planned.policies is not None else ()
    return "\n".join(filter(None, [*found, *(result.text() for result in denied)]))


def _besides_imports(plan: Plan) -> str:
    """Return what a plan does besides imports, as the reason of a failure, "" for nothing."""
    others = [
        step for step in plan.steps if step.has_effect and (step.imports is None or step.kind is not StepKind.KEEP)
    ]
    if not others:
        return ""
    named = ", ".join(
        f"{step.name} ({', '.join(change.name for change in step.changes) or step.kind.value})" for step in others
    )
    return f"{_ONLY_IMPORTS} It would change {named}."


async def _physical_ids(services: EngineServices, stack: Stack) -> dict[str, str | None]:
    """Return the shown ids of the objects of a stack and its nested stacks, by the resources' uuids."""
    identifiers = ObjectIds(services)
    return {
        row.uuid: await identifiers.shown(inside, row.type, row.physical_id)
        for inside, row in await services.database.read(_resources_below, stack)
    }


def _resources_below(connection: Connection, stack: Stack) -> list[tuple[Stack, ResourceSummary]]:
    """Return the resources of a stack and its nested stacks, each with its stack."""
    return [
        (inside, row)
        for level in queries.levels_of(connection, stack)
        for rows in [queries.resource_summaries(connection, [inside.id for inside in level])]
        for inside in level
        for row in rows.get(inside.id, ())
    ]


async def _planned(
    services: EngineServices, stack: Stack, checked: CheckedRequest, planned: Planned, request: CreateChangeSet
) -> dict[str, object]:
    """Return what a change set stores of its plan and of its request; `digest` is that of the plan."""
    plan = planned.plan
    values = ChangeSetValues(planned, await secrets_ever(services, stack) if stack.inputs else ())
    coverage = planned.observed.coverage if planned.observed is not None else None
    whole = coverage is not None and request.deployment_mode is not None
    statuses = [{"status": status} for status in planned.statuses.values()]
    return {
        "plan": plan.to_data(),
        "values": await services.evaluator.evaluate(
            stack.project_id, partial(values.of_steps, plan.steps), len(plan.steps)
        ),
        "looked_at": coverage.read_at if coverage is not None else None,
        "drift": overall_of({"found": statuses, "unfinished": is_unfinished(stack)}) if whole else None,
        "deployment_mode": request.deployment_mode,
        "preflight": planned.preflight.to_data() if planned.preflight is not None else None,
        "costs": planned.costs.to_data(plan.secrets) if planned.costs is not None else None,
        "policies": planned.policies.to_data() if planned.policies is not None else None,
        "digest": str(planned.digest) if planned.digest is not None else None,
        "uuids": {step.key: step.uuid for step in plan.steps},
        "parameters": checked.definition.parameters.as_text(),
        "tags": list(check_tags(request.body.tags)),
        "template": redact_template(checked.prepared.loaded.template),
    }


async def stack_patch_changes(components: ActionComponents, context: RequestContext, request: CheckForChanges) -> bool:
    """Return whether stack_patch with this body and these settings would change anything."""
    services = components.services
    stack = await find_stack(services, context, request.ref)
    request_decision("update", stack)
    checked = await patched_request(components, context, stack, request)
    plan = await make_plan(services, stack, checked, "UPDATE")
    return await _changes(components, context, stack, checked, plan, request.tags, request.settings)


async def _changes(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    checked: CheckedRequest,
    plan: Plan,
    tags: Sequence[str] | None,
    settings: SettingsChange,
) -> bool:
    """Return whether an update would change a resource, an output, a tag or a setting.

    Capabilities are acknowledged with each request: naming them is no change. A template that describes what the stack
    already has is one, if the present template does not, as after a rollback that has skipped resources.
    """
    services = components.services
    if any(step.has_effect for step in plan.steps) or stack.status != COMPLETE:
        return True
    present: Mapping[str, object] = settings_view(await settings_of(services, stack))
    if any(present[name] != value for name, value in settings.items() if name != "capabilities"):
        return True
    if tags is not None:
        recorded_tags = await services.database.read(queries.tags_of, [stack.id])
        if sorted(tags) != sorted(recorded_tags.get(stack.id, [])):
            return True
    former = await services.loader.load(stack.inputs)
    templates = (former.template, checked.prepared.loaded.template)
    before, after = (
        [template.data.get(template.written(section)) or {} for section in ("outputs", "resources")]
        for template in templates
    )
    recorded = (await services.bind(stack, former)).parameters.values()
    if before[0] != after[0] or recorded != checked.definition.parameters.values():
        return True
    return before[1] != after[1] and await _departs(components, context, stack)


async def _departs(components: ActionComponents, context: RequestContext, stack: Stack) -> bool:
    """Return whether a stack is not as its own template says; also for a template that cannot be used any more."""
    try:
        checked = await patched_request(components, context, stack, StackPatch())
        plan = await make_plan(components.services, stack, checked, "UPDATE")
    except StokerError as error:
        LOG.info("cannot plan what stack %s has: %s", stack.name, error.message)
        return True
    return any(step.has_effect for step in plan.steps)


# -- execution and deletion ----------------------------------------------------------------------------------------


async def change_set_execute(submissions: Submissions, context: RequestContext, request: ExecuteChangeSet) -> None:
    """Begin to execute a change set. Raises Invalid for one that cannot be executed, or not any more."""
    services = submissions.services
    row = await find_change_set(services, context, request.name, request.stack)
    state = await execution_of(services, row)
    if state != "AVAILABLE":
        raise Invalid(f"The change set {row.name} of stack {row.stack_name} cannot be executed: it is {state}.")
    held = services.sealer.open(row.body)
    body = received(StackPatch, held["body"])
    if request.disable_rollback is not None:
        body = replace(body, disable_rollback=request.disable_rollback)
    begun = partial(change_sets.note_operation, identifier=row.id, stack_id=row.stack_id)
    if not await _exists(services, row.stack_id):
        common = {item.name: getattr(body, item.name) for item in fields(StackInputs)}

        def steps_for(stack: Stack) -> list[Statement]:
            return [*settings_steps(stack, held["settings"]), begun]

        await create_stack(submissions, context, NewStack(name=row.stack_name, **common), row.stack_id, steps_for)
    else:
        ref = Reference(name=None, id=row.stack_id)
        change = PatchStack(ref=ref, settings=held["settings"], **vars(body))
        await patch_stack(submissions, context, change, lambda _: [begun])


async def stack_create_with_settings(
    submissions: Submissions, context: RequestContext, request: CreateStackWithSettings
) -> StackView:
    """Create a stack with initial settings, which are in effect before the stack exists."""
    return await create_stack(
        submissions, context, request, None, lambda stack: settings_steps(stack, request.settings)
    )


async def change_set_delete(services: RecordingServices, context: RequestContext, request: DeleteChangeSet) -> None:
    """Delete a change set. Raises Conflict for one that is being executed."""
    row = await find_change_set(services, context, request.name, request.stack)
    if await execution_of(services, row) == "EXECUTE_IN_PROGRESS":
        raise Conflict(f"The change set {row.name} of stack {row.stack_name} is being executed; delete it afterwards.")
    await services.journal.commit(Batch().remove(row))


async def stack_to_be_forget(services: RecordingServices, context: RequestContext, request: ForgetFutureStack) -> None:
    """Delete all change sets of a stack that was never created. Raises EntityNotFound if there are none."""
    rows = await of_stack_to_be(services, context, request.stack)
    if not rows:
        raise EntityNotFound(f"The Stack ({request.stack}) could not be found.")
    await services.journal.commit(Batch().remove(*rows))
