"""The secrets of a stack, and its values, plans and messages with them redacted.

A value of a plan is hidden if it depends on a hidden parameter. To find such values, the template is resolved again
with hidden parameters unknown: unknowns pass through every function. Properties that a type declares as secret, and a
type's `redacted_data`, are hidden, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from stoker.base.errors import StokerError
from stoker.base.redaction import REDACTED, Redactor, redact, redact_values, strings_of
from stoker.engine.records.differences import Path, PropertyChange, shown
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, view_of
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import ResourceType, finalized, traits_of
from stoker.schema.property import secret_paths
from stoker.schema.unknown import Unknown
from stoker.store import queries
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.derived import derived_values
from stoker.template.expressions import Facade, Scope, UnknownScope

Message = TypeVar("Message", str, list[str])


async def secrets_now(services: EngineServices, stack: Stack) -> set[str]:
    """Return the values of hidden parameters of the stack and of the stacks above it, as strings.

    These include hidden parameters of templates among the stack's files: defaults, and values from the environment.
    """
    found = await _secrets_of(services, [(each, [each.inputs]) for each in await _upwards(services, stack)])
    return await prepared(services, stack, found)


async def secrets_ever(services: EngineServices, stack: Stack) -> set[str]:
    """Return the same including the values that the parameters had before."""
    found = await _secrets_of(services, await _history(services, await _upwards(services, stack)))
    return await prepared(services, stack, found)


async def secrets_of_tree(services: EngineServices, stacks: Sequence[Stack]) -> dict[str, set[str]]:
    """Return `secrets_ever` of a stack and of the stacks nested in it, by ID, with one set of queries.

    `stacks` are the stack and then those nested in it, each after the one around it.
    """
    history = await _history(services, stacks)
    input_ids = {identifier for _, inputs in history for identifier in inputs}
    loaded = await services.database.read(services.loader.load_all_now, input_ids)
    above = await _secrets_of(services, await _history(services, (await _upwards(services, stacks[0]))[1:]))
    found: dict[str, set[str]] = {}
    for stack, inputs in history:
        around = found.get(stack.parent_id or "", above)
        own = set(around)
        for identifier in inputs:
            own |= await services.secrets(stack, identifier, frozenset(around), loaded[identifier])
        found[stack.id] = own
    for stack in stacks:
        await prepared(services, stack, found[stack.id])
    return found


async def secrets_above(services: EngineServices, stack: Stack) -> set[str]:
    """Return what the stacks above a nested stack hide, now or before: the nested stack must not show it either.

    This includes the secrets that resource types generated in those stacks.
    """
    found: set[str] = set()
    for each in reversed((await _upwards(services, stack))[1:]):
        found |= await _all_secrets(await view_of(services, each), found)
    return found


async def all_secrets(view: StackView) -> set[str]:
    """Return the secrets of a stack, now or before: values of hidden parameters, of the stacks above it as well,
    secrets that resource types generated, and what functions derive from both.
    """
    found = await _all_secrets(view, await secrets_above(view.services, view.stack))
    return await prepared(view.services, view.stack, found)


async def prepared(services: EngineServices, stack: Stack, secrets: set[str]) -> set[str]:
    """Return the secrets after preparing the search for large ones on a thread, so that it does not delay others."""
    if sum(map(len, secrets)) + _EACH * len(secrets) > _PREPARED_AT_ONCE:
        await services.evaluator.compute_on_thread(stack.project_id, partial(Redactor, secrets))
    return secrets


_PREPARED_AT_ONCE = 32 * 1024
"""Characters of secrets for which the search is prepared within a few milliseconds."""

_EACH = 32
"""Characters that every secret counts besides its own."""


async def _all_secrets(view: StackView, above: set[str]) -> set[str]:
    found = set(above)
    taints = frozenset(above)
    for _, inputs in await _history(view.services, [view.stack]):
        for inputs_id in inputs:
            found |= await view.services.secrets(view.stack, inputs_id, taints)
    if generated := set(generated_secrets(view)):
        found |= generated | await _derived(view, generated | above)
    return found


async def _secrets_of(services: EngineServices, stacks: Sequence[tuple[Stack, Collection[str]]]) -> set[str]:
    """Return what stacks hide in inputs with these IDs. `stacks` are a stack and those above it, the root last."""
    found: set[str] = set()
    for stack, inputs in reversed(stacks):
        above = frozenset(found)
        for inputs_id in inputs:
            found |= await services.secrets(stack, inputs_id, above)
    return found


async def _history(services: EngineServices, stacks: Sequence[Stack]) -> list[tuple[Stack, Collection[str]]]:
    """Return each stack with the IDs of its inputs, current and former: none for a stack that is planned only."""
    identifiers = [stack.id for stack in stacks]
    former = await services.database.read(queries.inputs_of_operations, identifiers) if stacks else {}
    return [(stack, {stack.inputs, *former.get(stack.id, ())} - {""}) for stack in stacks]


async def _upwards(services: EngineServices, stack: Stack) -> list[Stack]:
    """Return the stack and those above it, up to the root."""
    found = [stack]
    while found[-1].parent_id is not None:
        above = await services.database.read(queries.stack_by_id, found[-1].parent_id)
        if above is None:
            break
        found.append(above)
    return found


async def without_secrets(view: StackView, message: Message, states: Sequence[ResourceState] = ()) -> Message:
    """Return messages that are recorded or shown in clear, such as reasons, with secrets of the stack and of those
    above it redacted.

    `states` are the resources that the messages are about.
    """
    shared = await secrets_ever(view.services, view.stack)
    if own := set(generated_secrets(view)):
        own |= await _derived(view, own, {state.row.name for state in states})
    for state in states:
        own.update(_secret_properties(state))
    for secrets in (shared, view.planned_secrets, own):  # searches for the first two are prepared once
        message = redact(message, secrets)
    return message


async def _derived(view: StackView, secrets: set[str], only: Collection[str] | None = None) -> frozenset[str]:
    """Return what functions in a stack's template derive from secrets that attributes of its resources return."""
    with suppress(StokerError):
        inputs = view.inputs or await view.services.loader.load(view.stack.inputs)
        definition = await view.services.bind(view.stack, inputs)
        work = partial(derived_values, definition, view.scope, secrets, only)
        return await view.evaluate(work)
    return frozenset()


def generated_secrets(view: StackView) -> Iterator[str]:
    """Yield the secrets that resource types generated: `redacted_data` of the stack's resources."""
    for state in view.states.values():
        for key in state.type.redacted_data & state.stored.data.keys() if state.type.redacted_data else ():
            yield from strings_of(state.stored.data[key])


def _secret_properties(state: ResourceState) -> Iterator[str]:
    if traits_of(state.type).has_secrets:
        for path in secret_paths(state.type.properties, state.properties):
            value: Any = state.properties
            for part in path:
                value = value[part]
            yield from strings_of(value)


async def properties_shown(
    services: EngineServices, stack: Stack, events: Iterable[tuple[str | None, str, str]]
) -> dict[str, Mapping[str, object]]:
    """Return redacted property sets by ID. `events` are given as the ID of the event's set, or None, and the type and
    name of its resource.

    Current and former hidden values, generated secrets, and properties that a type declares as secret are redacted.
    """
    owners = {identifier: owner for identifier, *owner in events if identifier is not None}
    if not owners:
        return {}
    sealed = await services.database.read(lambda connection: dict(queries.each_property_set(connection, set(owners))))
    view = await view_of(services, stack)
    secrets = await all_secrets(view)
    inputs = view.inputs or await services.loader.load(stack.inputs)

    def redacted() -> dict[str, Mapping[str, object]]:
        redaction = _redaction(view, inputs)
        found: dict[str, Mapping[str, object]] = {}
        for identifier, body in sealed.items():
            values, (type_name, name) = services.sealer.open(body), owners[identifier]
            _, kind = services.types.lookup(inputs.environment, inputs.files, type_name, name)
            hidden = (
                set(secret_paths(kind.properties, values))
                if kind is not None and traits_of(kind).has_secrets
                else set()
            )
            if redaction is not None and name in redaction.definition.resources:
                hidden |= redaction.paths(name, view.scope)
            visible = dict.fromkeys(values, REDACTED) if () in hidden else shown(values, hidden)
            found[identifier] = redact_values(visible, secrets)
        return found

    return await view.evaluate(redacted)


def _redaction(view: StackView, inputs: LoadedInputs) -> Redaction | None:
    """Return what finds values in the stack's properties that depend on hidden parameters or secret attributes; None
    if there are none, or the template is no longer valid.
    """
    if not inputs.template.hides and not any(state.type.redacted_data for state in view.states.values()):
        return None
    with suppress(StokerError):
        definition = view.services.loader.bind(view.stack, inputs, strict=False)
        types = view.services.types.of_definition(definition, inputs.environment, inputs.files)
        return Redaction(definition, types)
    return None


HIDDEN = Unknown.of("(hidden)")
"""The placeholder of a hidden value."""

RedactedProperties = Mapping[str, Any] | None
"""Property values of a resource with HIDDEN in place of hidden values; None if nothing is hidden."""


class PlanningScope(Scope, Protocol):
    """A scope that also gives access to recorded resources."""

    def state(self, resource: str) -> ResourceState | None:
        """Return the recorded resource of this name."""


@dataclass(slots=True)
class Redaction:
    """Finds the hidden values of one stack. `definition` is the desired state, `former` the previous one if known.

    `above` is the definition with HIDDEN in place of values that the stack above hides, if it hides any. `moved` are
    the names in `former` of resources that have other names in `definition`.
    """

    definition: Definition
    types: Mapping[str, tuple[str, ResourceType]]
    former: Definition | None = None
    above: Definition | None = None
    moved: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = field(init=False, repr=False)
    _redacted: Definition = field(init=False)
    _former_redacted: Definition | None = field(init=False)
    _local: dict[str, bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.secrets = frozenset(strings_of(list(self._hidden_values())))
        self._redacted = _with_hidden_parameters_redacted(self.above or self.definition)
        self._former_redacted = _with_hidden_parameters_redacted(self.former) if self.former is not None else None

    @property
    def hides(self) -> bool:
        """Return whether any parameter is hidden."""
        return self._redacted is not self.definition or self._former_redacted is not self.former

    def _hidden_values(self) -> Iterator[object]:
        for definition in (self.definition, self.former):
            if definition is not None:
                yield from (definition.parameters.fit(name) for name in definition.parameters.hidden)

    # -- hidden values -----------------------------------------------------------------------------------------

    def redact_changes(
        self, name: str, changes: tuple[PropertyChange, ...], scope: PlanningScope
    ) -> tuple[PropertyChange, ...]:
        """Return the changes of a resource's properties, with their hidden values marked."""
        if not changes:
            return changes
        paths = self.paths(name, scope)
        kind = self.types[name][1]
        if traits_of(kind).has_secrets:
            for values in ({change.name: change.before for change in changes}, {c.name: c.after for c in changes}):
                paths |= frozenset(secret_paths(kind.properties, values))
        return tuple(replace(change, hidden=below(paths, change.name)) for change in changes) if paths else changes

    def redact_definition_changes(
        self, name: str, changes: tuple[PropertyChange, ...], scope: PlanningScope
    ) -> tuple[PropertyChange, ...]:
        """Return the changes of a resource's metadata and policies, with their hidden values marked."""
        if not changes or not (self.hides or self._refers_to_secrets(name, scope)):
            return changes
        paths = set(_marked(_definition_values(self._redacted, name, _RedactedScope(self, scope))))
        if self._former_redacted is not None:
            paths.update(_marked(_definition_values(self._former_redacted, self.moved.get(name, name), UnknownScope())))
        return tuple(replace(change, hidden=below(paths, change.name)) for change in changes)

    def paths(self, name: str, scope: PlanningScope) -> frozenset[Path]:
        """Return the paths of current and former hidden values in a resource's properties; `()` means all of them."""
        if not self.hides and not self._refers_to_secrets(name, scope):
            return frozenset()
        kind = self.types[name][1]
        found = set(_marked(self._values(self._redacted, name, kind, _RedactedScope(self, scope))))
        if self._former_redacted is not None and self._former_redacted is not self.former:
            found.update(_marked(self._values(self._former_redacted, name, kind, UnknownScope())))
        return frozenset(found)

    def redacted_properties(self, name: str, scope: PlanningScope) -> Mapping[str, object]:
        """Return the property values of a resource with HIDDEN in place of hidden values."""
        values = self._values(self._redacted, name, self.types[name][1], _RedactedScope(self, scope))
        return values if isinstance(values, Mapping) else dict.fromkeys(self.types[name][1].properties, HIDDEN)

    def _values(self, definition: Definition, name: str, kind: ResourceType, scope: Scope) -> object:
        is_former = definition is self._former_redacted and definition is not self._redacted
        resource = definition.resources.get(self.moved.get(name, name) if is_former else name)
        if resource is None:
            # A group may number its members differently; their properties are alike.
            resource = self._like(definition, name)
        if resource is None:
            return HIDDEN if definition is self._redacted else {}
        try:
            resolved = definition.resolve(resource.properties, scope) or {}
        except StokerError:
            return HIDDEN
        return {**resolved, **finalized(kind, resolved)}

    def _like(self, definition: Definition, name: str) -> ResourceDefinition | None:
        type_name = self.definition.resources[name].type
        return next((other for other in definition.resources.values() if other.type == type_name), None)

    def _refers_to_secrets(self, name: str, scope: PlanningScope) -> bool:
        """Return whether a resource refers to what may be a secret; the reference ID of a new resource is none yet."""
        return any(
            self.types[reference.resource][1].redacted_data
            for reference in self.definition.resources[name].references
            if reference.resource in self.types
            and (reference.attribute is not None or scope.state(reference.resource) is not None)
        )

    def hides_attribute(self, resource: str, attribute: str, scope: PlanningScope) -> bool:
        """Return whether an attribute may show a hidden value; a type without an object returns its properties."""
        kind = self.types[resource][1] if resource in self.types else None
        return kind is not None and (attribute in kind.redacted_data or self._shows_hidden(resource, kind, scope))

    def _shows_hidden(self, resource: str, kind: ResourceType, scope: PlanningScope) -> bool:
        if not kind.local:
            return False
        if resource not in self._local:
            self._local[resource] = False  # ends the recursion if resources depend on each other
            self._local[resource] = bool(self.paths(resource, scope))
        return self._local[resource]

    def hides_reference(self, resource: str, scope: PlanningScope) -> bool:
        """Return whether the reference ID is itself hidden, such as that of a random string."""
        kind = self.types[resource][1] if resource in self.types else None
        state = scope.state(resource) if kind is not None and kind.redacted_data else None
        if state is None:
            return False
        return state.reference_id() in [state.stored.data.get(key) for key in state.type.redacted_data]


def _definition_values(definition: Definition, name: str, scope: Scope) -> Mapping[str, object]:
    resource = definition.resources.get(name)
    if resource is None:
        return {}
    try:
        return {
            "metadata": definition.resolve(resource.metadata, scope),
            "update_policy": definition.resolve(resource.update_policy, scope),
        }
    except StokerError:
        return {"metadata": HIDDEN, "update_policy": HIDDEN}


def _with_hidden_parameters_redacted(definition: Definition) -> Definition:
    hidden = definition.parameters.hidden
    return definition.with_parameters(dict.fromkeys(hidden, HIDDEN)) if hidden else definition


def below(paths: Iterable[Path], name: str) -> frozenset[Path]:
    """Return the paths inside one property."""
    return frozenset(path[1:] for path in paths if not path or path[0] == name)


@dataclass(frozen=True, slots=True)
class _RedactedScope:
    """Another scope with hidden values unknown."""

    redaction: Redaction
    scope: PlanningScope

    def reference(self, resource: str) -> Any:
        return HIDDEN if self.redaction.hides_reference(resource, self.scope) else self.scope.reference(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> object:
        if self.redaction.hides_attribute(resource, attribute, self.scope):
            return HIDDEN
        return self.scope.attribute(resource, attribute, path)

    def all_attributes(self, resource: str) -> object:
        values = self.scope.all_attributes(resource)
        if not isinstance(values, Mapping):
            return values
        return {name: self.attribute(resource, name, ()) for name in values}

    def availability_zones(self) -> object:
        return self.scope.availability_zones()

    def facade(self) -> Facade | None:
        return self.scope.facade()


def _marked(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, Unknown):
        if value.sources & HIDDEN.sources:
            yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _marked(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _marked(item, (*path, index))
