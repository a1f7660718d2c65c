"""Refactorings: new definitions of several stacks at once, which move resources between them and change nothing else.

A refactoring is examined first, and carried out later or never. Since nothing is done in the cloud, carrying it out is
one transaction on the record: a crash leaves either all stacks as they were, or all of them as they are wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.base.errors import ActionInProgress, BadValue, Conflict, EntityNotFound, Invalid, StackExists
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
from stoker.contract.request import by_name
from stoker.contract.stacks import StackPatch
from stoker.engine.calls.context import RecordingParts
from stoker.engine.credentials import hold
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.policies import Policies
from stoker.engine.planning.refactoring import (
    Location,
    Mapped,
    Side,
    carry_out,
    matched,
    planned,
    refuse_to_move,
)
from stoker.engine.records.recorded import Recorded
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.engine.running.outputs import refuse_changes
from stoker.operations.clearance import Clearance, gate_of
from stoker.operations.lookup import find_stack
from stoker.operations.requests import CheckedRequest, check_room, check_whole
from stoker.operations.stacks import patched_request, requested_operation, requested_stack
from stoker.operations.transitions import verdict
from stoker.store import exchange, fingerprints, queries, refactors, settings
from stoker.store.journal import Batch
from stoker.store.locks import refuse_locked
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Operation, Stack, StackRefactor

MOST_STACKS = 50
"""Stacks of one refactoring."""

_CREATED, _REFUSED = "CREATE_COMPLETE", "CREATE_FAILED"
_CHANGED_SINCE = "A stack has changed since: create the refactoring again."
_MARKED = ("from", "to")


@dataclass(slots=True)
class _Refactor:
    """An examined refactoring. `records` are summaries of the stacks' records, by the names of the stacks; `plans` are
    None if it cannot be carried out, because of the `problems`.
    """

    checked: Mapping[str, CheckedRequest]
    sides: Mapping[str, Side]
    moves: Sequence[Mapped]
    records: Mapping[str, list[list[Any]]]
    plans: dict[str, Plan] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def new(self) -> list[Stack]:
        return [side.stack for side in self.sides.values() if not side.recorded.stack.inputs]


async def stack_refactor_create(
    parts: RecordingParts, context: RequestContext, request: CreateStackRefactor
) -> RefactorView:
    """Examine a refactoring and store it; as failed if it would do anything but move resources.

    Raises EntityNotFound for a stack that does not exist, TemplateInvalid …, BadValue, and what does not allow an
    update: ActionInProgress, NotSupported, StackLocked, Conflict for a protected stack.
    """
    services = parts.services
    asked = [_mapped(entry) for entry in request.moved]
    if not 0 < len(request.templates) <= MOST_STACKS:
        raise BadValue(f"A refactoring is about 1 to {MOST_STACKS} stacks, of which it has the templates.")
    made = await _examined(parts, context, request.templates, asked, request.creates, {})
    row = StackRefactor(
        id=new_id(),
        project_id=context.project_id,
        description=request.description,
        status=_REFUSED if made.problems else _CREATED,
        reason=" ".join(made.problems),
        executed_at=None,
        body=services.sealer.seal(_stored(services, request, made)),
        created_at=services.clock.now(),
    )
    await services.journal.commit(Batch().add(row))
    return await _view(services, row)


def _mapped(entry: Mapping[str, Any]) -> Mapped:
    places = []
    for key in _MARKED:
        place = entry.get(key)
        if not isinstance(place, Mapping) or set(place) != {"stack", "resource"}:
            raise BadValue(f"The key {key!r} of an entry must be a map with the keys 'stack' and 'resource'.")
        if not all(isinstance(value, str) and value for value in place.values()):
            raise BadValue("The values of 'stack' and 'resource' must be names.")
        places.append(Location(place["stack"], place["resource"]))
    source, target = places
    return Mapped(source, target, is_asked=True)


def _stored(services: EngineServices, request: CreateStackRefactor, made: _Refactor) -> dict[str, Any]:
    new = {stack.name for stack in made.new}
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
        for each in made.moves
        for state in [_state_of(made, each)]
        if state is not None
    ]
    return {
        "templates": dict(request.templates),
        "moved": list(request.moved),
        "creates": request.creates,
        "stacks": [
            {"id": side.stack.id, "name": name, "is_new": side.stack.name in new} for name, side in made.sides.items()
        ],
        "moves": moves,
        "records": {name: services.sealer.digest(rows) for name, rows in made.records.items()},
    }


def _state_of(made: _Refactor, mapped: Mapped) -> ResourceState | None:
    target = made.sides.get(mapped.target.stack)
    moved = target.moved if target is not None else {}
    return next((target.states[uuid] for uuid, each in moved.items() if target and each == mapped), None)


# -- examining -----------------------------------------------------------------------------------------------------


async def _examined(
    parts: RecordingParts,
    context: RequestContext,
    templates: Mapping[str, str],
    asked: Sequence[Mapped],
    creates: bool,
    promised: Mapping[str, str],
) -> _Refactor:
    """Return what new templates move; `promised` are the IDs of new stacks by name."""
    services = parts.services
    stacks: dict[str, Stack] = {}
    checked: dict[str, CheckedRequest] = {}
    for name, template in templates.items():
        stack = await _stack_of(services, context, name, creates, promised.get(name))
        if stack.id in {other.id for other in stacks.values()}:
            raise BadValue(f"The request has several definitions of the stack {stack.name}.")
        patch = StackPatch(template=template)
        check = partial(patched_request, parts, context, stack, patch)
        checked[name] = await (check() if stack.inputs else check_whole(parts, context, stack, patch))
        stacks[name] = stack

    def on(connection: Connection) -> _Refactor:
        records, sides = dict[str, list[list[Any]]](), dict[str, Side]()
        for name, stack in stacks.items():
            if stack.inputs:
                records[name] = fingerprints.tree(connection, stack.root_id)
                _refuse(connection, stack, records[name])
            recorded = Recorded.of(services, connection, stack)
            former = services.loader.bind(stack, recorded.inputs, strict=False) if recorded.inputs else None
            policies = Policies.of(services, stack, "UPDATE")
            sides[name] = Side(stack, checked[name].wanted, recorded, policies, former)
        return _moved(connection, services, _Refactor(checked, sides, (), records), asked)

    return await services.database.read_on(partial(services.evaluator.apart, context.project_id), on)


async def _stack_of(
    services: EngineServices, context: RequestContext, name: str, creates: bool, promised: str | None
) -> Stack:
    try:
        stack = await find_stack(services, context, by_name(name))
    except EntityNotFound:
        if not creates or name.startswith("arn:"):
            raise
        stack = requested_stack(services, context, name, StackPatch(), promised)
        await services.database.read(check_room, services, context, stack)
        return stack
    if stack.project_id != context.project_id:
        raise EntityNotFound(f"The Stack ({name}) could not be found.")
    if stack.parent_id is not None:
        raise BadValue(f"Resources are moved between root stacks; {stack.name} is a nested stack.")
    verdict("update_alone", stack)
    return stack


def _refuse(connection: Connection, stack: Stack, record: list[list[Any]]) -> None:
    """Refuse a stack that is locked or protected, or not as it was defined."""
    refuse_locked(connection, stack)
    if settings.of_stack(connection, stack.id).protected:
        raise Conflict(
            f"Stack {stack.name} has termination protection, so that no resource gets into it or out of it: disable it "
            "first (stoker stack unprotect, or UpdateTerminationProtection)."
        )
    if any(row[2] == IN_PROGRESS for row in record):
        raise ActionInProgress(f"Stack {stack.name} has an action in progress; refactor it when that has finished.")
    if stack.status == FAILED:
        raise Conflict(f"Stack {stack.name} is {stack.action}_{stack.status}: deploy it, or roll it back first.")


def _moved(connection: Connection, services: EngineServices, made: _Refactor, asked: Sequence[Mapped]) -> _Refactor:
    """Match and carry out the moves in memory, and collect what does not allow them."""
    moves, problems = matched(made.sides, asked)
    problems = problems or list(refuse_to_move(made.sides, moves))
    if not moves and not problems:
        problems = ["No resource would be moved."]
    made = replace(made, moves=moves, problems=problems)
    if problems:
        return made
    problems += _stack_problems(connection, made)
    carry_out(made.sides, moves)
    for name, side in made.sides.items():
        made.plans[name], found = planned(side)
        problems += found
        if side.exported and not found:
            refuse_changes(connection, services, side.stack, side.exported)
    return made


def _stack_problems(connection: Connection, made: _Refactor) -> list[str]:
    problems = []
    for name in dict.fromkeys(each.source.stack for each in made.moves if each.source.stack != each.target.stack):
        if refactors.has_snapshots(connection, made.sides[name].stack.id):
            problems.append(f"The stack {name} has snapshots, which could not be restored any more: delete them first.")
    users: dict[str, str | None] = {name: side.stack.user_project_id for name, side in made.sides.items()}
    for each in made.moves:
        state = made.sides[each.source.stack].recorded.current[each.source.resource]
        theirs, ours = users[each.source.stack], users[each.target.stack]
        if theirs is None or not (state.type.nested or "user_id" in state.stored.data):
            continue
        if ours not in (None, theirs):
            problems.append(
                f"{each.source} has a stack user, and the stack {each.target.stack} has its stack users in another "
                "project already."
            )
        users[each.target.stack] = theirs
    return problems


# -- showing -------------------------------------------------------------------------------------------------------


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
    return [await _view(services, row) for row in rows]


async def stack_refactor_actions(
    services: EngineServices, context: RequestContext, request: ListStackRefactorActions
) -> RefactorActions:
    """Return what a refactoring does. Raises EntityNotFound."""
    held = services.sealer.open((await _find(services, context, request.refactor_id)).body)
    return {"stacks": [each for each in held["stacks"] if each["is_new"]], "moves": held["moves"]}


async def _find(services: EngineServices, context: RequestContext, identifier: str) -> StackRefactor:
    row = await services.database.read(refactors.by_id, identifier)
    if row is None or row.project_id != context.project_id:
        raise EntityNotFound(f"The stack refactor ({identifier}) could not be found.")
    return row


async def _view(services: EngineServices, row: StackRefactor) -> RefactorView:
    held = services.sealer.open(row.body)
    status = "EXECUTE_COMPLETE" if row.executed_at is not None else "UNAVAILABLE" if row.reason else "AVAILABLE"
    if status == "AVAILABLE" and not await services.database.read(_is_current, services, held):
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


def _is_current(connection: Connection, services: EngineServices, held: Mapping[str, Any]) -> bool:
    for each in held["stacks"]:
        rows = fingerprints.tree(connection, each["id"])
        if rows != [] if each["is_new"] else services.sealer.digest(rows) != held["records"][each["name"]]:
            return False
    return True


# -- carrying out --------------------------------------------------------------------------------------------------


async def stack_refactor_execute(
    parts: RecordingParts, context: RequestContext, request: ExecuteStackRefactor
) -> RefactorView:
    """Carry a refactoring out. Raises Invalid for one that cannot be carried out, or not any more."""
    services = parts.services
    row = await _find(services, context, request.refactor_id)
    view = await _view(services, row)
    if view["execution_status"] != "AVAILABLE":
        reason = view["execution_status_reason"] or view["status_reason"] or "It has been carried out."
        raise Invalid(f"The stack refactor {row.id} is {view['execution_status']}. {reason}")
    held = services.sealer.open(row.body)
    promised = {each["name"]: each["id"] for each in held["stacks"] if each["is_new"]}
    asked = [_mapped(entry) for entry in held["moved"]]
    made = await _examined(parts, context, held["templates"], asked, held["creates"], promised)
    if made.problems:
        raise Invalid(f"The stack refactor {row.id} cannot be carried out any more. {' '.join(made.problems)}")
    now = services.clock.now()
    new = {stack.id for stack in made.new}
    cleared: dict[str, Clearance] = {}
    for name, side in made.sides.items():
        if side.stack.id not in new:
            gate = await gate_of(parts, context, side.stack, "UPDATE")
            cleared[name] = await gate.pass_action(["refactor", row.id])
    batch = _recording(parts, context, made, now, cleared)

    def note(connection: Connection) -> None:
        if not refactors.note_executed(connection, row.id, now):
            raise Invalid(f"The stack refactor {row.id} has been carried out.")

    batch.then(note)
    try:
        await services.journal.commit(batch)
    except IntegrityError as error:
        names = ", ".join(stack.name for stack in made.new)
        raise StackExists(f"The Stack ({names}) already exists.") from error
    parts.announcer.send(batch.added)
    return await _view(services, await _find(services, context, row.id))


def _recording(
    parts: RecordingParts, context: RequestContext, made: _Refactor, now: float, cleared: Mapping[str, Clearance]
) -> Batch:
    """Return everything that a refactoring changes, which is committed together."""
    batch, new = Batch(), {stack.id for stack in made.new}
    batch.then(partial(_guard, parts.services, context, made))
    owner = next((side.stack for side in made.sides.values() if side.stack.id not in new), None)
    for name, side in made.sides.items():
        stack, checked = side.stack, made.checked[name]
        operation = _operation(parts.services, context, side, made.plans[name], checked, now)
        if name in cleared and (use := cleared[name].in_transaction(operation)) is not None:
            batch.steps.insert(1, use)  # after the guard, before anything changes the records that are compared
        values: dict[str, Any] = {
            "status": COMPLETE,
            "reason": f"Stack {operation.action} completed successfully",
            "operation": operation.id,
            "inputs": checked.prepared.row.id,
            "good_inputs": checked.prepared.row.id,
            "description": checked.prepared.loaded.template.description,
            "action": operation.action,
        }
        if stack.id in new and owner is not None:
            values |= {"credential": owner.credential, "user_id": owner.user_id, "user_name": owner.user_name}
            batch.add(replace(stack, **values)).then(partial(hold, text=owner.credential))
        else:
            batch.then(partial(queries.set_stack, stack_id=stack.id, values={**values, "updated_at": now}))
        batch.add(checked.prepared.row, operation).then(checked.prepared.save)
        batch.then(partial(_record_exchange, parts.services, side))
        _add_moves(batch, made, side)
        _add_events(parts, batch, side, checked, values)
    return batch


def _operation(
    services: EngineServices, context: RequestContext, side: Side, plan: Plan, checked: CheckedRequest, now: float
) -> Operation:
    action = "UPDATE" if side.recorded.stack.inputs else "CREATE"
    operation = requested_operation(services, context, side.stack, action, checked.prepared.row.id)
    acting = tuple(step for step in plan.steps if step.has_effect)
    shown = {**replace(plan, action=action, steps=acting).to_data(), "summary": plan.summary()}
    return replace(
        operation,
        status=COMPLETE,
        former_inputs=side.stack.inputs or None,
        created_at=now,
        started_at=now,
        finished_at=now,
        deadline=None,
        plan=services.sealer.seal(shown),
    )


def _add_moves(batch: Batch, made: _Refactor, side: Side) -> None:
    stack = side.stack
    for row in (state.seal() for state in side.described):  # after the guard, which compares the rows as they were
        values = {name: value for name, value in row.values().items() if name != "uuid"}
        batch.then(partial(queries.set_resource, uuid=row.uuid, values=values))
    for uuid, mapped in side.moved.items():
        state, source = side.states[uuid], made.sides[mapped.source.stack].stack
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


def _record_exchange(services: EngineServices, side: Side, connection: Connection) -> None:
    imported = side.wanted.definition.imports if side.wanted.inputs.template.uses("Fn::ImportValue") else ()
    exported = {name: services.sealer.seal(value) for name, value in side.exported.items()}
    exchange.record(
        connection, project_id=side.stack.project_id, stack_id=side.stack.id, exported=exported, imported=imported
    )


def _add_events(
    parts: RecordingParts, batch: Batch, side: Side, checked: CheckedRequest, values: Mapping[str, Any]
) -> None:
    now, announcer = parts.services.clock.now(), parts.announcer
    moves = [
        replace(side.states[uuid].event(f"Moved from {mapped.source}", now), action="MOVE", status=COMPLETE)
        for uuid, mapped in side.moved.items()
    ]
    action = str(values["action"])
    begun = announcer.stack_event(side.stack, action, IN_PROGRESS, f"Stack {action} started")
    ended = announcer.stack_event(side.stack, action, COMPLETE, str(values["reason"]))
    sinks = checked.prepared.loaded.environment.event_sinks
    events = [begun, *moves, ended]
    batch.add(*events, *announcer.about(events, sinks))


def _guard(services: EngineServices, context: RequestContext, made: _Refactor, connection: Connection) -> None:
    """Refuse in the transaction what has changed since the examination, with all stacks locked in a fixed order."""
    for name, side in sorted(made.sides.items(), key=lambda item: item[1].stack.id):
        if name not in made.records:
            continue
        now = fingerprints.locked_tree(connection, side.stack.root_id)
        stack = queries.stack_by_id(connection, side.stack.id)
        if stack is None or now != made.records[name]:
            raise ActionInProgress(f"Stack {side.stack.name} was changed meanwhile; nothing was moved. Try again.")
        _refuse(connection, stack, now)
