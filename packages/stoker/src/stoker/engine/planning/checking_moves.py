"""Check that resources that are moved into nested stacks are wanted there, before anything is moved.

Only the plan of the whole tree says which resources a nested stack will have.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from stoker.base.diagnostics import Diagnostic
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.nested import NestedPlanner
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.planning.planner import Forward, Wanted
from stoker.engine.planning.policies import Policies
from stoker.engine.planning.reasons import ReasonCode
from stoker.engine.planning.relocating import Relocated, Relocation
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.template.transfers import Move


def lost_moves(services: EngineServices, connection: Connection, wanted: Wanted, made: Relocated) -> list[Diagnostic]:
    """Return a problem for each resource that has been moved to where the template has none, or one of another type."""
    top = made.tree.top
    inside = NestedPlanner(
        services,
        connection,
        top.stack,
        wanted.inputs,
        wanted.definition.known_exports,
        top.stack.depth,
        with_kept=True,
        read=dict(made.tree.below),
        relocated=made,
    )
    scope, policies = RecordedScope(top.current.get), Policies.of(services, top.stack, "UPDATE")
    states = list(top.states.values())
    plan = Forward("UPDATE", wanted, states, scope, policies, nested=inside, moved=made.names(top.stack)).plan()
    return list(_problems(plan, wanted, made))


def _problems(plan: Plan, wanted: Wanted, made: Relocated) -> Iterator[Diagnostic]:
    steps: dict[str, list[Step]] = {}
    for step in plan.steps:
        steps.setdefault(step.uuid or "", []).append(step)
    for move in made.moves:
        problem = _problem(move, steps.get(move.state.row.uuid, []))
        if problem and (entry := _entry(wanted, move)) is not None:
            yield entry.problem(problem.format(target=entry.target, source=entry.source), "to")


def _problem(move: Relocation, steps: list[Step]) -> str:
    """Return why the plan loses a resource that was moved; empty if it does not."""
    codes = {reason.code for step in steps for reason in step.reasons}
    if not steps:
        return "what {target} will be is only known when it is deployed: move {source} in a later deployment"
    if codes & {ReasonCode.NOT_IN_TEMPLATE, ReasonCode.NESTED_STACK_DELETED}:
        return "the template has no resource {target}, to which the object of {source} is moved"
    if any(step.kind is Kind.REPLACE for step in steps) and ReasonCode.TYPE_CHANGES in codes:
        return f"the resource {{target}} has another type than {{source}}, which is {move.state.implementation}"
    return ""


def _entry(wanted: Wanted, move: Relocation) -> Move | None:
    """Return the first entry of the chain that a resource was moved by."""
    return next((each for each in wanted.inputs.environment.transfers.moved if each.source == move.was), None)
