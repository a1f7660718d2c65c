"""Which recorded resources get other names or stacks before a plan is made: those of the entries `moved` of the
environment, and those that a rollback or the restoration of a snapshot returns to where they were.

Everything here is about paths: the name of a resource after those of the resources around it. The resources of the
stack itself are those whose paths have one part.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.engine.planning.decide import can_become
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import Path, ResourceState, former_paths, path_text, was_at
from stoker.store.records import COMPLETE, Stack
from stoker.template.transfers import Move, Transfers

if TYPE_CHECKING:
    from stoker.engine.plan_policies.policy import Report


@dataclass(frozen=True, slots=True)
class LocatedResource:
    """A recorded resource, and the stack that it is in."""

    recorded: Recorded
    state: ResourceState


@dataclass(frozen=True, slots=True)
class SourceStack:
    """Another root stack that loses the resources at these paths, and what policies say of its plan."""

    stack: Stack
    paths: Sequence[str]
    report: Report | None


@dataclass(frozen=True, slots=True)
class StackMoves:
    """Moves between root stacks that a deployment carries out, or that an earlier one of the same deployment has.

    `stacks` are the other root stacks that lose resources; `leaving` are the paths of the resources that the stack
    itself has lost by then.
    """

    stacks: Sequence[SourceStack] = ()
    leaving: frozenset[str] = frozenset()


NO_DEPARTURES = StackMoves()

Places = Mapping[Path, LocatedResource]
"""The recorded resources of a stack and of those nested in it, each after the ones around it, without replaced ones."""


def is_elsewhere(path: Path) -> bool:
    """Return whether a path leads into another root stack, whose name and a slash are before the path there."""
    return "/" in path[0]


def after(places: Places, moves: Mapping[Path, Path]) -> dict[Path, Path]:
    """Return the present paths of all resources by those that they have after moves.

    A resource goes along with those around it, unless it is moved itself.
    """
    return {target: path for path, target in _targets(places, moves).items()}


def _targets(places: Places, moves: Mapping[Path, Path]) -> dict[Path, Path]:
    targets = dict[Path, Path]()
    for path in places:
        targets[path] = moves.get(path) or (*targets.get(path[:-1], ()), path[-1])
    return targets


# -- entries of the environment ----------------------------------------------------------------------------------------


def leads_below(desired: DesiredState, current: Iterable[str], transfers: Transfers) -> bool:
    """Return whether an entry is about a resource of a nested stack; `current` are those of the stack itself."""
    known = _tops(desired, current, transfers)
    return any(outer_of(name, known) is not None for move in transfers.moved for name in (move.source, move.target))


def _tops(desired: DesiredState, current: Iterable[str], transfers: Transfers) -> set[str]:
    """Return the names that paths can begin with: those of the stack's resources, and those that entries give them."""
    between = {name for move in transfers.moved for name in (move.source, move.target) if "." not in name}
    return {*desired.definition.resources, *current, *between}


def new_paths(desired: DesiredState, places: Places, transfers: Transfers) -> dict[Path, Path]:
    """Return the paths that entries give to recorded resources, by their present ones, from end to end of each chain.

    Raises TemplateInvalid for entries that cannot be carried out.
    """
    if not transfers.moved:
        return {}
    read = _Entries(desired, places, transfers)
    moves = [(move, read.path(move.source), read.path(move.target)) for move in transfers.moved]
    origins, moved = {path: path for path in places}, set[Path]()
    in_turn = list(reversed(moves))
    in_turn.sort(key=lambda each: -len(each[1]))  # what is inside before what is around it
    while sum(read.move(source, target, origins, moved) for _, source, target in in_turn):
        pass
    found = {origin: path for path, origin in origins.items() if origin in moved and path != origin}
    problems = [problem for each in moves for problem in read.problems(*each, origins)]
    if problems:
        raise TemplateInvalid(problems)
    return found


class _Entries:
    """What entries mean for the desired state of a stack, and the resources that are recorded of it."""

    def __init__(self, desired: DesiredState, places: Places, transfers: Transfers) -> None:
        self._known = desired.definition.resources
        self._types = desired.types
        self._places = places
        self._inside: dict[Path, set[str]] = {}
        for path in places:
            self._inside.setdefault(path[:-1], set()).add(path[-1])
        self._top = _tops(desired, self._inside.get((), ()), transfers)
        self._begun: set[Path] = set()

    def path(self, text: str) -> Path:
        """Return the path that an entry names."""
        outer = outer_of(text, self._top)
        return (text,) if outer is None else (outer, *self._below(text.removeprefix(f"{outer}."), (outer,)))

    def _below(self, text: str, above: Path) -> Path:
        inside = self._inside.get(above, set())
        outer = outer_of(text, inside)
        if outer is not None:
            return (outer, *self._below(text.removeprefix(f"{outer}."), (*above, outer)))
        return (text,) if text in inside else tuple(text.split("."))

    def move(self, source: Path, target: Path, origins: dict[Path, Path], moved: set[Path]) -> bool:
        """Move a resource, with all inside, if it is there, and the place is free, and the desired state does not have
        it where it is; return whether it has moved.
        """
        stays = len(source) == 1 and source[0] in self._known and target[0] not in self._known
        is_there = source in origins or source in self._begun
        if not is_there or target in origins or stays or target[: len(source)] == source:
            return False
        size, origin = len(source), origins.get(source)
        holds = origin is None or self._places[origin].state.type.nested
        if origin is not None:
            moved.add(origin)
        self._begun.discard(source)
        for path in [path for path in origins if path[:size] == source] if holds else [source]:
            origins[target + path[size:]] = origins.pop(path)
        if len(target) > 1:
            self._begun.add(target[:-1])
        return True

    def problems(self, move: Move, source: Path, target: Path, origins: Mapping[Path, Path]) -> Iterator[Diagnostic]:
        """Yield why an entry cannot be carried out, after all that could have been."""
        if target[: len(source)] == source and source in origins:
            yield move.problem(f"{move.target} is inside {move.source}", "to")
        elif source in origins and target in origins and origins[target] != source:  # else this entry has moved it
            yield from self._occupied(move, source, origins[target])
        elif (origin := origins.get(target)) is not None and origin != target:
            yield from self._unsuitable(move, target, origin)

    def _occupied(self, move: Move, source: Path, occupant: Path) -> Iterator[Diagnostic]:
        is_desired = len(source) == 1 and source[0] in self._known
        was_in_use = _was_completed(self._places[source].state) if source in self._places else True
        if (
            was_in_use
            and not is_desired
            and not was_at(self._places[occupant].state.row, source, is_at_top=len(occupant) == 1)
        ):
            message = f"the stack has the resources {move.source} and {move.target} already, each with its own object"
            yield move.problem(message, hint="remove one of them from the stack first, or the entry")

    def _unsuitable(self, move: Move, target: Path, origin: Path) -> Iterator[Diagnostic]:
        head, state = target[0], self._places[origin].state
        if head not in self._known:
            what = (
                "the template has no resource" if len(target) == 1 else f"{move.target}: the template has no resource"
            )
            yield move.problem(f"{what} {head}, to which the object of {path_text(origin)} is moved", "to")
        elif head not in self._types:
            return
        elif len(target) > 1 and not self._types[head][1].nested:
            yield move.problem(f"{head} is no nested stack: it has the type {self._types[head][0]}", "to")
        elif len(target) == 1 and not can_become(state, *self._types[head]):
            message = f"the resource {head} has the type {self._types[head][0]}, but {path_text(origin)} has the type "
            yield move.problem(message + state.implementation, "to")


def _was_completed(state: ResourceState) -> bool:
    """Return whether a resource is more than what a creation that has failed has left."""
    return state.row.action != "CREATE" or state.row.status == COMPLETE


def outer_of(name: str, known: Iterable[str]) -> str | None:
    """Return the resource in whose nested stack a path leads; None for the name of a resource itself."""
    names = set(known)
    parts = name.split(".")
    if name in names:
        return None
    outer = (".".join(parts[:end]) for end in range(1, len(parts)))
    return next((each for each in outer if each in names), None)


# -- former paths ------------------------------------------------------------------------------------------------------


def returned_paths(known: Container[str], places: Places, inputs: str) -> dict[Path, Path]:
    """Return the paths that resources had when the stack had these inputs, by their present paths.

    Where that is not recorded, a resource that is not in one of the `known` resources of the definition gets the last
    of its paths that is.
    """
    found = {}
    for path, placed in places.items():
        former = _former(placed.state, path, inputs, known)
        if former is not None and former != path:
            found[path] = former
    while clashes := _clashes(places, found):
        for path in clashes:
            del found[path]
    return found


def _clashes(places: Places, moves: Mapping[Path, Path]) -> list[Path]:
    """Return the moves to places that another resource keeps."""
    targets = _targets(places, moves)
    taken = {target for path, target in targets.items() if path not in moves}
    found = []
    for path in moves:
        if targets[path] in taken:
            found.append(path)
        taken.add(targets[path])
    return found


def _former(state: ResourceState, path: Path, inputs: str, known: Container[str]) -> Path | None:
    paths = former_paths(state.row, is_at_top=len(path) == 1)
    at_that_time = next((each.path for each in paths if inputs in each.inputs), None)
    if at_that_time is not None or path[0] in known:
        return at_that_time
    return next((each.path for each in reversed(paths) if each.path[0] in known), None)
