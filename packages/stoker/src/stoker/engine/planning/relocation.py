"""Move recorded resources within a stack and the stacks nested in it, in memory, before a plan is made of them.

A move never depends on where it leads: the resource gets another name, and perhaps another stack, and keeps everything
else that is recorded of it. A nested stack that does not exist yet begins as an empty one, which the plan then updates
like any other. What has changed is recorded in one transaction (see `engine.running.relocation`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson
from sqlalchemy import Connection

from stoker.base.errors import Conflict
from stoker.base.ids import new_id
from stoker.contract.views import NO_REASON
from stoker.engine.memory import SealedText
from stoker.engine.planning.moves import (
    LocatedResource,
    Places,
    after,
    is_elsewhere,
    leads_below,
    new_paths,
    returned_paths,
)
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.actions import RETURNS
from stoker.engine.records.beginnings import Holder, Requester, new_stack
from stoker.engine.records.loader import Prepared
from stoker.engine.records.observations import Observations
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded, current_of, read_tree
from stoker.engine.records.state import Path, ResourceState, former_paths, note_path, path_text, relocate, rename
from stoker.engine.redaction.stacks import Redaction
from stoker.schema.unknown import has_unknown
from stoker.store import queries, refactors
from stoker.store.records import COMPLETE, Resource, Stack
from stoker.template.transfers import StackMove

_EMPTY = {"heat_template_version": "2013-05-23"}


@dataclass(slots=True)
class Tree:
    """A recorded stack, and those nested in it by the resource (UUID) around each, as far as they were read.

    `others` are other root stacks that entries move resources out of, by name.
    """

    top: Recorded
    below: dict[str, Recorded] = field(default_factory=dict)
    others: dict[str, Tree] = field(default_factory=dict)

    def places(self) -> Places:
        """Return the resources by path, those of other root stacks after the name of that (`a/net`)."""
        found = self._own_places()
        for stack, tree in self.others.items():
            for path, placed in tree._own_places().items():
                found[f"{stack}/{path[0]}", *path[1:]] = placed
        return found

    def _own_places(self) -> dict[Path, LocatedResource]:
        found: dict[Path, LocatedResource] = {}
        pending: list[tuple[Path, Recorded]] = [((), self.top)]
        for above, recorded in pending:
            for name, state in recorded.current.items():
                found[*above, name] = LocatedResource(recorded, state)
                if (inside := self.below.get(state.row.uuid)) is not None:
                    pending.append(((*above, name), inside))
        return found


@dataclass(frozen=True, slots=True)
class Relocation:
    """A resource that has got another name or stack: where it `was`, as plans print it; `names` are those that it had
    in its former stack, if that is another one. `path` is where it was, as in `Places`.
    """

    state: ResourceState
    source: Stack
    target: Stack
    path: Path
    names: Sequence[str] = ()

    @property
    def was(self) -> str:
        """Where the resource was, as plans print it."""
        return path_text(self.path)

    @property
    def is_between_stacks(self) -> bool:
        """Whether the resource has got into another stack."""
        return self.source.id != self.target.id


@dataclass(frozen=True, slots=True)
class NewNestedStack:
    """A nested stack that begins empty, with the resource around it and the property set of this."""

    holder: ResourceState
    stack: Stack
    prepared: Prepared
    property_set: dict[str, str]


@dataclass(slots=True)
class CompletedMoves:
    """What was moved. `changed` are all resources whose records have changed, `begun` the new nested stacks, `stacks`
    the nested stacks that have got or lost resources. `secrets` are the values that former stacks of them hide.
    """

    tree: Tree
    moves: list[Relocation] = field(default_factory=list)
    changed: dict[str, ResourceState] = field(default_factory=dict)
    begun: list[NewNestedStack] = field(default_factory=list)
    stacks: dict[str, Stack] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    as_read: dict[str, SealedText | None] = field(default_factory=dict)
    """The sealed states of resources as they were read, of the stacks that have got or lost resources."""
    former: dict[str, dict[str, str]] = field(default_factory=dict)
    """The former paths of moved resources, by the IDs of their stacks and by name."""

    def names(self, stack: Stack) -> dict[str, str]:
        """Return the former paths of the resources that have got their names in a stack, by these names."""
        return self.former.get(stack.id, {})

    @property
    def new(self) -> frozenset[str]:
        """The resources (UUIDs) around nested stacks that begin."""
        return frozenset(each.holder.row.uuid for each in self.begun)


def read(
    services: EngineServices,
    connection: Connection,
    action: str,
    desired: DesiredState,
    top: Recorded,
    observed: Observations | None = None,
) -> Tree:
    """Return the tree whose paths an action can change; without nested stacks if it is about none of them.

    It has the other root stacks of which the stack is to get resources now.
    """
    if action in RETURNS:
        return read_for_return(services, connection, top, observed) if top.states else Tree(top)
    transfers = desired.inputs.environment.transfers.into(top.stack.name)
    is_below = bool(top.states and transfers.moved) and leads_below(desired, top.current, transfers)
    tree = _whole(services, connection, top, observed) if is_below else Tree(top)
    tree.others = _others(services, connection, top.stack, transfers.between)
    return tree


def _others(
    services: EngineServices, connection: Connection, stack: Stack, entries: Sequence[StackMove]
) -> dict[str, Tree]:
    names = {
        entry.source.stack
        for entry in refactors.pending(connection, stack.project_id, entries)
        if entry.target.stack == stack.name and entry.source.stack != stack.name
    }
    found = {}
    for name in sorted(names):
        if (other := queries.stack_by_name(connection, stack.project_id, name)) is not None:
            found[name] = _whole(services, connection, Recorded.of(services, connection, other), None)
    return found


def read_without(
    services: EngineServices,
    connection: Connection,
    top: Recorded,
    observed: Observations | None,
    paths: Container[str],
) -> Tree:
    """Return a tree as it is when another stack has taken the resources at some paths."""
    tree = _whole(services, connection, top, observed)
    places = tree.places()
    for path, placed in places.items():
        if path_text(path) in paths:
            del placed.recorded.states[placed.state.row.uuid], placed.recorded.current[path[-1]]
            for end in range(1, len(path)):
                places[path[:end]].state.row.fingerprint = ""  # so that the plan examines what is around it
    return tree


def read_for_return(
    services: EngineServices, connection: Connection, top: Recorded, observed: Observations | None = None
) -> Tree:
    """Return the tree whose paths a return to a former definition can change."""
    paths = (
        each
        for state in top.states.values()
        if state.row.former_names
        for each in former_paths(state.row, is_at_top=True)
    )
    is_below = any(len(each.path) > 1 for each in paths) or queries.has_moved_below(connection, top.stack)
    return _whole(services, connection, top, observed) if is_below else Tree(top)


def _whole(services: EngineServices, connection: Connection, top: Recorded, observed: Observations | None) -> Tree:
    found = read_tree(services, connection, top.stack, observed)
    return Tree(top, {each.stack.parent_resource or "": each for each in found if each.stack.id != top.stack.id})


def desired_paths(action: str, inputs: str, desired: DesiredState, tree: Tree) -> dict[Path, Path]:
    """Return the paths that resources have in the plan of an action towards `inputs` (an ID), by their present ones.

    The entries of a former definition were carried out at that time: they have no effect on a return to it. Raises
    TemplateInvalid for entries that cannot be carried out.
    """
    if action in RETURNS:
        return returned_paths(desired.definition.resources, tree.places(), inputs)
    transfers = desired.inputs.environment.transfers
    return new_paths(desired, tree.places(), transfers.into(tree.top.stack.name) if tree.others else transfers)


def carry_out(
    services: EngineServices,
    desired: DesiredState,
    tree: Tree,
    moves: Mapping[Path, Path],
    former_inputs: Iterable[str | None] = (),
) -> CompletedMoves:
    """Give resources other paths. `former_inputs` are the IDs of the inputs that the stack had with the present ones.

    Raises Conflict for a path into a nested stack that cannot be begun.
    """
    if not moves:
        return CompletedMoves(tree)
    return _MoveExecution(services, desired, tree, moves, [each for each in former_inputs if each]).done()


class _MoveExecution:
    """Carries out moves, which are given as paths by the present ones."""

    def __init__(
        self,
        services: EngineServices,
        desired: DesiredState,
        tree: Tree,
        moves: Mapping[Path, Path],
        former_inputs: Sequence[str],
    ) -> None:
        self._services = services
        self._desired = desired
        self._places = tree.places()
        self._moves = moves
        self._former_inputs = former_inputs
        self._origins = after(self._places, moves)
        self._completed = CompletedMoves(tree)
        self._begun: dict[Path, Recorded] = {}
        self._definitions: dict[Path, DesiredState | None] = {(): desired}

    def done(self) -> CompletedMoves:
        """Return what was moved."""
        targets = {path: self._stack_at(target[:-1]) for path, target in self._moves.items()}
        apart = {path for path, target in targets.items() if target is not self._places[path].recorded}
        touched = {id(each): each for path, target in targets.items() for each in (self._places[path].recorded, target)}
        self._completed.as_read = {
            uuid: state.sealed_state for recorded in touched.values() for uuid, state in recorded.states.items()
        }
        for path in apart:
            placed = self._places[path]
            del placed.recorded.states[placed.state.row.uuid]
        for recorded in touched.values():
            self._rename(recorded, [path for path in self._moves if path not in apart and self._is_in(path, recorded)])
        for path in sorted(apart, key=lambda each: self._places[each].state.row.position):
            self._transfer(path, targets[path])
        for recorded in touched.values():
            current = current_of(recorded.states.values())
            recorded.current.clear()
            recorded.current.update(current)
        self._note(touched.values())
        for move in self._completed.moves:
            self._completed.changed[move.state.row.uuid] = move.state
            self._completed.former.setdefault(move.target.id, {})[move.state.row.name] = move.was
        return self._completed

    def _is_in(self, path: Path, recorded: Recorded) -> bool:
        return self._places[path].recorded is recorded

    # -- destinations --------------------------------------------------------------------------------------------------

    def _stack_at(self, above: Path) -> Recorded:
        """Return the stack inside a resource, by the path that this has after the moves."""
        top, below = self._completed.tree.top, self._completed.tree.below
        if not above:
            return top
        origin = self._origins.get(above)
        if origin is None:
            return self._begin(above)
        holder = self._places[origin].state
        if holder.row.uuid not in below:
            raise Conflict(
                f"Nothing can be moved into {path_text(above)}, which has no nested stack: its last action was "
                f"{holder.row.action}_{holder.row.status}. Deploy the stack without the move first."
            )
        return below[holder.row.uuid]

    def _begin(self, path: Path) -> Recorded:
        """Return a new nested stack without resources."""
        if (known := self._begun.get(path)) is not None:
            return known
        name, definition = path[-1], self._definition_at(path[:-1])
        if definition is None or name not in definition.types:
            raise Conflict(
                f"Nothing can be moved into {path_text(path)}, which does not exist yet: deploy the stack without the "
                "move first."
            )
        around = self._stack_at(path[:-1])
        now = self._services.clock.now()
        holder, property_set = self._holder(name, definition, around, now)
        requester = Requester(around.stack.user_id, around.stack.user_name)
        loader, inputs = self._services.loader, definition.inputs
        environment = inputs.environment.for_child(name, holder.implementation)
        prepared = loader.prepare(loader.parse(_EMPTY), environment, inputs.files, {}, inputs.denied_types)
        holding = Holder(around.stack, holder.row.uuid, holder.row.name)
        stack = new_stack(
            holder.physical_name, "CREATE", around.stack.project_id, requester, now, prepared=prepared, holder=holding
        )
        stack.status, stack.reason, stack.changed_directly = COMPLETE, "Stack CREATE completed successfully", True
        holder.row.physical_id = stack.id
        recorded = Recorded(stack, {}, {}, prepared.loaded)
        self._begun[path] = self._completed.tree.below[holder.row.uuid] = recorded
        around.states[holder.row.uuid] = around.current[name] = holder
        self._completed.begun.append(NewNestedStack(holder, stack, prepared, property_set))
        return recorded

    def _definition_at(self, path: Path) -> DesiredState | None:
        """Return the desired state of the nested stack of a resource; None unless it has a template of its own, since
        what others will have in them depends on more than the template around them.
        """
        if path not in self._definitions:
            self._definitions[path] = self._definition_of(path)
        return self._definitions[path]

    def _definition_of(self, path: Path) -> DesiredState | None:
        outer, name, loader = self._definition_at(path[:-1]), path[-1], self._services.loader
        if outer is None or name not in outer.types:
            return None
        implementation = outer.types[name][0]
        template = loader.template_named(outer.inputs.files, implementation)
        if template is None:
            return None
        around = self._stack_at(path[:-1])
        parameters = outer.target(name, RecordedScope(around.current.get)).properties
        environment = outer.inputs.environment.for_child(name, implementation)
        inputs = loader.hypothetical_inputs(template, environment, outer.inputs.files, parameters)
        return DesiredState.of(self._services, loader.bind_new(around.stack.project_id, inputs), inputs)

    def _holder(
        self, name: str, desired: DesiredState, around: Recorded, now: float
    ) -> tuple[ResourceState, dict[str, str]]:
        """Return the resource around a new nested stack, with the values that are known already."""
        services = self._services
        target = desired.target(name, RecordedScope(around.current.get))
        row = Resource(
            uuid=new_id(), stack_id=around.stack.id, position=_last(around) + 1, name=name, type=target.type_name,
            action="CREATE", status=COMPLETE, reason=NO_REASON, created_at=now, started_at=now, updated_at=now,
        )  # fmt: skip
        row.requires = orjson.dumps(sorted(target.requires)).decode()
        row.substituted = target.implementation != target.type_name
        state = ResourceState(row, target.type, around.stack.name, services.sealer, services.memory.values)
        state.stored.definition, state.stored.metadata = target.definition(), target.metadata
        return state, state.set_properties(
            {key: value for key, value in target.properties.items() if not has_unknown(value)}
        )

    # -- moving --------------------------------------------------------------------------------------------------------

    def _rename(self, recorded: Recorded, paths: Sequence[Path]) -> None:
        """Give resources other names within their stack."""
        if not paths:
            return
        is_top = recorded is self._completed.tree.top
        names = {path[-1]: self._moves[path][-1] for path in paths}
        moved = [(self._places[path].state, path) for path in paths]
        changed = rename(recorded.states.values(), names, self._former_inputs if is_top else ())
        for state, path in moved:
            if not is_top:
                note_path(state.row, path, self._former_inputs)
            self._completed.moves.append(Relocation(state, recorded.stack, recorded.stack, path))
        for row in changed:
            self._completed.changed[row.uuid] = recorded.states[row.uuid]

    def _transfer(self, path: Path, target: Recorded) -> None:
        """Make a resource one of another stack."""
        placed = self._places[path]
        state, source = placed.state, placed.recorded.stack
        is_here = not is_elsewhere(path)  # a return leads to paths of its own tree
        known = former_paths(state.row, is_at_top=placed.recorded is self._completed.tree.top) if is_here else ()
        names = relocate(state, source, target.stack, self._moves[path][-1], _last(target) + 1)
        inputs = placed.recorded.inputs
        if inputs is not None and inputs.template.hides:
            definition = self._services.loader.bind(source, inputs, strict=False)
            self._completed.secrets |= Redaction(definition, {}).secrets
        state.row.requires = (
            "[]"  # its requirements are in the other stack; the next step about it records the new ones
        )
        for each in known:
            note_path(state.row, each.path, each.inputs)
        if is_here:
            note_path(state.row, path, self._former_inputs)
        target.states[state.row.uuid] = state
        self._completed.moves.append(Relocation(state, source, target.stack, path, names))

    def _note(self, touched: Iterable[Recorded]) -> None:
        """Let the plan examine the resources around the nested stacks that have got or lost resources."""
        top = self._completed.tree.top
        holders = {
            each.state.row.uuid: each for each in self._completed.tree.places().values() if each.state.type.nested
        }
        for recorded in touched:
            if recorded is not top:
                self._completed.stacks[recorded.stack.id] = recorded.stack
            while (around := holders.get(recorded.stack.parent_resource or "")) is not None:
                around.state.row.fingerprint = ""
                recorded = around.recorded


def _last(recorded: Recorded) -> int:
    """Return the position of a stack's latest resource."""
    return max((state.row.position for state in recorded.states.values()), default=0)
