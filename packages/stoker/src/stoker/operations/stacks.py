"""Stacks: create, update, delete, show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, StackExists, StackValidationFailed
from stoker.base.redaction import redact_values
from stoker.contract.previews import JointDeployment
from stoker.contract.request import Reference
from stoker.contract.stacks import (
    CreateStack,
    DeleteStack,
    IdentifyStack,
    NewStack,
    PatchStack,
    Refresh,
    ShowStack,
    StackChange,
    StackInputs,
    StackPatch,
    UpdateRequest,
    UpdateStack,
)
from stoker.contract.views import StackDetails, StackIdentity, StackSummary, StackView
from stoker.engine.calls.context import ActionComponents, RecordingComponents
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.ownership.submissions import Submissions
from stoker.engine.planning.retention import Retention
from stoker.engine.records.beginnings import Requester, define, new_operation, new_stack, time_limit
from stoker.engine.records.earlier_failures import failure_of
from stoker.engine.records.failure import Failure
from stoker.engine.records.loader import LoadedInputs, Prepared
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.stacks import secrets_now
from stoker.operations.action_plans import plan_deletion
from stoker.operations.adoption import adopted_request
from stoker.operations.clearance import (
    UNCONTROLLED,
    ApprovalGate,
    Clearance,
    LazyPlan,
    check_policy,
    correct_differences,
    gate_of,
    required_by,
    rules_of_creation,
)
from stoker.operations.lookup import current_decision, find_stack, found_by, guard
from stoker.operations.past_definitions import inputs_as_of, moves_back
from stoker.operations.planning import Planned, TargetDefinition, check_exported_values, plan_tree
from stoker.operations.problems import RequestValues
from stoker.operations.requests import (
    CheckedRequest,
    check_exports,
    check_name,
    check_request,
    check_tags,
    check_timeout,
    check_whole,
    given_by,
    parse_request,
)
from stoker.operations.settings import check_deletable, settings_steps, settings_view
from stoker.operations.views import failure_view, lock_view, stack_view
from stoker.store import change_sets, queries, snapshots
from stoker.store.journal import Statement
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Operation, Stack, StackSettings
from stoker.store.stack_details import RecordedDetails, stack_with_details
from stoker.template.definition import Definition
from stoker.template.environment import Environment
from stoker.template.template import Template
from stoker.template.transfers import TRANSFERS


def no_steps(stack: Stack) -> Sequence[Statement]:
    """Return what is recorded with an operation by default: nothing more."""
    return ()


def requested_stack(
    services: EngineServices, context: RequestContext, name: str, request: StackInputs, identifier: str | None = None
) -> Stack:
    """Return the stack that the caller wants to create. Raises errors for an invalid name or timeout."""
    return new_stack(
        check_name(name),
        "CREATE",
        context.project_id,
        _requester(context),
        services.clock.now(),
        identifier=identifier,
        timeout_minutes=check_timeout(request.timeout_mins),
        disable_rollback=request.disable_rollback is not False,
    )


def requested_operation(
    services: EngineServices,
    context: RequestContext,
    stack: Stack,
    action: str,
    inputs: str,
    *,
    observe: bool = False,
    preflight: bool = True,
) -> Operation:
    """Return an operation on a stack that the caller wants."""
    now = services.clock.now()
    deadline = now + time_limit(services.settings, stack.timeout_minutes)
    return new_operation(
        stack.id, action, inputs, _requester(context), now, deadline, observe=observe, preflight=preflight
    )


def _requester(context: RequestContext) -> Requester:
    return Requester(context.user_id, context.user_name, context.request_id, context.client_request_token)


async def submit(
    submissions: Submissions,
    context: RequestContext,
    stack: Stack,
    operation: Operation,
    clearance: Clearance,
    prepared: Prepared | None = None,
    **how: Any,
) -> None:
    """Call `Submissions.submit` with a credential that works: the caller's if the stack's does not work any more."""
    fresh = clearance.in_transaction(operation)

    async def begin(credential: str) -> None:
        await submissions.submit(stack, operation, prepared, credential=credential, fresh=fresh, **how)

    await submissions.services.credentials.call_with_credential(context, stack, begin)


async def stack_identify(services: EngineServices, context: RequestContext, request: IdentifyStack) -> StackIdentity:
    """Return name, id and project of the stack with the given name, id or ARN."""
    stack = await find_stack(services, context, request.ref, deleted=request.show_deleted)
    return {"name": stack.name, "id": stack.id, "project_id": stack.project_id}


async def stack_create(submissions: Submissions, context: RequestContext, request: CreateStack) -> StackView:
    """Create a stack. Raises StackExists, RequestLimitExceeded, TemplateInvalid …; nothing is created then."""
    return await create_stack(submissions, context, request)


async def create_stack(
    submissions: Submissions,
    context: RequestContext,
    request: NewStack,
    identifier: str | None = None,
    steps_for: Callable[[Stack], Sequence[Statement]] = no_steps,
) -> StackView:
    """Create a stack, with the ID that was reserved for it if there is one. Raises as `stack_create`.

    `steps_for` returns what is recorded in the same transaction.
    """
    services = submissions.services
    action, adopted = "CREATE", request.adopt_stack_data
    if adopted is not None:
        request = adopted_request(services, context, request)
        action, adopted = "ADOPT", request.adopt_stack_data
    stack = requested_stack(services, context, request.name, request, identifier)
    stack.action = action
    tags = check_tags(request.tags)
    steps = [*(_tagged(stack, tags) if tags else ()), *steps_for(stack)]
    if adopted is not None:
        document = services.sealer.seal({"adopted": adopted})
        steps.append(partial(snapshots.keep_stack_document, stack_id=stack.id, body=document))
    rules = await services.database.read(rules_of_creation, services, context, stack)
    checked = await check_whole(submissions.components, context, stack, request)
    gate = ApprovalGate(submissions.components, context, stack, action, rules)
    goal = replace(TargetDefinition.of(stack, checked, action), tags=tags)
    priced = gate.requires_plan
    planned = partial(plan_tree, services, context, stack, goal, refresh=Refresh.NONE, priced=priced)
    clearance = await gate.pass_plan(request.plan_digest, planned)
    stack.reason = checked.beginning(action)
    define(stack, checked.prepared)
    preflight = is_checked_first(services, request)
    operation = requested_operation(services, context, stack, action, stack.inputs, preflight=preflight)
    cleared = [clearance, *await _cleared_departures(submissions.components, context, stack, checked)]
    steps += [step for each in cleared if (step := each.in_transaction(operation)) is not None]

    async def begin(credential: str) -> None:
        stack.credential = credential
        await submissions.submit_new(stack, operation, checked.prepared, steps=steps, policies=rules.written)

    try:
        await services.credentials.call_with_credential(context, stack, begin)
    except IntegrityError as error:
        raise StackExists(f"The Stack ({stack.name}) already exists.") from error
    return {**stack_view(stack, tags), "operation": operation.id}


async def stack_update(submissions: Submissions, context: RequestContext, request: UpdateStack) -> StackView:
    """Replace the whole definition of the stack (PUT); tags are cleared if none are given."""
    stack = await _updatable(submissions.services, context, request)
    checked = await replaced_request(submissions.components, context, stack, request)
    return await _submit_update(submissions, context, stack, checked, request, check_tags(request.tags))


async def replaced_request(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    request: UpdateRequest[object],
    joint: JointDeployment | None = None,
) -> CheckedRequest:
    """Return the definition of a request that replaces the stack's whole definition, checked."""
    former = None
    if request.existing_parameters:
        former = (await components.services.loader.load(stack.inputs)).parameters["request"]
    return await check_whole(components, context, stack, request, former, joint)


def _tagged(stack: Stack, tags: Sequence[str]) -> list[Statement]:
    """Return what records the tags of a stack."""
    return [partial(queries.set_tags, stack_id=stack.id, tags=tags)]


async def stack_patch(submissions: Submissions, context: RequestContext, request: PatchStack) -> StackView:
    """Change the given parts and keep the rest (PATCH)."""
    return await patch_stack(submissions, context, request)


async def patch_stack(
    submissions: Submissions,
    context: RequestContext,
    request: PatchStack,
    steps_for: Callable[[Stack], Sequence[Statement]] = no_steps,
) -> StackView:
    """Change the given parts and keep the rest. `steps_for` returns what is recorded in the same transaction."""
    services = submissions.services
    stack = await _updatable(services, context, request)
    steps = [*settings_steps(stack, request.settings or {}), *steps_for(stack)]
    checked = await patched_request(submissions.components, context, stack, request)
    current_tags = (await services.database.read(queries.tags_of, [stack.id])).get(stack.id, [])
    tags = check_tags(request.tags) if request.tags is not None else tuple(current_tags)
    return await _submit_update(submissions, context, stack, checked, request, tags, request.policy, steps)


async def patched_request(
    components: ActionComponents,
    context: RequestContext,
    stack: Stack,
    request: StackPatch,
    together: Collection[str] = (),
) -> CheckedRequest:
    """Return the stack's current definition, or that as of an operation, with the given parts changed, checked.

    Where the template stays and the whole stack is compared with the cloud, objects of others that are gone
    (external_id) are no errors of the request: the plan reports them. `together` is that of `check_request`.
    """
    services = components.services
    base = stack.inputs if request.as_of is None else await inputs_as_of(services, stack, request.as_of)
    present = await services.loader.load(base)
    files = {**present.files, **(request.files or {})}
    clear = request.clear_parameters or ()
    request = replace(request, files=files)

    def given(template: Template) -> RequestValues:
        former = {
            "parameters": _kept(present.parameters["environment"], template, clear),
            **{
                key: value
                for key, value in present.environment.to_data().items()
                if key not in ("parameters", *TRANSFERS)  # those of the deployment before are carried out
            },
        }
        added, parameters, wrong = given_by(request, {}, template)
        environment = Environment.merged([former, added.to_data()], template.parameters)
        environment = environment.with_transfers(added.transfers)
        parameters = {**_kept(present.parameters["request"], template, clear), **parameters}
        return RequestValues(environment, parameters, wrong)

    template = await parse_request(services, context, request, given) if request.template else present.template
    _check_keepable(request.keep_parameters or (), present.template, template)
    environment, parameters, wrong = await services.evaluator.evaluate(context.project_id, partial(given, template))
    if request.as_of is not None:
        back = await moves_back(services, stack, base, template)
        environment = environment.with_transfers(environment.transfers.with_further(back))
    redacted = _redacted_defaults(
        template, {*environment.parameters, *environment.parameter_defaults, *parameters, *clear}
    )
    if redacted:
        before = (await services.bind(stack, present)).parameters.values()
        parameters = {**parameters, **{name: before[name] for name in redacted if name in before}}
    unchanged = request.template is None and request.as_of is None
    refresh = refresh_of(services, request, Refresh.CHANGES) if unchanged else Refresh.NONE
    return await check_request(
        components, context, stack, template, environment, files, parameters, wrong, refresh=refresh, together=together
    )


def _check_keepable(names: Sequence[str], *templates: Template) -> None:
    missing = [name for name in names if not all(name in template.parameters for template in templates)]
    if missing:
        raise StackValidationFailed(
            f"Cannot keep the previous values of {', '.join(missing)}: these parameters must be in the current "
            "template and in the new one."
        )


def _kept(values: Mapping[str, object], template: Template, clear: Sequence[str]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name in template.parameters and name not in clear}


def _redacted_defaults(template: Template, settled: Container[str]) -> list[str]:
    """Return the parameters whose default is only a redacted value, as in a template that was read from the API."""
    parameters = template.parameters.items()
    return [name for name, schema in parameters if name not in settled and schema.is_redacted(schema.default)]


async def _updatable(services: EngineServices, context: RequestContext, request: UpdateStack | PatchStack) -> Stack:
    stack = await find_stack(services, context, request.ref)
    await current_decision(services, "update" if request.supersede else "update_alone", stack)
    return stack


def refresh_of(services: EngineServices, request: StackChange, default: Refresh) -> Refresh:
    """Return which objects a change or its plan asks the cloud for: as the request wants, or else the operator."""
    chosen = Refresh.ALL if request.converge else default
    if request.refresh is not None:
        chosen = Refresh(request.refresh)
        if request.converge and chosen is not Refresh.ALL:
            raise BadValue(
                f"converge asks for the refresh {Refresh.ALL.value!r}, not {request.refresh!r}: give one of them."
            )
        if chosen is Refresh.NONE:
            return chosen
    return Refresh.ALL if services.settings.observe_on_update else chosen


def is_checked_first(services: EngineServices, request: StackInputs) -> bool:
    """Return whether a plan is checked before the first change: if neither the request nor the operator forbids it."""
    return services.settings.preflight and request.preflight is not False


async def _submit_update(
    submissions: Submissions,
    context: RequestContext,
    stack: Stack,
    checked: CheckedRequest,
    request: StackChange,
    tags: tuple[str, ...],
    policy: Mapping[str, object] | None = None,
    steps: Sequence[Statement] = (),
) -> StackView:
    services = submissions.services
    former = await services.bind(stack, await services.loader.load(stack.inputs))
    checked.definition.parameters.refuse_changes_to_immutable(former.parameters)
    await check_policy(services, stack, checked, policy)
    if checked.definition.exports():
        await check_exported_values(services, stack, checked)
    gate = await gate_of(submissions.components, context, stack, "UPDATE")
    refresh = refresh_of(services, request, gate.refresh_of_plan(request.plan_digest))

    async def plan() -> Planned:
        goal = replace(TargetDefinition.of(stack, checked, "UPDATE"), tags=tags)
        planned_update = await plan_tree(services, context, stack, goal, refresh=refresh, priced=gate.requires_plan)
        return replace(planned_update, repeats=await _repeats(services, stack, checked, request, goal, planned_update))

    planned = LazyPlan(plan)
    clearance = await gate.pass_plan(request.plan_digest, planned)
    minutes = check_timeout(request.timeout_mins)
    values: dict[str, Any] = {
        "timeout_minutes": stack.timeout_minutes if minutes is None else minutes,
        "reason": checked.beginning("UPDATE"),
    }
    if request.disable_rollback is not None:
        values["disable_rollback"] = request.disable_rollback
    stack = replace(stack, **values)
    preflight = is_checked_first(services, request)
    operation = requested_operation(services, context, stack, "UPDATE", checked.prepared.row.id, preflight=preflight)
    await correct_differences(operation, refresh, planned)
    rule = "update" if request.supersede else "update_alone"
    others = await _cleared_departures(submissions.components, context, stack, checked)
    steps = [*steps, *(step for each in others if (step := each.in_transaction(operation)) is not None)]
    how = {"values": values, "steps": [*_tagged(stack, tags), *steps], "guard": guard(rule)}
    await submit(submissions, context, stack, operation, clearance, checked.prepared, **how)
    return {**stack_view(stack, tags), "operation": operation.id}


def _has_definition(connection: Connection, stack: Stack, new: Prepared, tags: tuple[str, ...]) -> bool:
    """Return whether a stack has these tags and this definition, but for its parameters, already."""
    former = queries.inputs_by_id(connection, stack.inputs)
    if former is None or tags != tuple(queries.tags_of(connection, [stack.id]).get(stack.id, ())):
        return False
    return (former.template, former.environment, former.files) == (new.row.template, new.row.environment, new.row.files)


async def _repeats(
    services: EngineServices,
    stack: Stack,
    checked: CheckedRequest,
    request: StackChange,
    goal: TargetDefinition,
    planned: Planned,
) -> bool:
    """Return whether an update asks for what the stack has, down to its settings, and its plan does nothing."""
    if stack.status != COMPLETE or checked.departures.stacks or any(step.has_effect for step in planned.plan.steps):
        return False
    rollback, minutes = request.disable_rollback, request.timeout_mins
    if rollback not in (None, stack.disable_rollback) or minutes not in (None, stack.timeout_minutes):
        return False
    same = (await services.loader.load(stack.inputs)).parameters == checked.prepared.loaded.parameters
    return same and await services.database.read(_has_definition, stack, checked.prepared, tuple(goal.tags or ()))


async def _cleared_departures(
    components: RecordingComponents, context: RequestContext, stack: Stack, checked: CheckedRequest
) -> Sequence[Clearance]:
    """Return what lets other stacks lose resources to this one. Raises as `ApprovalGate.pass_action`."""
    found = []
    for each in checked.departures.stacks:
        gate = await gate_of(components, context, each.stack, "UPDATE")
        found.append(await gate.pass_action(["moved", stack.name, sorted(each.paths)], required_by(each.report)))
    return found


async def stack_delete(submissions: Submissions, context: RequestContext, request: DeleteStack) -> None:
    """Delete the stack and everything that it created; a repeated request restarts a running deletion."""
    services = submissions.services
    stack = await find_stack(services, context, request.ref)
    await check_deletable(services, stack)
    await check_exports(services, stack, [])
    gate = await gate_of(submissions.components, context, stack, "DELETE")
    priced = gate.requires_plan
    planned = partial(plan_deletion, services, context, stack, request.retain, request.force, priced=priced)
    is_repeated = request.plan_digest is None and (stack.action, stack.status) == ("DELETE", IN_PROGRESS)
    clearance = UNCONTROLLED if is_repeated else await gate.pass_plan(request.plan_digest, planned)
    retained = (await planned()).plan.retained() if request.retain else frozenset()
    operation = requested_operation(services, context, stack, "DELETE", stack.inputs)
    operation.retention = Retention(retained, request.force).to_json()
    forgotten = partial(change_sets.forget_of_stack, stack_id=stack.id)
    await submit(submissions, context, stack, operation, clearance, guard=guard("delete"), steps=[forgotten])


async def stack_show(services: EngineServices, context: RequestContext, request: ShowStack) -> StackDetails:
    """Return the stack with its parameters and, by default, its outputs."""
    seen = await services.database.read(_seen, services, context, request.ref)
    stack, inputs, (tags, known, drift) = seen.stack, seen.inputs, seen.details
    definition = await services.bind(stack, inputs)
    shown: StackView = {**stack_view(stack, tags), "tags": tags, "locked": lock_view(seen.root)}
    view = details_view(shown, definition, inputs.template, known)
    if stack.parent_id is not None:
        view["parameters"] = redact_values(view["parameters"], await secrets_now(services, stack))
    outputs: list[dict[str, object]] | None = [] if request.resolve_outputs else None
    if request.resolve_outputs and stack.deleted_at is None:
        outputs = await Reader(services).outputs(stack, inputs)
    return {
        **view,
        "exports": {key: name for name, key in definition.exports()},
        "outputs": outputs,
        "failure": failure_view(seen.failure),
        "last_look": {"status": drift[0], "time": drift[1]} if drift is not None else None,
    }


def details_view(view: StackView, definition: Definition, template: Template, known: StackSettings) -> StackSummary:
    """Return the data about a stack that its template, parameters and settings add to `view`."""
    return {
        **view,
        **settings_view(known),
        "description": template.description,
        "template_description": template.description,
        "parameters": definition.parameters.as_text(),
    }


@dataclass(frozen=True, slots=True)
class _StackRecord:
    """A stack with the recorded data about the whole stack, and the root of its tree."""

    stack: Stack
    root: Stack
    inputs: LoadedInputs
    details: RecordedDetails
    failure: Failure | None


def _seen(connection: Connection, services: EngineServices, context: RequestContext, ref: Reference) -> _StackRecord:
    stack, details = found_by(stack_with_details, connection, context, ref, deleted=True)
    inputs = services.loader.load_now(connection, stack.inputs)
    failure = None
    if stack.status == FAILED and stack.operation is not None:
        operation = queries.operation_by_id(connection, stack.operation)
        failure = None if operation is None or operation.status != FAILED else failure_of(operation)
    root = stack if stack.parent_id is None else queries.stack_by_id(connection, stack.root_id) or stack
    return _StackRecord(stack, root, inputs, details, failure)
