"""Examine refactorings: which resources new definitions of several stacks move, and what does not allow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import (
    BadValue,
    EntityNotFound,
    TemplateInvalid,
)
from stoker.contract.request import by_name
from stoker.contract.stacks import StackPatch
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.plan_policies.policy import EnforcementLevel, Report
from stoker.engine.planning.decide import Policies
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.refactoring import (
    Mapped,
    Side,
    carry_out,
    matched,
    planned,
    refuse_to_move,
    written,
)
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import ResourceState
from stoker.engine.running.completion import refuse_changes
from stoker.operations.lookup import find_stack, request_decision
from stoker.operations.plan_checks import evaluate_policies, known_costs, usages_of
from stoker.operations.requests import CheckedRequest, check_room, check_whole
from stoker.operations.stacks import patched_request, requested_stack
from stoker.schema.unknown import has_unknown
from stoker.store import fingerprints, refactors
from stoker.store.records import Stack
from stoker.store.refactors import refuse_unfit
from stoker.template.transfers import Location

if TYPE_CHECKING:  # with a price list
    from stoker.engine.pricing.usage import Usage

MOST_STACKS = 50
"""Stacks of one refactoring."""

_MARKED = ("from", "to")
_INPUTS = ("environment", "environment_files", "files", "parameters")


@dataclass(slots=True)
class ExaminedRefactor:
    """An examined refactoring. `records` are summaries of the stacks' records, by the names of the stacks; `plans` are
    missing if it cannot be carried out, because of the `problems`; `reports` are what policies say of these, by the
    same names. `changed` are the stacks with changes besides moves.
    """

    checked: Mapping[str, CheckedRequest]
    sides: Mapping[str, Side]
    moves: Sequence[Mapped]
    records: Mapping[str, list[list[object]]]
    plans: dict[str, Plan] = field(default_factory=dict)
    usages: dict[str, Sequence[Usage] | None] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)

    @property
    def new(self) -> list[Stack]:
        return [side.stack for side in self.sides.values() if not side.recorded.stack.inputs]


def definitions_of(templates: Mapping[str, str], inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, StackPatch]:
    """Return the new definitions of the stacks, by name. Raises BadValue."""
    if unknown := inputs.keys() - templates.keys():
        raise BadValue(f"The request has inputs, but no template, of the stacks {', '.join(sorted(unknown))}.")
    definitions = {}
    for name, template in templates.items():
        stack_inputs = inputs.get(name, {})
        if other := stack_inputs.keys() - _INPUTS:
            raise BadValue(f"Inputs of the stack {name} have other keys than {', '.join(_INPUTS)}: {', '.join(other)}.")
        definitions[name] = StackPatch(template=template, **stack_inputs)
    return definitions


def mapped_of(entry: Mapping[str, object]) -> Mapped:
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


def state_of(refactor: ExaminedRefactor, mapped: Mapped) -> ResourceState | None:
    target = refactor.sides.get(mapped.target.stack)
    moved = target.moved if target is not None else {}
    return next((target.states[uuid] for uuid, each in moved.items() if target and each == mapped), None)


async def examined(
    components: RecordingComponents,
    context: RequestContext,
    definitions: Mapping[str, StackPatch],
    requested_moves: Sequence[Mapped],
    creates: bool,
    promised: Mapping[str, str],
    changes: bool = False,
) -> ExaminedRefactor:
    """Return what new definitions move; `promised` are the IDs of new stacks by name.

    It is a problem if they change more than that, unless `changes` allows it.
    """
    services = components.services
    stacks: dict[str, Stack] = {}
    checked: dict[str, CheckedRequest] = {}
    for name in definitions:
        stack = await _stack_of(services, context, name, creates, promised.get(name))
        if stack.id in {other.id for other in stacks.values()}:
            raise BadValue(f"The request has several definitions of the stack {stack.name}.")
        stacks[name] = stack
    together = frozenset(stack.name for stack in stacks.values())
    for name, stack in stacks.items():
        check = patched_request if stack.inputs else check_whole
        try:
            checked[name] = await check(components, context, stack, definitions[name], together=together)
        except TemplateInvalid as error:
            found = [replace(each, source=f"{name}/{each.source or 'template'}") for each in error.diagnostics]
            raise TemplateInvalid(found) from error

    def on(connection: Connection) -> ExaminedRefactor:
        records, sides = dict[str, list[list[Any]]](), dict[str, Side]()
        for name, stack in stacks.items():
            if stack.inputs:
                records[name] = fingerprints.tree(connection, stack.root_id)
                refuse_unfit(connection, stack, records[name])
            recorded = Recorded.of(services, connection, stack)
            former = services.loader.bind(stack, recorded.inputs, strict=False) if recorded.inputs else None
            policies = Policies.of(services, stack, "UPDATE")
            sides[name] = Side(stack, checked[name].desired, recorded, policies, former)
        everything = dict.fromkeys((*requested_moves, *written(sides)))
        refactor = _moved(
            connection, services, ExaminedRefactor(checked, sides, (), records), tuple(everything), changes
        )
        for name in refactor.changed:
            if (former := sides[name].former) is not None:
                checked[name].definition.parameters.refuse_changes_to_immutable(former.parameters)
        return refactor

    refactor: ExaminedRefactor = await services.database.read_on(
        partial(services.evaluator.compute_on_thread, context.project_id), on
    )
    if not refactor.problems:
        await _ask_policies(services, context, refactor)
    refactor.plans = {name: plan.without_subjects() for name, plan in refactor.plans.items()}
    return refactor


async def _ask_policies(services: EngineServices, context: RequestContext, refactor: ExaminedRefactor) -> None:
    """Note what policies say of the plan of each stack, and as problems what they deny."""
    new = {stack.id for stack in refactor.new}
    for name, side in refactor.sides.items():
        costs = await known_costs(services, context, refactor.usages.get(name))
        tags = () if side.stack.id in new else None
        report = await evaluate_policies(services, side.stack, refactor.plans[name], costs, tags)
        if report is not None:
            refactor.reports[name] = report
            refactor.problems += [
                f"{side.stack.name}: {result.text()}." for result in report.with_verdict(EnforcementLevel.DENY)
            ]


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
    request_decision("update_alone", stack)
    return stack


def _moved(
    connection: Connection,
    services: EngineServices,
    refactor: ExaminedRefactor,
    requested_moves: Sequence[Mapped],
    may_change: bool,
) -> ExaminedRefactor:
    """Match and carry out the moves in memory, and collect what does not allow them."""
    moves, problems = matched(refactor.sides, requested_moves)
    problems = problems or list(refuse_to_move(refactor.sides, moves))
    if not moves and not problems:
        problems = ["No resource would be moved."]
    refactor = replace(refactor, moves=moves, problems=problems)
    if problems:
        return refactor
    problems += _stack_problems(connection, refactor)
    carry_out(refactor.sides, moves)
    for name, side in refactor.sides.items():
        after = planned(side)
        refactor.plans[name] = replace(after.plan, action="UPDATE" if side.recorded.stack.inputs else "CREATE")
        refactor.usages[name] = usages_of(services, connection, side.stack, after.plan)
        problems += after.problems if may_change else after.changes
        if after.changes:
            refactor.changed.add(name)
        known = {export: value for export, value in side.exported.items() if not has_unknown(value)}
        if known and (may_change or not after.changes):
            refuse_changes(connection, services, side.stack, known)
    return refactor


def _stack_problems(connection: Connection, refactor: ExaminedRefactor) -> list[str]:
    problems = []
    for name in dict.fromkeys(each.source.stack for each in refactor.moves if each.source.stack != each.target.stack):
        if refactors.has_snapshots(connection, refactor.sides[name].stack.id):
            problems.append(f"The stack {name} has snapshots, which could not be restored any more: delete them first.")
    users: dict[str, str | None] = {name: side.stack.user_project_id for name, side in refactor.sides.items()}
    for each in refactor.moves:
        state = refactor.sides[each.source.stack].recorded.current[each.source.resource]
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
