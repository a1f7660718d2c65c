"""Refactorings: new definitions of several stacks at once, which move resources between them.

A refactoring is examined first, and carried out later or never. Since moves do nothing in the cloud, carrying it out is
one transaction on the record: a crash leaves either all stacks as they were, or all of them as requested. What
the definitions change besides, if the request allows it, is done by updates that this transaction records, too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import (
    ActionInProgress,
    BadValue,
    EntityNotFound,
    Invalid,
    StackExists,
)
from stoker.base.ids import new_id
from stoker.contract.refactoring import (
    CreateStackRefactor,
    ExecuteStackRefactor,
    ListStackRefactorActions,
    ListStackRefactors,
    RefactorActions,
    RefactorMove,
    RefactorView,
    ShowStackRefactor,
)
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.credentials import lock_credentials
from stoker.engine.ownership.submissions import OperationStart, Submissions
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.refactoring import (
    Side,
)
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.running.redefinition import (
    columns_after,
    completed,
    record_completed,
    record_descriptions,
    record_exchange,
)
from stoker.operations.clearance import Clearance, check_plan_by_policy, gate_of, required_by
from stoker.operations.refactor_checks import (
    MOST_STACKS,
    ExaminedRefactor,
    definitions_of,
    examined,
    mapped_of,
    state_of,
)
from stoker.operations.stacks import requested_operation
from stoker.store import fingerprints, queries, refactors
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, IN_PROGRESS, Event, Operation, Stack
from stoker.store.refactors import refuse_unfit
from stoker.store.survey_records import StackRefactor

_STARTED = "Stack UPDATE started"
_CREATED, _REFUSED = "CREATE_COMPLETE", "CREATE_FAILED"
_CHANGED_SINCE = "A stack has changed since: create the refactoring again."


async def stack_refactor_create(
    components: RecordingComponents, context: RequestContext, request: CreateStackRefactor
) -> RefactorView:
    """Examine a refactoring and store it; as failed if it would do anything but move resources.

    Raises EntityNotFound for a stack that does not exist, TemplateInvalid …, BadValue, and what does not allow an
    update: ActionInProgress, NotSupported, StackLocked, Conflict for a protected stack.
    """
    services = components.services
    requested_moves = [mapped_of(entry) for entry in request.moved]
    if not 0 < len(request.templates) <= MOST_STACKS:
        raise BadValue(f"A refactoring is about 1 to {MOST_STACKS} stacks, of which it has the templates.")
    refactor = await examined(
        components,
        context,
        definitions_of(request.templates, request.inputs or {}),
        requested_moves,
        request.creates,
        {},
        request.changes,
    )
    row = StackRefactor(
        id=new_id(),
        project_id=context.project_id,
        description=request.description,
        status=_REFUSED if refactor.problems else _CREATED,
        reason=" ".join(refactor.problems),
        executed_at=None,
        body=services.sealer.seal(_stored(services, request, refactor)),
        created_at=services.clock.now(),
    )
    await services.journal.commit(Batch().add(row))
    return await _view(services, row)


def _stored(services: EngineServices, request: CreateStackRefactor, refactor: ExaminedRefactor) -> dict[str, object]:
    new = {stack.name for stack in refactor.new}
    moves: list[RefactorMove] = [
        {
            "from_stack": each.source.stack,
            "from_resource": each.source.resource,
            "to_stack": each.target.stack,
            "to_resource": each.target.resource,
            "resource_type": state.row.type,
            "physical_resource_id": state.row.physical_id,
            "is_asked": each.is_asked,
        }
        for each in refactor.moves
        for state in [state_of(refactor, each)]
        if state is not None
    ]
    return {
        "templates": dict(request.templates),
        "inputs": dict(request.inputs or {}),
        "moved": list(request.moved),
        "creates": request.creates,
        "changes": request.changes,
        "plans": {name: _shown_plan(refactor.plans[name]) for name in sorted(refactor.changed)},
        "stacks": [
            {"id": side.stack.id, "name": name, "is_new": side.stack.name in new}
            for name, side in refactor.sides.items()
        ],
        "moves": moves,
        "policies": {name: report.to_data() for name, report in refactor.reports.items()},
        "records": {name: services.sealer.digest(rows) for name, rows in refactor.records.items()},
    }


# -- views ---------------------------------------------------------------------------------------------------------


async def stack_refactor_show(
    services: EngineServices, context: RequestContext, request: ShowStackRefactor
) -> RefactorView:
    """Return a refactoring. Raises EntityNotFound."""
    return await _view(services, await _find(services, context, request.refactor_id))


async def stack_refactor_list(
    services: EngineServices, context: RequestContext, request: ListStackRefactors
) -> Sequence[RefactorView]:
    """Return the refactorings of the project, the latest first."""
    rows = await services.database.read(refactors.of_project, context.project_id)
    return await _views(services, rows)


async def stack_refactor_actions(
    services: EngineServices, context: RequestContext, request: ListStackRefactorActions
) -> RefactorActions:
    """Return what a refactoring does. Raises EntityNotFound."""
    held = services.sealer.open((await _find(services, context, request.refactor_id)).body)
    return {
        "stacks": [each for each in held["stacks"] if each["is_new"]],
        "moves": held["moves"],
        "changes": held.get("plans", {}) if held.get("changes") else {},
        "policies": held.get("policies", {}),  # earlier releases have stored none
    }


async def _find(services: EngineServices, context: RequestContext, identifier: str) -> StackRefactor:
    row = await services.database.read(refactors.by_id, identifier)
    if row is None or row.project_id != context.project_id:
        raise EntityNotFound(f"The stack refactor ({identifier}) could not be found.")
    return row


async def _view(services: EngineServices, row: StackRefactor) -> RefactorView:
    [view] = await _views(services, [row])
    return view


async def _views(services: EngineServices, rows: Sequence[StackRefactor]) -> list[RefactorView]:
    held = {row.id: services.sealer.open(row.body) for row in rows}
    waiting = [row.id for row in rows if row.executed_at is None and not row.reason]
    involved = {each["id"] for identifier in waiting for each in held[identifier]["stacks"]}
    records = await services.database.read(fingerprints.trees, involved) if involved else {}
    current = {identifier for identifier in waiting if _is_current(services, held[identifier], records)}
    return [_shown(row, held[row.id], row.id in current) for row in rows]


def _shown(row: StackRefactor, held: Mapping[str, Any], is_current: bool) -> RefactorView:
    status = "EXECUTE_COMPLETE" if row.executed_at is not None else "UNAVAILABLE" if row.reason else "AVAILABLE"
    if status == "AVAILABLE" and not is_current:
        status = "OBSOLETE"
    return {
        "id": row.id,
        "project_id": row.project_id,
        "description": row.description,
        "status": row.status,
        "status_reason": row.reason,
        "execution_status": status,
        "execution_status_reason": _CHANGED_SINCE if status == "OBSOLETE" else "",
        "stacks": held["stacks"],
        "created_at": row.created_at,
    }


def _is_current(services: EngineServices, held: Mapping[str, Any], records: Mapping[str, list[list[object]]]) -> bool:
    for each in held["stacks"]:
        rows = records[each["id"]]
        if rows != [] if each["is_new"] else services.sealer.digest(rows) != held["records"][each["name"]]:
            return False
    return True


# -- execution -----------------------------------------------------------------------------------------------------


async def stack_refactor_execute(
    submissions: Submissions, context: RequestContext, request: ExecuteStackRefactor
) -> RefactorView:
    """Carry a refactoring out, and begin the updates with its other changes.

    Raises Invalid for one that cannot be carried out, or not any more, and Forbidden if a stack policy denies a change.
    """
    components, services = submissions.components, submissions.services
    row = await _find(services, context, request.refactor_id)
    view = await _view(services, row)
    if view["execution_status"] != "AVAILABLE":
        reason = view["execution_status_reason"] or view["status_reason"] or "It has been carried out."
        raise Invalid(f"The stack refactor {row.id} is {view['execution_status']}. {reason}")
    held = services.sealer.open(row.body)
    promised = {each["name"]: each["id"] for each in held["stacks"] if each["is_new"]}
    requested_moves = [mapped_of(entry) for entry in held["moved"]]
    definitions = definitions_of(held["templates"], held.get("inputs", {}))
    may_change = bool(held.get("changes"))
    refactor = await examined(components, context, definitions, requested_moves, held["creates"], promised, may_change)
    if refactor.problems:
        raise Invalid(f"The stack refactor {row.id} cannot be carried out any more. {' '.join(refactor.problems)}")
    new = {stack.id for stack in refactor.new}
    existing = {name: side.stack for name, side in refactor.sides.items() if side.stack.id not in new}
    for name in refactor.changed & existing.keys():
        await check_plan_by_policy(services, existing[name], refactor.plans[name])
    cleared = await _cleared(components, context, refactor, row.id, existing)

    async def begin(credentials: Mapping[str, str]) -> None:
        now = services.clock.now()
        batch = _recording(components, context, refactor, now, cleared)
        starts = [_start(submissions, context, refactor, name, credentials) for name in sorted(refactor.changed)]
        for start in starts:
            batch.then(start).add(components.announcer.stack_event(start.stack, "UPDATE", IN_PROGRESS, _STARTED))
        batch.then(partial(_note_executed, row.id, now))
        await submissions.commit_starts(batch, starts)

    try:
        await _call_with_credentials(
            services, context, [existing[name] for name in refactor.changed & existing.keys()], {}, begin
        )
    except IntegrityError as error:
        names = ", ".join(stack.name for stack in refactor.new)
        raise StackExists(f"The Stack ({names}) already exists.") from error
    return await _view(services, await _find(services, context, row.id))


async def _cleared(
    components: RecordingComponents,
    context: RequestContext,
    refactor: ExaminedRefactor,
    refactor_id: str,
    existing: Mapping[str, Stack],
) -> dict[str, Clearance]:
    """Return the approvals that let the existing stacks change, by name. The first stands for the new stacks, too.

    Raises ApprovalRequired.
    """
    reports = {name: [report] for name, report in refactor.reports.items()}
    for first in list(existing)[:1]:
        new = [report for name, report in refactor.reports.items() if name not in existing]
        reports[first] = [*reports.get(first, []), *new]
    cleared = {}
    for name, stack in existing.items():
        gate = await gate_of(components, context, stack, "UPDATE")
        required = list(dict.fromkeys(each for report in reports.get(name, []) for each in required_by(report)))
        cleared[name] = await gate.pass_action(["refactor", refactor_id], required)
    return cleared


def _note_executed(identifier: str, now: float, connection: Connection) -> None:
    if not refactors.note_executed(connection, identifier, now):
        raise Invalid(f"The stack refactor {identifier} has been carried out.")


async def _call_with_credentials(
    services: RecordingServices,
    context: RequestContext,
    stacks: Sequence[Stack],
    credentials: Mapping[str, str],
    begin: Callable[[Mapping[str, str]], Awaitable[None]],
) -> None:
    """Call `begin` with credentials that work, by the IDs of the stacks."""
    if not stacks:
        await begin(credentials)
        return
    first, *others = stacks

    async def with_first(credential: str) -> None:
        await _call_with_credentials(services, context, others, {**credentials, first.id: credential}, begin)

    await services.credentials.call_with_credential(context, first, with_first)


def _start(
    submissions: Submissions,
    context: RequestContext,
    refactor: ExaminedRefactor,
    name: str,
    credentials: Mapping[str, str],
) -> OperationStart:
    """Return the start of the update that makes the changes of a side, besides the moves."""
    side, prepared = refactor.sides[name], refactor.checked[name].prepared
    operation = requested_operation(submissions.services, context, side.stack, "UPDATE", prepared.row.id)
    operation.former_inputs = side.stack.inputs or prepared.row.id
    return submissions.start_of(side.stack, operation, prepared, credential=credentials.get(side.stack.id))


def _recording(
    components: RecordingComponents,
    context: RequestContext,
    refactor: ExaminedRefactor,
    now: float,
    cleared: Mapping[str, Clearance],
) -> Batch:
    """Return everything that a refactoring changes, which is committed together."""
    batch, new = Batch(), {stack.id for stack in refactor.new}
    batch.then(partial(_guard, components.services, context, refactor))
    owner = next((side.stack for side in refactor.sides.values() if side.stack.id not in new), None)
    for name, side in refactor.sides.items():
        stack, checked = side.stack, refactor.checked[name]
        operation = _operation(components.services, context, side, refactor, name, now)
        if name in cleared and (use := cleared[name].in_transaction(operation)) is not None:
            batch.steps.insert(1, use)  # after the guard, before anything changes the records that are compared
        values = columns_after(operation, checked.prepared)
        if stack.id in new and owner is not None:
            values |= {"credential": owner.credential, "user_id": owner.user_id, "user_name": owner.user_name}
            batch.add(replace(stack, **values)).then(partial(lock_credentials, texts=[owner.credential]))
        else:
            batch.then(partial(queries.set_stack, stack_id=stack.id, values={**values, "updated_at": now}))
        record_completed(batch, components.announcer, stack, operation, checked.prepared, _moves(side, now))
        if name not in refactor.changed:  # else its update records them
            batch.then(partial(record_exchange, components.services, side))
        _add_moves(batch, refactor, side)
    return batch


def _operation(
    services: EngineServices, context: RequestContext, side: Side, refactor: ExaminedRefactor, name: str, now: float
) -> Operation:
    plan, report = refactor.plans[name], refactor.reports.get(name)
    operation = requested_operation(services, context, side.stack, plan.action, refactor.checked[name].prepared.row.id)
    moved = [replace(step, kind=StepKind.KEEP) for step in plan.steps if step.moved_from is not None]
    shown = _shown_plan(replace(plan, steps=tuple(moved)))
    if report is not None:
        shown["policies"] = report.to_data()
    return replace(
        completed(operation, side.stack, now),
        plan=services.sealer.seal(shown),
        policies_asked=len(report.policies) if report is not None else None,
    )


def _shown_plan(plan: Plan) -> dict[str, object]:
    return {**plan.to_data(), "summary": plan.summary()}


def _add_moves(batch: Batch, refactor: ExaminedRefactor, side: Side) -> None:
    stack = side.stack
    record_descriptions(batch, side)  # after the guard, which compares the rows as they were
    for uuid, mapped in side.moved.items():
        state, source = side.states[uuid], refactor.sides[mapped.source.stack].stack
        holder = partial(queries.rename_holders, names={uuid: mapped.target.resource})
        if source.id == stack.id:
            batch.then(holder)
            continue
        moved = refactors.MovedRecord(
            uuid,
            source.id,
            stack.id,
            side.names[uuid],
            mapped.target.resource,
            [each for each in (state.row.properties, state.row.former_properties) if each],
        )
        batch.then(partial(refactors.move, moved=moved))
        if state.type.nested:
            batch.then(partial(refactors.take_below, uuid=uuid, stack_id=stack.id)).then(holder)
        if source.user_project_id and (state.type.nested or "user_id" in state.stored.data):
            shared = partial(queries.set_user_project, root_id=stack.id, project_id=source.user_project_id)
            batch.then(shared)


def _moves(side: Side, now: float) -> list[Event]:
    """Return the events of the resources that have got into a stack."""
    return [
        replace(side.states[uuid].event(f"Moved from {mapped.source}", now), action="MOVE", status=COMPLETE)
        for uuid, mapped in side.moved.items()
    ]


def _guard(
    services: EngineServices, context: RequestContext, refactor: ExaminedRefactor, connection: Connection
) -> None:
    """Refuse in the transaction what has changed since the examination, with all stacks locked in a fixed order."""
    for name, side in sorted(refactor.sides.items(), key=lambda item: item[1].stack.id):
        if name not in refactor.records:
            continue
        now = fingerprints.locked_tree(connection, side.stack.root_id)
        stack = queries.stack_by_id(connection, side.stack.id)
        if stack is None or now != refactor.records[name]:
            raise ActionInProgress(f"Stack {side.stack.name} was changed meanwhile; nothing was moved. Try again.")
        refuse_unfit(connection, stack, now)
