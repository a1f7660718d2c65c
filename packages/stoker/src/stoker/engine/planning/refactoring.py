"""What a refactoring does: which resources get from one stack to another, and whether anything else would change.

A refactoring gives stacks new definitions at once. Resources that leave one definition and appear in another one are
moved. What else the definitions change, if anything, is done by updates that begin with the moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from stoker.engine.planning.decide import Policies, can_become, describe
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.stack_view import Recorded, current_of
from stoker.engine.records.state import ResourceState, relocate, resources_by_name, with_present_name
from stoker.schema.unknown import has_unknown
from stoker.store.records import COMPLETE, Resource, Stack
from stoker.template.definition import Definition
from stoker.template.transfers import Location

_WOULD: Mapping[StepKind, str] = {
    StepKind.CREATE: "create",
    StepKind.USE: "use an existing object as",
    StepKind.UPDATE: "change",
    StepKind.REPLACE: "replace",
    StepKind.REFUSE: "change",
    StepKind.DELETE: "delete",
    StepKind.FORGET: "forget",
}


@dataclass(frozen=True, slots=True)
class Mapped:
    """A resource that is moved; `is_asked` says that the request maps it, instead of equal names."""

    source: Location
    target: Location
    is_asked: bool


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """What a side becomes after the moves: its `plan`, what that `changes` besides, and the `problems` because of which
    it cannot be carried out.
    """

    plan: Plan
    changes: Sequence[str]
    problems: Sequence[str]


@dataclass(slots=True)
class Side:
    """One of the stacks: as it is recorded, and as it is `desired`. `former` is its former definition, None for a new
    stack. `states` are the resources that it has afterwards, `moved` those of them, by UUID, that were elsewhere, and
    `names` the names that these had in another stack. `described` are those whose records change.
    """

    stack: Stack
    desired: DesiredState
    recorded: Recorded
    policies: Policies
    former: Definition | None
    states: dict[str, ResourceState] = field(init=False)
    moved: dict[str, Mapped] = field(init=False, default_factory=dict)
    names: dict[str, list[str]] = field(init=False, default_factory=dict)
    described: list[ResourceState] = field(init=False, default_factory=list)
    exported: dict[str, object] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.states = dict(self.recorded.states)


def written(sides: Mapping[str, Side]) -> Iterator[Mapped]:
    """Yield the moves that the environments of the new definitions have and that are not carried out yet."""
    names = {side.stack.name: name for name, side in sides.items()}
    for name, side in sides.items():
        transfers = side.desired.inputs.environment.transfers
        places = [(Location(name, move.source), Location(name, move.target)) for move in transfers.moved]
        for entry in transfers.between:
            if {entry.source.stack, entry.target.stack} <= names.keys():
                source, target = (Location(names[each.stack], each.resource) for each in entry.places)
                places.append((source, target))
        for source, target in places:
            is_there = target.resource in sides[target.stack].recorded.current
            if source.resource in sides[source.stack].recorded.current and not is_there:
                yield Mapped(source, target, is_asked=True)


def matched(sides: Mapping[str, Side], requested_moves: Iterable[Mapped]) -> tuple[list[Mapped], list[str]]:
    """Return what is moved, and the problems with what the request asks for.

    A resource that its stack does not want any more, and that exactly one other stack wants under the same name and
    does not have, is moved there.
    """
    found, problems = list(requested_moves), list[str]()
    problems += [problem for each in found for problem in _request_problems(sides, each)]
    problems += _duplicates("is moved twice", [each.source for each in found])
    problems += _duplicates("would get two objects", [each.target for each in found])
    sources, targets = {each.source for each in found}, {each.target for each in found}
    for name, side in sides.items():
        for resource, state in side.recorded.current.items():
            if resource in side.desired.definition.resources or Location(name, resource) in sources:
                continue
            others = [
                Location(other, resource)
                for other, there in sides.items()
                if resource in there.desired.types
                and resource not in there.recorded.current
                and Location(other, resource) not in targets
                and can_become(state, *there.desired.types[resource])
            ]
            if len(others) == 1:
                found.append(Mapped(Location(name, resource), others[0], is_asked=False))
            elif others:
                named = ", ".join(map(str, others))
                problems.append(f"{name}/{resource} could become any of {named}: map it to one of them.")
    return found, problems


def _request_problems(sides: Mapping[str, Side], mapped: Mapped) -> Iterator[str]:
    source, target = mapped.source, mapped.target
    for location in (source, target):
        if location.stack not in sides:
            yield f"{location} is in a stack of which the request has no definition."
            return
    state = sides[source.stack].recorded.current.get(source.resource)
    if source == target:
        yield f"{source} is mapped to itself."
    elif state is None:
        yield f"The stack {source.stack} has no resource {source.resource}."
    elif target.resource not in sides[target.stack].desired.types:
        yield f"The new template of the stack {target.stack} has no resource {target.resource}."
    elif not can_become(state, *sides[target.stack].desired.types[target.resource]):
        new_type = sides[target.stack].desired.types[target.resource][0]
        yield f"{source} has the type {state.implementation}, but {target} has the type {new_type}."


def _duplicates(what: str, locations: Sequence[Location]) -> list[str]:
    return [f"{each} {what}." for each in dict.fromkeys(locations) if locations.count(each) > 1]


def refuse_to_move(sides: Mapping[str, Side], moves: Iterable[Mapped]) -> Iterator[str]:
    """Yield why resources cannot be moved as they are recorded."""
    for each in moves:
        side = sides[each.source.stack]
        state = side.recorded.current[each.source.resource]
        if state.row.status != COMPLETE or (state.row.physical_id is None and not state.type.local):
            yield f"{each.source} is {state.row.action}_{state.row.status}: deploy its stack first."
        elif len(resources_by_name(side.recorded.states.values())[each.source.resource]) > 1:
            yield f"An earlier object of {each.source} has still to be deleted: deploy its stack first."
        occupant = sides[each.target.stack].recorded.current.get(each.target.resource)
        if occupant is not None and not any(
            other.source == Location(each.target.stack, each.target.resource) for other in moves
        ):
            yield f"The stack {each.target.stack} has the resource {each.target.resource} already, with its own object."


def carry_out(sides: Mapping[str, Side], moves: Sequence[Mapped]) -> None:
    """Move the resources between the sides in memory: each keeps what is recorded of it."""
    taken = [(each, sides[each.source.stack].recorded.current[each.source.resource]) for each in moves]
    for each, state in taken:
        del sides[each.source.stack].states[state.row.uuid]
    last = {
        name: max((state.row.position for state in side.states.values()), default=0) for name, side in sides.items()
    }
    for each, state in sorted(taken, key=lambda item: item[1].row.position):
        source, side = sides[each.source.stack].stack, sides[each.target.stack]
        row, last[each.target.stack] = state.row, last[each.target.stack] + 1
        if source.id == side.stack.id:
            state.stored.origin = replace(state.stored.origin, physical_name=state.physical_name)
            former = [inputs for inputs in (source.inputs, source.good_inputs) if inputs]
            row.former_names = with_present_name(row, former)
            row.name, row.position = each.target.resource, last[each.target.stack]
        else:
            side.names[row.uuid] = relocate(state, source, side.stack, each.target.resource, last[each.target.stack])
        side.states[row.uuid], side.moved[row.uuid] = state, each


def planned(side: Side) -> PlannedSide:
    """Return the state of a side after the moves; resources that stay get their desired definitions."""
    states = list(side.states.values())
    scope = RecordedScope(current_of(states).get)
    forward = Forward("UPDATE", side.desired, states, scope, side.policies, side.former)
    plan = forward.plan()
    changes = [_change(side.stack, step) for step in plan.steps if step.kind is not StepKind.KEEP]
    refused = [_change(side.stack, step) for step in plan.steps if step.kind is StepKind.REFUSE]
    definition, unknown = side.desired.definition, []
    for name, key in definition.exports():
        value = side.exported[name] = definition.resolve(definition.outputs[key].value, forward.scope)
        if has_unknown(value):
            unknown.append(f"The value of the export {name} of {side.stack.name} is not known.")
    changes += unknown
    steps = []
    for step in plan.steps:
        state = side.states.get(step.uuid or "")
        if state is not None and not changes:
            _redescribe(side, forward, state)
        mapped = side.moved.get(step.uuid or "")
        came_from = None if mapped is None else _shown_source(mapped)
        steps.append(replace(step, moved_from=came_from))
    if changes:
        _leave_to_update(side)
    return PlannedSide(replace(plan, steps=tuple(steps)), changes, refused)


def _leave_to_update(side: Side) -> None:
    """Let the update of a side examine the resources that it has got, and describe them."""
    for uuid in side.moved:
        row = side.states[uuid].row
        row.requires, row.fingerprint = "[]", ""
        side.described.append(side.states[uuid])


def _shown_source(mapped: Mapped) -> str:
    return mapped.source.resource if mapped.source.stack == mapped.target.stack else str(mapped.source)


def _redescribe(side: Side, forward: Forward, state: ResourceState) -> None:
    before = _recorded_definition(state.row), state.stored.definition
    describe(state, side.desired.target(state.row.name, forward.scope))
    if state.row.uuid in side.moved or before != (_recorded_definition(state.row), state.stored.definition):
        side.described.append(state)


def _recorded_definition(row: Resource) -> tuple[object, ...]:
    return row.type, row.substituted, row.fingerprint, sorted(orjson.loads(row.requires))


def _change(stack: Stack, step: Step) -> str:
    names = [change.name for change in (*step.changes, *step.definition)] if step.kind is not StepKind.CREATE else []
    which = f" ({', '.join(names)})" if names else ""
    return f"It would {_WOULD.get(step.kind, step.kind.value)} {stack.name}/{step.name}{which}."
