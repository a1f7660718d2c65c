"""Which recorded resources get other names before a plan is made: those of the entries `moved` of the environment, and
those that a rollback or the restoration of a snapshot returns to their former names.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.engine.planning.decide import can_become
from stoker.engine.planning.planner import Wanted
from stoker.engine.records.actions import RETURNS
from stoker.engine.records.former_names import former_names, had_name, rename
from stoker.engine.records.recorded import current_of
from stoker.engine.records.state import ResourceState
from stoker.store.records import Resource
from stoker.template.transfers import Move, Release, Transfers


def carry_out(
    action: str, inputs: str, former_inputs: Iterable[str | None], wanted: Wanted, states: Collection[ResourceState]
) -> tuple[list[Resource], dict[str, str]]:
    """Give recorded resources the names that they have in the plan of an action towards `inputs` (an ID).

    `former_inputs` are the IDs of those that the stack had before. Return the rows that have changed, and the former
    names by the new ones. The entries of a former definition were carried out at that time: they have no effect on a
    return to it. Raises TemplateInvalid for entries that cannot be carried out.
    """
    if action in RETURNS:
        names = returned_names(wanted.definition.resources, states, inputs)
    else:
        names = new_names(wanted, states, wanted.inputs.environment.transfers)
    rows = rename(states, names, [each for each in former_inputs if each]) if names else []
    return rows, {target: source for source, target in names.items()}


# -- entries of the environment ----------------------------------------------------------------------------------------


def new_names(wanted: Wanted, states: Iterable[ResourceState], transfers: Transfers) -> dict[str, str]:
    """Return the names that entries give to recorded resources, by their present names, from end to end of each chain.

    Raises TemplateInvalid for entries that cannot be carried out.
    """
    if not transfers:
        return {}
    moves, current = transfers.moved, current_of(states)
    origins = {name: name for name in current}
    while sum(_move(move, origins, wanted) for move in reversed(moves)):
        pass
    names = {origin: name for name, origin in origins.items() if name != origin}
    problems = [problem for move in moves for problem in _problems(move, wanted, current, origins)]
    problems += [problem for release in transfers.removed for problem in _release_problems(release, wanted, current)]
    if problems:
        raise TemplateInvalid(problems)
    return names


def _move(move: Move, origins: dict[str, str], wanted: Wanted) -> bool:
    """Move a resource if it is there, and the name is free, and it is not wanted where it is; whether it has moved."""
    known = wanted.definition.resources
    stays = move.source in known and move.target not in known
    if move.source not in origins or move.target in origins or stays:
        return False
    origins[move.target] = origins.pop(move.source)
    return True


def _problems(
    move: Move, wanted: Wanted, current: Mapping[str, ResourceState], origins: Mapping[str, str]
) -> Iterator[Diagnostic]:
    known, types = wanted.definition.resources, wanted.types
    for key, name in (("from", move.source), ("to", move.target)):
        outer = outer_of(name, known.keys() | current.keys())
        if outer is not None:
            message = f"{name} is inside the nested stack of {outer}; only resources of the stack itself can be moved"
            yield move.problem(message, key)
            return
    if move.source in origins and move.target in origins:
        occupant = current.get(origins[move.target])
        if move.source not in known and not (occupant is not None and had_name(occupant.row, move.source)):
            message = f"the stack has the resources {move.source} and {move.target} already, each with its own object"
            yield move.problem(message, hint="remove one of them from the stack first, or the entry")
        return
    origin = origins.get(move.target)
    if origin is None or origin == move.target:
        return
    if move.target not in known:
        message = f"the template has no resource {move.target}, to which the object of {origin} is moved"
        yield move.problem(message, "to")
    elif move.target in types and not can_become(current[origin], *types[move.target]):
        message = f"the resource {move.target} has the type {types[move.target][0]}, but {origin} has the type "
        yield move.problem(message + current[origin].implementation, "to")


def _release_problems(release: Release, wanted: Wanted, current: Mapping[str, ResourceState]) -> Iterator[Diagnostic]:
    name, known = release.source, wanted.definition.resources
    if name in known:
        message = f"the template has the resource {name}, so it is not removed"
        yield release.problem(message, "from", "remove it from the template, or the entry")
    elif (outer := outer_of(name, known.keys() | current.keys())) is not None:
        message = f"{name} is inside the nested stack of {outer}; only resources of the stack itself can be removed so"
        yield release.problem(message, "from")


def outer_of(name: str, known: Iterable[str]) -> str | None:
    """Return the resource in whose nested stack a path leads; None for the name of a resource itself."""
    names = set(known)
    parts = name.split(".")
    if name in names:
        return None
    outer = (".".join(parts[:end]) for end in range(1, len(parts)))
    return next((each for each in outer if each in names), None)


# -- former names ------------------------------------------------------------------------------------------------------


def returned_names(known: Container[str], states: Iterable[ResourceState], inputs: str) -> dict[str, str]:
    """Return the names that resources had when the stack had these inputs, by their present names.

    Where that is not recorded, a resource which is not among the `known` names of the definition gets the last of its
    names that is.
    """
    current = current_of(states)
    names = {}
    for name, state in current.items():
        former = _former(state, inputs, known)
        if former is not None and former != name:
            names[name] = former
    while clashes := {name for name, former in names.items() if former in current and former not in names}:
        for name in clashes:
            del names[name]
    return names


def _former(state: ResourceState, inputs: str, known: Container[str]) -> str | None:
    names = former_names(state.row)
    at_that_time = next((each.name for each in names if inputs in each.inputs), None)
    if at_that_time is not None or state.row.name in known:
        return at_that_time
    return next((each.name for each in reversed(names) if each.name in known), None)
