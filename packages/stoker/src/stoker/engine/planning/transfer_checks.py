"""Check what is moved into nested stacks, imported and removed in them, before anything is done.

Only the plan of the whole tree says which resources a nested stack will have.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from stoker.base.diagnostics import Diagnostic
from stoker.engine.planning.decide import Policies
from stoker.engine.planning.imports import NO_IMPORTS, Imports, NestedImportSearch
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.nested import NestedPlanner
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.planning.reasons import RETENTION, ReasonCode
from stoker.engine.planning.relocation import CompletedMoves, Relocation
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import current_of
from stoker.template.transfers import Move


def check_below(
    services: EngineServices,
    connection: Connection,
    desired: DesiredState,
    completed: CompletedMoves,
    imports: Imports = NO_IMPORTS,
    seeking: NestedImportSearch | None = None,
) -> list[Diagnostic]:
    """Return a problem for each entry that is about a nested stack and cannot be carried out: where the template has no
    such resource, or one of another type, or still has it.

    `imports` are those that were read; `seeking` notes the others.
    """
    top = completed.tree.top
    inside = NestedPlanner(
        services,
        connection,
        top.stack,
        desired.inputs,
        desired.definition.known_exports,
        top.stack.depth,
        with_kept=True,
        read=dict(completed.tree.below),
        relocated=completed,
        imports=imports,
        seeking=seeking,
    )
    states = {**top.states, **{state.row.uuid: state for state in imports.states}}
    current = current_of(states.values())
    scope = RecordedScope(current.get, prefetched=dict(imports.prefetched))
    policies, moved = Policies.of(services, top.stack, "UPDATE"), completed.names(top.stack)
    states_after = list(states.values())
    plan = Forward(
        "UPDATE", desired, states_after, scope, policies, nested=inside, moved=moved, imported=imports.unread
    ).plan()
    return [*_problems(plan, desired, completed), *_lost_releases(plan, desired)]


def _problems(plan: Plan, desired: DesiredState, completed: CompletedMoves) -> Iterator[Diagnostic]:
    steps: dict[str, list[Step]] = {}
    for step in plan.steps:
        steps.setdefault(step.uuid or "", []).append(step)
    for move in completed.moves:
        problem = _problem(move, steps.get(move.state.row.uuid, []))
        if problem and (entry := _entry(desired, completed.tree.top.stack.name, move)) is not None:
            yield entry.problem(problem.format(target=entry.target, source=entry.source), "to")


def _lost_releases(plan: Plan, desired: DesiredState) -> Iterator[Diagnostic]:
    """Yield a problem for each resource that is to be forgotten, and whose nested stack is removed with its objects."""
    deleted = {step.name for step in plan.steps if step.kind is StepKind.DELETE and RETENTION.isdisjoint(_codes(step))}
    for release in desired.inputs.environment.transfers.removed:
        if release.source in deleted:
            outer = release.source.rpartition(".")[0]
            message = f"{outer} is removed with all objects in it, also that of {release.source}"
            hint = f"move {release.source} out of it first, or keep all: {{from: {outer}, destroy: false}}"
            yield release.problem(message, "from", hint)


def _codes(step: Step) -> set[ReasonCode]:
    return {reason.code for reason in step.reasons}


def _problem(move: Relocation, steps: list[Step]) -> str:
    """Return why the plan loses a resource that was moved; empty if it does not."""
    codes = {code for step in steps for code in _codes(step)}
    if not steps:
        return "what {target} will be is only known when it is deployed: move {source} in a later deployment"
    if codes & {ReasonCode.NOT_IN_TEMPLATE, ReasonCode.NESTED_STACK_DELETED}:
        return "the template has no resource {target}, to which the object of {source} is moved"
    if any(step.kind is StepKind.REPLACE for step in steps) and ReasonCode.TYPE_CHANGES in codes:
        return f"the resource {{target}} has another type than {{source}}, which is {move.state.implementation}"
    return ""


def _entry(desired: DesiredState, stack: str, move: Relocation) -> Move | None:
    """Return the first entry of the chain that a resource was moved by."""
    entries = desired.inputs.environment.transfers.into(stack).moved
    return next((each for each in entries if each.source == move.was), None)
