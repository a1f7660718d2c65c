"""Check moves between root stacks before the deployment that carries them out: that of the stack which gets a resource.

The other stack must be one that could be updated now, and lose nothing but the resource.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from sqlalchemy import Connection

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import PolicyDenied, TemplateInvalid
from stoker.engine.plan_policies.policy import EnforcementLevel, Report
from stoker.engine.planning.moves import SourceStack, StackMoves
from stoker.engine.planning.outgoing_moves import OutgoingMoves, departures
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.relocation import carry_out, desired_paths, read
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded
from stoker.operations.plan_checks import evaluate_policies
from stoker.store import fingerprints, refactors
from stoker.store.records import Stack
from stoker.template.transfers import StackMove


async def check_departures(
    services: EngineServices, stack: Stack, desired: DesiredState, together: Collection[str], earlier: Collection[str]
) -> StackMoves:
    """Return what leaves other stacks, and this one.

    `together` are the names of the stacks of a refactoring, which moves resources between them by itself, and `earlier`
    those that are deployed before this one. Raises TemplateInvalid for entries that cannot be carried out,
    PolicyDenied, and what does not allow an update of another stack.
    """
    leaving, left = await services.database.read(
        partial(_read, services, stack, desired, frozenset(together), frozenset(earlier))
    )
    losing = [
        SourceStack(each.stack, [move.was for move in each.moves], await _report(services, each)) for each in left
    ]
    return StackMoves(losing, leaving)


def _read(
    services: EngineServices,
    stack: Stack,
    desired: DesiredState,
    together: frozenset[str],
    earlier: frozenset[str],
    connection: Connection,
) -> tuple[frozenset[str], Sequence[OutgoingMoves]]:
    waiting = [
        entry
        for entry in refactors.pending(connection, stack.project_id, desired.inputs.environment.transfers.between)
        if entry.is_nested or not {entry.source.stack, entry.target.stack} <= together
    ]
    if problems := [problem for entry in waiting if (problem := _problem(entry, stack, together, earlier))]:
        raise TemplateInvalid(problems)
    leaving = frozenset(entry.source.resource for entry in waiting if entry.source.stack == stack.name)
    if not any(entry.target.stack == stack.name for entry in waiting):
        return leaving, ()
    recorded = Recorded.of(services, connection, stack)
    tree = read(services, connection, "UPDATE", desired, recorded)
    for other in tree.others.values():
        root = other.top.stack
        refactors.refuse_unfit(connection, root, fingerprints.tree(connection, root.root_id))
    completed = carry_out(services, desired, tree, desired_paths("UPDATE", "", desired, tree))
    left = departures(services, connection, completed)
    entries = {str(entry.source): entry for entry in waiting}
    found = [
        entry.problem(each.message, "from", each.hint)
        for departure in left
        for each in departure.obstacles
        if (entry := entries.get(each.move.was)) is not None
    ]
    if found:
        raise TemplateInvalid(found)
    return leaving, left


def _problem(entry: StackMove, stack: Stack, together: frozenset[str], earlier: frozenset[str]) -> Diagnostic | None:
    """Return why a deployment of a stack does not carry out an entry; None if it does, or another one has by then."""
    if stack.name not in (entry.source.stack, entry.target.stack):
        return entry.problem(f"neither resource is one of this stack, which is {stack.name}")
    if not together and (entry.target.stack == stack.name or entry.target.stack in earlier):
        return None
    what, path = f"{entry.source} has not been moved to {entry.target} yet", entry.target.resource
    if together and entry.is_nested:
        return entry.problem(
            what,
            hint=f"a deployment of {entry.target.stack} with this entry moves it: stoker deploy {entry.target.stack}",
        )
    deploy = f"deploy {entry.target.stack}, whose template has {path.partition('.')[0]}, with this entry first: "
    return entry.problem(what, hint=f"{deploy}stoker deploy {entry.target.stack} -t FILE -e FILE")


async def _report(services: EngineServices, departure: OutgoingMoves) -> Report | None:
    """Return what policies say of a stack that loses resources. Raises PolicyDenied."""
    if departure.plan is None:
        return None
    report = await evaluate_policies(services, departure.stack, departure.plan, None, None)
    if report is not None and (denied := report.with_verdict(EnforcementLevel.DENY)):
        raise PolicyDenied(f"{departure.stack.name}: {' '.join(result.text() for result in denied)}.")
    return report
