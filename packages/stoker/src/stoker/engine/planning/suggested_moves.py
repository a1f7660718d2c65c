"""The entries of an environment that would make a plan milder: `moved` for renamed resources, which it would create
again, and `imports` for objects that resources only referred to until now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stoker.engine.planning.decide import can_become, property_changes
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, Subject
from stoker.engine.planning.reasons import ReasonCode
from stoker.schema.unknown import find_unknowns
from stoker.template.transfers import Import, Move

_MOST_COMPARED = 50
"""Number of removed resources with which a new one is compared at most."""

_MOST_NEW = 500
"""Number of new resources that are compared at most."""

_REMOVED_BY = {ReasonCode.NOT_IN_TEMPLATE, ReasonCode.NESTED_STACK_DELETED}


def suggested_moves(plan: Plan) -> list[Move]:
    """Return the moves after which resources, also those of nested stacks, need neither be removed nor created.

    A removed resource and a new one are the same if they have the same type and equal properties, and no other one has.
    Values that depend on another renamed resource count as equal. What is inside a resource goes along with it, so that
    nothing is suggested from a nested stack that is removed into a new one: these two are different.
    """
    removed = [step for step in plan.steps if _is_removed(step)]
    new = [
        step for step in plan.steps if step.kind is StepKind.CREATE and step.uuid is None and step.subject is not None
    ]
    begun, ended = {step.name for step in new}, {step.name for step in removed}
    moves: list[Move] = []
    for step in sorted(new[:_MOST_NEW], key=lambda each: each.depth) if removed else ():
        holders = _holders(step)
        targets = {move.target for move in moves}
        if step.subject is None or begun & {*holders[:-1]} or targets & {*holders}:
            continue
        sources = {move.source for move in moves}
        taken = sources | ended if begun & {*holders} else sources
        left = [each for each in removed[:_MOST_COMPARED] if not taken & {*_holders(each)}]
        alike = list(_similar(step.subject, left, targets, f"{holders[-1]}." if holders else ""))
        if len(alike) == 1:
            moves.append(Move(alike[0], step.name))
    return [move for move in moves if _is_only(move, moves)]


def _holders(step: Step) -> list[str]:
    """Return the paths of the resources around the one of a step, outermost first."""
    paths: list[str] = []
    for _, name in step.subject.within if step.subject is not None else ():
        paths.append(f"{paths[-1]}.{name}" if paths else name)
    return paths


def suggested_imports(plan: Plan) -> list[Import]:
    """Return the imports with which a stack's resources would own the objects to which they have only referred."""
    found: list[Import] = []
    for step in plan.steps:
        if step.depth or step.kind is not StepKind.REFUSE or step.subject is None or step.subject.definition is None:
            continue
        state, definition = step.subject.state, step.subject.definition.resources.get(step.name)
        refers = state is not None and state.stored.definition.get("external_id") is not None
        if refers and state is not None and definition is not None and definition.external_id is None:
            found.append(Import(step.name, state.row.physical_id))
    return found


def _is_removed(step: Step) -> bool:
    return step.kind is StepKind.DELETE and any(reason.code in _REMOVED_BY for reason in step.reasons)


def _is_only(move: Move, moves: Iterable[Move]) -> bool:
    return sum(other.source == move.source for other in moves) == 1


def _similar(new: Subject, removed: Iterable[Step], moved: set[str], prefix: str) -> Iterator[str]:
    """Yield the names of removed resources like a new one; `moved` are the names of those that have moved before it.

    `prefix` is what the paths of its neighbors begin with.
    """
    for step in removed:
        state = step.subject.state if step.subject is not None else None
        if (
            state is None
            or state.is_missing
            or state.row.physical_id is None
            or not can_become(state, new.type.type_name, new.type)
        ):
            continue
        changes = property_changes(new.type, state.properties, new.properties or {})
        unknowns = [[name for found in find_unknowns(each.after) for name in found.resources()] for each in changes]
        origins = [{f"{prefix}{name}" for name in names} for names in unknowns]
        if all(names and names <= moved for names in origins):
            yield step.name
