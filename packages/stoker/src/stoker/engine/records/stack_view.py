"""A recorded stack in memory, read on one open connection, for everything that only reads stacks.

A view has its own states and scope, and cannot record anything or change a running operation. Reads use only views
(`reading`), so that their results do not affect others. Operations and signals act through a `StackContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import orjson
from sqlalchemy import Connection

from stoker.base.ids import arn
from stoker.cloud.session import Cloud
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.observations import Observations
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState, had_name
from stoker.plugins.resource import StackFacts
from stoker.store import queries
from stoker.store.records import Operation, Resource, Stack
from stoker.template.expressions import Facade
from stoker.template.registry import is_template_name

_FACADE = frozenset({"resource_facade", "Fn::ResourceFacade"})
_EMPTY = {"heat_template_version": "2013-05-23"}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stack's resources by uuid and, without replaced ones, by name. A new stack has no `inputs`.

    `facade` are the properties of the parent resource that the template of a nested stack can read (`resource_facade`).
    """

    stack: Stack
    states: dict[str, ResourceState] = field(default_factory=dict)
    current: dict[str, ResourceState] = field(default_factory=dict)
    inputs: LoadedInputs | None = None
    facade: Facade | None = None

    @classmethod
    def of(
        cls, services: EngineServices, connection: Connection, stack: Stack, observed: Observations | None = None
    ) -> Recorded:
        """Return a stack with its resources; without any for one that does not exist yet.

        With `observed`, the resources are as the cloud has them, for a plan.
        """
        if not stack.inputs:
            return cls(stack)
        inputs = services.loader.load_now(connection, stack.inputs)
        states = read_states(connection, services, stack, inputs)
        if observed is not None:
            observed.apply_to(states.values())
        return cls(stack, states, current_of(states.values()), inputs, facade_of(connection, services, stack, inputs))

    @classmethod
    def around(cls, services: EngineServices, connection: Connection, stack: Stack, name: str) -> Recorded:
        """Return only those of a stack's resources that have a name, or that had it if none has, and those that these
        depend on.
        """
        if not stack.inputs:
            return cls(stack)
        inputs = services.loader.load_now(connection, stack.inputs)
        rows = queries.resources_named(connection, stack.id, [name])
        rows = rows or [row for row in queries.moved_resources(connection, stack.id) if had_name(row, name)]
        required = {each for row in rows for each in orjson.loads(row.requires)} - {row.name for row in rows}
        rows += queries.resources_named(connection, stack.id, required)
        states = _typed(
            connection, services, stack, inputs, _untyped(connection, services, rows, {stack.id: stack.name})
        )
        return cls(stack, states, current_of(states.values()), inputs, facade_of(connection, services, stack, inputs))

    @classmethod
    def below(
        cls, services: EngineServices, connection: Connection, uuid: str, observed: Observations | None = None
    ) -> Recorded | None:
        """Return the nested stack of a resource, or None."""
        stack = queries.stack_by_parent_resource(connection, uuid)
        return cls.of(services, connection, stack, observed) if stack is not None else None


def facade_of(connection: Connection, services: EngineServices, stack: Stack, inputs: LoadedInputs) -> Facade | None:
    """Return the facade of a nested stack's parent resource, if its template uses it; None for a root stack."""
    if stack.parent_resource is None or not uses_facade(stack, inputs):
        return None
    row = queries.resource_by_uuid(connection, stack.parent_resource)
    if row is None or not row.state:
        return None
    return _facade(services.sealer.open(row.state).get("definition", {}))


def uses_facade(stack: Stack, inputs: LoadedInputs) -> bool:
    """Return whether the template of a nested stack refers to its parent resource."""
    return stack.parent_resource is not None and not inputs.template.used_functions.isdisjoint(_FACADE)


def _facade(recorded: Mapping[str, Any]) -> Facade:
    return Facade(
        recorded.get("metadata", {}), recorded.get("deletion_policy", "Delete"), recorded.get("update_policy", {})
    )


def read_states(
    connection: Connection, services: EngineServices, stack: Stack, inputs: LoadedInputs | None = None
) -> dict[str, ResourceState]:
    """Return all recorded resources of a stack, by uuid, in creation order."""
    untyped = read_untyped(connection, services, {stack.id: stack.name})[stack.id]
    states = _typed(connection, services, stack, inputs, untyped)
    if any(state.type.nested for state in states.values()):
        _note_direct_change(states, queries.changed_directly_below(connection, stack.id))
    return states


def read_tree(
    services: EngineServices, connection: Connection, top: Stack, observed: Observations | None = None
) -> list[Recorded]:
    """Return a stack and the stacks nested in it, each after those around it; `observed` is that of `Recorded.of`.

    The number of queries does not grow with that of the stacks, only with the depth and the number of templates.
    """
    stacks = [stack for level in queries.levels_of(connection, top) for stack in level if stack.inputs]
    inputs = services.loader.load_all_now(connection, {stack.inputs for stack in stacks})
    untyped = read_untyped(connection, services, {stack.id: stack.name for stack in stacks})
    changed_directly = {stack.parent_resource for stack in stacks if stack.changed_directly and stack.parent_resource}
    holders: dict[str, ResourceState] = {}
    found: list[Recorded] = []
    for stack in stacks:
        loaded = inputs[stack.inputs]
        states = _typed(connection, services, stack, loaded, untyped[stack.id])
        _note_direct_change(states, changed_directly)
        if observed is not None:
            observed.apply_to(states.values())
        holder = holders.get(stack.parent_resource or "")
        if holder is None:
            facade = facade_of(connection, services, stack, loaded)
        else:
            facade = _facade(holder.stored.definition) if uses_facade(stack, loaded) else None
        holders |= {uuid: state for uuid, state in states.items() if state.type.nested}
        found.append(Recorded(stack, states, current_of(states.values()), loaded, facade))
    return found


def _note_direct_change(states: Mapping[str, ResourceState], changed_directly: Iterable[str]) -> None:
    """Let the next update examine the resources around nested stacks that were changed directly."""
    for uuid in set(changed_directly) & states.keys():
        states[uuid].row.fingerprint = ""


def _typed(
    connection: Connection,
    services: EngineServices,
    stack: Stack,
    inputs: LoadedInputs | None,
    untyped: Iterable[ResourceState],
) -> dict[str, ResourceState]:
    """Return the resources of a stack by uuid, with their types."""
    states = {state.row.uuid: state for state in untyped}
    files: Mapping[str, str] = inputs.files if inputs is not None else {}
    if inputs is None and any(services.types.of_row(state.row) is None for state in states.values()):
        files = services.loader.load_now(connection, stack.inputs).files
    for state in states.values():
        state.type = services.types.recorded(state, files)
    if absent := [state for state in states.values() if state.type is services.types.missing]:
        _set_types_from_nested(connection, services, stack, absent)
    return states


def read_untyped(
    connection: Connection, services: EngineServices, stack_names: Mapping[str, str]
) -> dict[str, list[ResourceState]]:
    """Return all recorded resources of stacks, or copies of snapshots, in creation order, without their types.

    `stack_names` are the names of the stacks by the IDs of what the resources belong to.
    """
    found: dict[str, list[ResourceState]] = {owner_id: [] for owner_id in stack_names}
    for state in _untyped(connection, services, queries.each_resource_among(connection, stack_names), stack_names):
        found[state.row.stack_id].append(state)
    return found


def _untyped(
    connection: Connection, services: EngineServices, rows: Iterable[Resource], stack_names: Mapping[str, str]
) -> list[ResourceState]:
    """Return the states of recorded resources, with their values, without their types."""
    loader = services.memory.values.loader()
    states: list[ResourceState] = []
    for row in rows:
        sealed, row.state = loader.sealed(row.state), None
        name = stack_names[row.stack_id]
        state = ResourceState(row, services.types.missing, name, services.sealer, services.memory.values, sealed)
        state.recorded_id = row.physical_id
        states.append(state)
    set_ids = [name for state in states for name in (state.row.properties, state.row.former_properties) if name]
    sets = {name: loader.sealed(body) for name, body in queries.each_property_set(connection, set_ids)}
    for state in states:
        state.sealed_properties = sets.get(state.row.properties or "")
        state.sealed_former = sets.get(state.row.former_properties or "")
    return states


def _set_types_from_nested(
    connection: Connection, services: EngineServices, stack: Stack, absent: Iterable[ResourceState]
) -> None:
    """Set the types of resources whose template files are not available any more from their nested stacks.

    A client sends the files that the new template uses, but not those of resources that the update removes. The
    template of such a resource is recorded with its nested stack; without a nested stack, there is nothing to remove.
    """
    by_implementation: dict[str, list[ResourceState]] = {}
    for state in absent:
        if is_template_name(state.implementation):
            by_implementation.setdefault(state.implementation, []).append(state)
    children = {
        child.parent_resource: child
        for child in queries.child_stacks(connection, [stack.id] if by_implementation else [])
    }
    for implementation, states in by_implementation.items():
        child = next((children[state.row.uuid] for state in states if state.row.uuid in children), None)
        template = (
            services.loader.parse(_EMPTY)
            if child is None
            else services.loader.load_now(connection, child.inputs).template
        )
        for state in states:
            state.type = services.types.of_template(template, implementation)


def current_of(states: Iterable[ResourceState]) -> dict[str, ResourceState]:
    """Return a stack's resources without replaced ones, by name."""
    return {state.row.name: state for state in states if state.row.replaced_by is None and state.row.action != "DELETE"}


def read_below(
    services: EngineServices, connection: Connection, stack: Stack, observed: Observations | None = None
) -> dict[str, Recorded]:
    """Return the stacks nested in a stack with one set of queries, by the uuid of the resource around each."""
    read = read_tree(services, connection, stack, observed)
    return {each.stack.parent_resource or "": each for each in read if each.stack.id != stack.id}


Result = TypeVar("Result")
View = TypeVar("View", bound="StackView")


class StackView:
    """`states` are the stack's resources by uuid, `current` those that have not been replaced, by name.

    A view of one resource (`view_around`) has only some of them, until `whole` has read the others.
    """

    operation: Operation | None = None

    def __init__(self, services: EngineServices, stack: Stack) -> None:
        self.services = services
        self.stack = stack
        self.inputs: LoadedInputs | None = None
        self.states: dict[str, ResourceState] = {}
        self.current: dict[str, ResourceState] = {}
        self.scope = RecordedScope(self.current.get)
        self._facts: StackFacts | None = None
        self._cloud: Cloud | None = None
        self._is_whole = True

    def fill(self, recorded: Recorded) -> None:
        """Set the stack's resources to those read from the database."""
        self.inputs = recorded.inputs
        self.states |= recorded.states
        self.current |= recorded.current
        self.scope.parent = recorded.facade

    def fill_around(self, recorded: Recorded) -> None:
        """Set some of the stack's resources; `whole` reads the others."""
        self.fill(recorded)
        self._is_whole = False

    async def whole(self) -> Mapping[str, ResourceState]:
        """Return all current resources by name, after reading those that the view does not have."""
        if not self._is_whole:
            recorded = await self.services.database.read(partial(Recorded.of, self.services), self.stack)
            states = recorded.states | {uuid: self.states[uuid] for uuid in recorded.states if uuid in self.states}
            for known, found in ((self.states, states), (self.current, current_of(states.values()))):
                known.clear()
                known.update(found)
            self._is_whole = True
        return self.current

    @property
    def planned_secrets(self) -> frozenset[str]:
        """The secrets that the plan of the running operation has found, also of the stacks above; empty without one."""
        return frozenset()

    def named(self, name: str) -> ResourceState | None:
        """Return the current resource with this name, or the latest one that is being removed."""
        if (state := self.current.get(name)) is not None:
            return state
        leaving = [state for state in self.states.values() if state.row.name == name]
        return max(leaving, key=lambda state: state.row.position, default=None)

    async def evaluate(self, work: Callable[[], Result], resources: int = 0) -> Result:
        """Return the result of evaluating the stack's template; long work is done outside the event loop.

        `resources` is the number of resources that are checked or planned; see `Evaluator.evaluate`.
        """
        return await self.services.evaluator.evaluate(self.stack.project_id, work, resources)

    async def load_zones(self) -> None:
        """Read the compute service's availability zones for `Fn::GetAZs`."""
        self.scope.zones = await available_zones(await self.cloud())

    @property
    def facts(self) -> StackFacts:
        """Return the properties of the stack that resource types can read."""
        if self._facts is None:
            stack = self.stack
            self._facts = StackFacts(
                id=stack.id,
                name=stack.name,
                project_id=stack.project_id,
                root_id=stack.root_id,
                arn=arn(stack.project_id, stack.name, stack.id),
                region=self.services.settings.region_name,
                created_at=stack.created_at,
                deadline=self.operation.deadline if self.operation else None,
                timeout_minutes=stack.timeout_minutes,
                user_project_id=stack.user_project_id,
                disable_rollback=stack.disable_rollback,
                options=self.services.settings.type_options,
            )
        return self._facts

    def use(self, cloud: Cloud) -> None:
        """Use the credentials of a request's caller instead of those of the stack's owner."""
        self._cloud = cloud

    async def cloud(self) -> Cloud:
        """Return the cloud for the stack's owner. Raises CloudError if the owner's credential cannot be used."""
        if self._cloud is None:
            self._cloud = await self.services.credentials.cloud_of(self.stack)
        return self._cloud


async def filled(view: View) -> View:
    """Fill a new view with what is recorded of its stack, and return it."""
    view.fill(await view.services.database.read(partial(Recorded.of, view.services), view.stack))
    return view


async def view_of(services: EngineServices, stack: Stack) -> StackView:
    """Return the stack as currently recorded."""
    return await filled(StackView(services, stack))


async def view_around(services: EngineServices, stack: Stack, name: str) -> StackView:
    """Return the stack with the resource of this name, and those that it depends on, as currently recorded."""
    view = StackView(services, stack)
    view.fill_around(await services.database.read(partial(Recorded.around, services), stack, name))
    return view


async def views_of_tree(services: EngineServices, top: Stack) -> list[StackView]:
    """Return a stack and the stacks nested in it as currently recorded, each after those around it."""
    found = []
    for recorded in await services.database.read(partial(read_tree, services), top):
        view = StackView(services, recorded.stack)
        view.fill(recorded)
        found.append(view)
    return found


async def available_zones(cloud: Cloud) -> list[str]:
    """Return the names of the compute service's available zones."""
    body = await cloud.get("nova", "/os-availability-zone")
    return [zone["zoneName"] for zone in body["availabilityZoneInfo"] if zone["zoneState"]["available"]]
