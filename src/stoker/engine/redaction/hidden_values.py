"""Which values of a plan nobody may see.

A value is hidden when it comes from a hidden parameter, however far it has come: resolving the template once more, with
hidden parameters unknown, shows what depends on them, since unknowns pass through every function. Hidden are also
properties that a type holds secret, and what types keep among their `hidden_data`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from stoker.base.errors import StokerError
from stoker.base.redaction import strings_of
from stoker.engine.records.differences import Path, PropertyChange
from stoker.engine.records.state import ResourceState
from stoker.engine.records.values import finalized
from stoker.plugins.resource import ResourceType
from stoker.schema.property import secret_paths
from stoker.schema.unknown import Unknown
from stoker.template.definition import Definition, ResourceDefinition
from stoker.template.expressions import Facade, Scope, UnknownScope

HIDDEN = Unknown.of("(hidden)")
"""In place of a value that nobody may see."""

Shadow = Mapping[str, Any] | None
"""Property values of a resource with HIDDEN in place of what is hidden; None where nothing is."""


class PlanningScope(Scope, Protocol):
    """A scope that also knows what is recorded."""

    def state(self, resource: str) -> ResourceState | None:
        """The recorded resource of this name."""


@dataclass(slots=True)
class Concealment:
    """What is hidden in one stack: `definition` is what it should be, `former` what it was before, where that is known.

    `above` is the definition with HIDDEN in place of what the stack above hides, where it hides anything.
    """

    definition: Definition
    types: Mapping[str, tuple[str, ResourceType]]
    former: Definition | None = None
    above: Definition | None = None
    secrets: frozenset[str] = field(init=False, repr=False)
    _shadow: Definition = field(init=False)
    _former_shadow: Definition | None = field(init=False)
    _local: dict[str, bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.secrets = frozenset(strings_of(list(self._hidden_values())))
        self._shadow = _shadowed(self.above or self.definition)
        self._former_shadow = _shadowed(self.former) if self.former is not None else None

    @property
    def hides(self) -> bool:
        """Whether any parameter is hidden."""
        return self._shadow is not self.definition or self._former_shadow is not self.former

    def _hidden_values(self) -> Iterator[Any]:
        for definition in (self.definition, self.former):
            if definition is not None:
                yield from (definition.parameters.fit(name) for name in definition.parameters.hidden)

    # -- what is hidden ----------------------------------------------------------------------------------------

    def conceal(
        self, name: str, changes: tuple[PropertyChange, ...], scope: PlanningScope
    ) -> tuple[PropertyChange, ...]:
        """The changes of a resource's properties, knowing which of their values are hidden."""
        if not changes:
            return changes
        paths = self.paths(name, scope)
        kind = self.types[name][1]
        if kind.has_secrets:
            for values in ({change.name: change.before for change in changes}, {c.name: c.after for c in changes}):
                paths |= frozenset(secret_paths(kind.properties, values))
        return tuple(replace(change, hidden=below(paths, change.name)) for change in changes) if paths else changes

    def conceal_definition(
        self, name: str, changes: tuple[PropertyChange, ...], scope: PlanningScope
    ) -> tuple[PropertyChange, ...]:
        """The changes of a resource's metadata and policies, knowing which of their values are hidden."""
        if not changes or not (self.hides or self._refers_to_secrets(name)):
            return changes
        paths = set(_marked(_definition_values(self._shadow, name, _ShadowScope(self, scope))))
        if self._former_shadow is not None:
            paths.update(_marked(_definition_values(self._former_shadow, name, UnknownScope())))
        return tuple(replace(change, hidden=below(paths, change.name)) for change in changes)

    def paths(self, name: str, scope: PlanningScope) -> frozenset[Path]:
        """Where the properties of a resource hold hidden values, now or before; `()` is everywhere."""
        if not self.hides and not self._refers_to_secrets(name):
            return frozenset()
        kind = self.types[name][1]
        found = set(_marked(self._values(self._shadow, name, kind, _ShadowScope(self, scope))))
        if self._former_shadow is not None and self._former_shadow is not self.former:
            found.update(_marked(self._values(self._former_shadow, name, kind, UnknownScope())))
        return frozenset(found)

    def shadow(self, name: str, scope: PlanningScope) -> Mapping[str, Any]:
        """Property values of a resource with HIDDEN in place of what is hidden."""
        values = self._values(self._shadow, name, self.types[name][1], _ShadowScope(self, scope))
        return values if isinstance(values, Mapping) else dict.fromkeys(self.types[name][1].properties, HIDDEN)

    def _values(self, definition: Definition, name: str, kind: ResourceType, scope: Scope) -> Any:
        resource = definition.resources.get(name)
        if resource is None:
            # A group may number the members that it asks for in another way; they are all alike.
            resource = self._like(definition, name)
        if resource is None:
            return HIDDEN if definition is self._shadow else {}
        try:
            given = definition.resolve(resource.properties, scope) or {}
        except StokerError:
            return HIDDEN
        return {**given, **finalized(kind, given)}

    def _like(self, definition: Definition, name: str) -> ResourceDefinition | None:
        wanted = self.definition.resources[name].type
        return next((other for other in definition.resources.values() if other.type == wanted), None)

    def _refers_to_secrets(self, name: str) -> bool:
        return any(
            self.types[reference.resource][1].hidden_data
            for reference in self.definition.resources[name].references
            if reference.resource in self.types
        )

    def hides_attribute(self, resource: str, attribute: str, scope: PlanningScope) -> bool:
        """Whether an attribute may show what is hidden; a type without an object shows what it was given."""
        kind = self.types[resource][1] if resource in self.types else None
        return kind is not None and (attribute in kind.hidden_data or self._shows_hidden(resource, kind, scope))

    def _shows_hidden(self, resource: str, kind: ResourceType, scope: PlanningScope) -> bool:
        if not kind.local:
            return False
        if resource not in self._local:
            self._local[resource] = False  # in a circle, of which there are none
            self._local[resource] = bool(self.paths(resource, scope))
        return self._local[resource]

    def hides_reference(self, resource: str, scope: PlanningScope) -> bool:
        """Whether the reference id is itself something hidden, as that of a random text."""
        kind = self.types[resource][1] if resource in self.types else None
        state = scope.state(resource) if kind is not None and kind.hidden_data else None
        if state is None:
            return False
        return state.reference_id() in [state.stored.data.get(key) for key in state.type.hidden_data]


def _definition_values(definition: Definition, name: str, scope: Scope) -> Mapping[str, Any]:
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


def _shadowed(definition: Definition) -> Definition:
    hidden = definition.parameters.hidden
    return definition.with_parameters(dict.fromkeys(hidden, HIDDEN)) if hidden else definition


def below(paths: Iterable[Path], name: str) -> frozenset[Path]:
    """The paths inside one property."""
    return frozenset(path[1:] for path in paths if not path or path[0] == name)


@dataclass(frozen=True, slots=True)
class _ShadowScope:
    """Another scope, hidden values unknown."""

    concealment: Concealment
    scope: PlanningScope

    def reference(self, resource: str) -> Any:
        return HIDDEN if self.concealment.hides_reference(resource, self.scope) else self.scope.reference(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        if self.concealment.hides_attribute(resource, attribute, self.scope):
            return HIDDEN
        return self.scope.attribute(resource, attribute, path)

    def all_attributes(self, resource: str) -> Any:
        values = self.scope.all_attributes(resource)
        if not isinstance(values, Mapping):
            return values
        return {name: self.attribute(resource, name, ()) for name in values}

    def availability_zones(self) -> Any:
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
