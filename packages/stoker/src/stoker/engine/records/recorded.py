"""A recorded stack, read on one open connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.observations import Observations
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.store import queries
from stoker.store.records import Stack
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
    states: Mapping[str, ResourceState] = field(default_factory=dict)
    current: Mapping[str, ResourceState] = field(default_factory=dict)
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
    def below(
        cls, services: EngineServices, connection: Connection, uuid: str, observed: Observations | None = None
    ) -> Recorded | None:
        """Return the nested stack of a resource, or None."""
        stack = queries.stack_by_parent_resource(connection, uuid)
        return cls.of(services, connection, stack, observed) if stack is not None else None


def facade_of(connection: Connection, services: EngineServices, stack: Stack, inputs: LoadedInputs) -> Facade | None:
    """Return the facade of a nested stack's parent resource, if its template uses it; None for a root stack."""
    if stack.parent_resource is None or inputs.template.used_functions.isdisjoint(_FACADE):
        return None
    row = queries.resource_by_uuid(connection, stack.parent_resource)
    if row is None or not row.state:
        return None
    recorded = services.sealer.open(row.state).get("definition", {})
    return Facade(
        recorded.get("metadata", {}), recorded.get("deletion_policy", "Delete"), recorded.get("update_policy", {})
    )


def read_states(
    connection: Connection, services: EngineServices, stack: Stack, inputs: LoadedInputs | None = None
) -> dict[str, ResourceState]:
    """Return all recorded resources of a stack, by uuid, in creation order."""
    states = {state.row.uuid: state for state in read_untyped(connection, services, stack.id, stack.name)}
    files: Mapping[str, str] = inputs.files if inputs is not None else {}
    if inputs is None and any(services.types.of_row(state.row) is None for state in states.values()):
        files = services.loader.load_now(connection, stack.inputs).files
    for state in states.values():
        state.type = services.types.recorded(state, files)
    if absent := [state for state in states.values() if state.type is services.unknown_type]:
        _look_below(connection, services, stack, absent)
    if any(state.type.nested for state in states.values()):
        for uuid in queries.strayed_below(connection, stack.id) & states.keys():
            states[uuid].row.fingerprint = ""
    return states


def read_untyped(
    connection: Connection, services: EngineServices, owner_id: str, stack_name: str
) -> list[ResourceState]:
    """Return all recorded resources of a stack, or copies of a snapshot, in creation order, without their types."""
    reading = services.values.reading()
    states: list[ResourceState] = []
    for row in queries.each_resource_of(connection, owner_id):
        sealed, row.state = reading.sealed(row.state), None
        state = ResourceState(row, services.unknown_type, stack_name, services.sealer, services.values, sealed)
        state.recorded_id = row.physical_id
        states.append(state)
    wanted = [name for state in states for name in (state.row.properties, state.row.former_properties) if name]
    sets = {name: reading.sealed(body) for name, body in queries.each_property_set(connection, wanted)}
    for state in states:
        state.sealed_properties = sets.get(state.row.properties or "")
        state.sealed_former = sets.get(state.row.former_properties or "")
    return states


def _look_below(
    connection: Connection, services: EngineServices, stack: Stack, absent: Iterable[ResourceState]
) -> None:
    """Set the types of resources whose template files are not available any more from their nested stacks.

    A client sends the files that the new template uses, but not those of resources that the update removes. The
    template of such a resource is recorded with its nested stack; without a nested stack, there is nothing to remove.
    """
    made: dict[str, list[ResourceState]] = {}
    for state in absent:
        if is_template_name(state.implementation):
            made.setdefault(state.implementation, []).append(state)
    children = {child.parent_resource: child for child in queries.child_stacks(connection, [stack.id] if made else [])}
    for implementation, states in made.items():
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
