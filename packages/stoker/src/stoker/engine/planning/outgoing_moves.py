"""What other root stacks become when a stack gets resources of them, in memory.

Such a stack keeps everything else: its template no longer has the resources, and what referred to them has the IDs of
their objects. Templates of nested stacks, which several of them can share, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from stoker.base.errors import TemplateInvalid
from stoker.engine.planning.decide import Policies
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.refactoring import Side, planned
from stoker.engine.planning.relocation import CompletedMoves, Relocation, Tree
from stoker.engine.records.loader import Prepared
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.store import refactors
from stoker.store.records import COMPLETE, Stack
from stoker.template.departures import without_resources


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a resource cannot leave its stack, and what to do."""

    move: Relocation
    message: str
    hint: str = ""


@dataclass(slots=True)
class OutgoingMoves:
    """A root stack that loses resources by these moves: it gets the inputs `prepared`, None for those that it has.

    `side` is what it becomes with them, and `plan` the plan of it, which changes nothing.
    """

    tree: Tree
    moves: Sequence[Relocation]
    prepared: Prepared | None = None
    side: Side | None = None
    plan: Plan | None = None
    obstacles: list[Obstacle] = field(default_factory=list)

    @property
    def stack(self) -> Stack:
        """The stack."""
        return self.tree.top.stack

    @property
    def stacks(self) -> list[Stack]:
        """The stack, and those nested in it."""
        return [self.stack, *(each.stack for each in self.tree.below.values())]


def departures(services: EngineServices, connection: Connection, completed: CompletedMoves) -> list[OutgoingMoves]:
    """Return the other root stacks that moves take resources of, after these were carried out in memory."""
    found = []
    for name, tree in completed.tree.others.items():
        moves = [move for move in completed.moves if move.path[0].startswith(f"{name}/")]
        if moves:
            departure = OutgoingMoves(tree, moves)
            departure.obstacles += _obstacles(connection, completed.tree.top.stack, departure)
            if not departure.obstacles and (own := [move for move in moves if len(move.path) == 1]):
                _redefine(services, connection, departure, own)
            found.append(departure)
    return found


def _obstacles(connection: Connection, target: Stack, departure: OutgoingMoves) -> Iterator[Obstacle]:
    stack = departure.stack
    if refactors.has_snapshots(connection, stack.id):
        message = f"the stack {stack.name} has snapshots, which could not be restored any more"
        yield Obstacle(departure.moves[0], message, "delete them first")
    users = target.user_project_id
    for move in departure.moves:
        state = move.state
        if state.row.status != COMPLETE or (state.row.physical_id is None and not state.type.local):
            yield Obstacle(move, f"{move.was} is {state.row.action}_{state.row.status}", "deploy its stack first")
        elif move.path[-1] in _names(departure, move):
            message = f"an earlier object of {move.was} has still to be deleted"
            yield Obstacle(move, message, "deploy its stack first")
        elif has_user(state) and stack.user_project_id is not None and users not in (None, stack.user_project_id):
            message = f"{move.was} has a stack user, and this stack has its stack users in another project already"
            yield Obstacle(move, message)


def has_user(state: ResourceState) -> bool:
    """Return whether a resource has a stack user, or perhaps one inside of it."""
    return state.type.nested or "user_id" in state.stored.data


def _names(departure: OutgoingMoves, move: Relocation) -> set[str]:
    """Return the names of the resources that are still in the stack which a resource has left."""
    stacks = [departure.tree.top, *departure.tree.below.values()]
    return {state.row.name for each in stacks if each.stack.id == move.source.id for state in each.states.values()}


def _redefine(
    services: EngineServices, connection: Connection, departure: OutgoingMoves, moves: Iterable[Relocation]
) -> None:
    """Give the stack a template without resources of its own."""
    recorded, stack, loader = departure.tree.top, departure.stack, services.loader
    inputs = recorded.inputs
    assert inputs is not None
    gone = {move.path[0].partition("/")[2]: move for move in moves}
    first = next(iter(gone.values()))
    ids = {name: str(move.state.reference_id()) for name, move in gone.items()}
    source = without_resources(inputs.template.document, ids)
    if source is None:
        message = f"the template of {stack.name} makes {first.was} in another way than as an entry of its resources"
        departure.obstacles.append(Obstacle(first, message, _BOTH.format(stack.name)))
        return
    try:
        prepared = loader.with_template(connection, stack.inputs, loader.parse(source))
        side = _side(services, connection, departure, prepared)
        after = planned(side)
    except TemplateInvalid as error:
        message = f"the template of {stack.name} needs {', '.join(move.was for move in gone.values())}: {error.message}"
        departure.obstacles.append(Obstacle(first, message, _BOTH.format(stack.name)))
        return
    if after.changes:
        message = f"without {first.was}, a deployment of {stack.name} would change more: {' '.join(after.changes)}"
        departure.obstacles.append(Obstacle(first, message, _BOTH.format(stack.name)))
        return
    departure.prepared, departure.side, departure.plan = prepared, side, after.plan


def _side(services: EngineServices, connection: Connection, departure: OutgoingMoves, prepared: Prepared) -> Side:
    """Return what a stack becomes with other inputs. Raises TemplateInvalid if they cannot be used."""
    recorded, stack, loader = departure.tree.top, departure.stack, services.loader
    assert recorded.inputs is not None
    exports = None
    if prepared.loaded.template.uses("Fn::ImportValue"):
        exports = loader.exports_now(connection, stack.project_id)
    definition = loader.bind(stack, prepared.loaded, strict=True, exports=exports)
    scope = RecordedScope(recorded.current.get)
    for output in definition.outputs.values():
        definition.resolve(output.value, scope)
    desired = DesiredState.of(services, definition, prepared.loaded)
    former = loader.bind(stack, recorded.inputs, strict=False)
    return Side(stack, desired, recorded, Policies.of(services, stack, "UPDATE"), former)


_BOTH = "give both stacks their new templates at once: stoker refactor plan {0}=FILE … --with-changes"
