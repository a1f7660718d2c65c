"""Which resources a retry skips."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from stoker.base.errors import BadValue
from stoker.base.similar import closest
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded
from stoker.engine.records.state import ResourceState
from stoker.store.records import FAILED, Operation, Stack

SKIPPABLE = ("UPDATE", "CHECK", "DELETE")
"""The failed actions of resources that can be skipped: after others there is no object to rely on."""


@dataclass(frozen=True, slots=True)
class _LocatedResource:
    """A resource of a tree of stacks: its path as in plans, its name as CloudFormation writes that of one in a nested
    stack (`NestedStack.Resource`), and whether the nested stack that it is in is being deleted.
    """

    path: str
    other_name: str | None
    state: ResourceState
    leaving: bool

    @property
    def has_failed(self) -> bool:
        row = self.state.row
        return row.status == FAILED and (row.action == "DELETE" or row.replaced_by is None)

    @property
    def can_be_skipped(self) -> bool:
        """Whether a retry can continue without it: of a nested stack, that is decided for each of its resources."""
        row = self.state.row
        actions = ("DELETE",) if self.state.type.nested else SKIPPABLE
        return self.has_failed and row.action in actions and not self.leaving


def skipped_at(
    connection: Connection, services: EngineServices, stack: Stack, operation: Operation, paths: Collection[str]
) -> frozenset[str]:
    """Return the uuids of the resources at these paths, which a retry of a stack's failed operation skips.

    A path is that of a plan, or the name of a nested stack and of a resource in it. Raises BadValue for a path without
    a resource, for a resource that cannot be skipped, and for an operation that does not apply a definition.
    """
    if operation.action not in FORWARD:
        raise BadValue(_refusal(stack, operation))
    places = list(_places(services, connection, Recorded.of(services, connection, stack), "", leaving=False))
    return frozenset(uuid for path in paths for uuid in _skipped(stack, places, path))


def paths_of(connection: Connection, services: EngineServices, stack: Stack, uuids: Collection[str]) -> list[str]:
    """Return the paths, as plans have them, of the resources of a stack and its nested stacks with these uuids."""
    places = _places(services, connection, Recorded.of(services, connection, stack), "", leaving=False)
    return [place.path for place in places if place.state.row.uuid in uuids]


def _refusal(stack: Stack, operation: Operation) -> str:
    text = f"The {operation.stack_action.lower()} of stack {stack.name} cannot continue without resources"
    if operation.action == "DELETE":
        return f"{text}: delete the stack again, and retain their objects (`retain`)."
    return f"{text}: only a creation, an update, a rollback or a restoration can."


def _places(
    services: EngineServices, connection: Connection, recorded: Recorded, above: str, *, leaving: bool
) -> Iterator[_LocatedResource]:
    """Yield the resources of a stack and of the stacks nested in it."""
    stack = recorded.stack
    for state in recorded.states.values():
        name = state.row.name
        yield _LocatedResource(f"{above}{name}", f"{stack.name}.{name}" if above else None, state, leaving)
        below = Recorded.below(services, connection, state.row.uuid) if state.type.nested else None
        if below is not None:
            goes = leaving or state.row.action == "DELETE"
            yield from _places(services, connection, below, f"{above}{name}.", leaving=goes)


def _skipped(stack: Stack, places: Collection[_LocatedResource], path: str) -> list[str]:
    found = [place for place in places if path in (place.path, place.other_name)]
    skipped = [place.state.row.uuid for place in found if place.can_be_skipped]
    if not skipped:
        raise BadValue(_obstacle(stack, places, found, path))
    return skipped


def _obstacle(
    stack: Stack, places: Collection[_LocatedResource], found: Collection[_LocatedResource], path: str
) -> str:
    choices = [place.path for place in places if place.can_be_skipped]
    can_be = f"those that can be skipped are {', '.join(choices)}." if choices else "none can be skipped."
    if not found:
        meant = closest(path, choices)
        return (
            f"The stack {stack.name} has no resource {path!r}{f': did you mean {meant!r}?' if meant else f'; {can_be}'}"
        )
    place = next((each for each in found if each.has_failed), next(iter(found)))
    row = place.state.row
    if row.status != FAILED:
        why = f"it has not failed, but is in {row.action}_{row.status}"
    elif not place.has_failed:
        why = f"its {row.action.lower()} has failed, but another object has replaced that one"
    elif place.leaving:
        holder = place.path.rpartition(".")[0]
        why = f"its stack is being deleted: skip {holder} as a whole"
    elif place.state.type.nested:
        why = "it is a nested stack: name the failed resources in it"
    else:
        why = f"its {row.action.lower()} has failed, so that others cannot rely on its object"
    return f"The resource {place.path} of stack {stack.name} cannot be skipped: {why}; {can_be}"
