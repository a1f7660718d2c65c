"""Which values of a plan must be redacted.

A value is hidden if it depends on a hidden parameter. To find such values, the template is resolved again with hidden
parameters unknown: unknowns pass through every function. Properties that a type declares as secret, and a type's
`redacted_data`, are hidden, too.
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
from stoker.plugins.resource import ResourceType, traits_of
from stoker.schema.property import secret_paths
from stoker.schema.unknown import Unknown
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import Facade, Scope, UnknownScope

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

    # -- what is hidden ----------------------------------------------------------------------------------------

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
        if not changes or not (self.hides or self._refers_to_secrets(name)):
            return changes
        paths = set(_marked(_definition_values(self._redacted, name, _RedactedScope(self, scope))))
        if self._former_redacted is not None:
            paths.update(_marked(_definition_values(self._former_redacted, self.moved.get(name, name), UnknownScope())))
        return tuple(replace(change, hidden=below(paths, change.name)) for change in changes)

    def paths(self, name: str, scope: PlanningScope) -> frozenset[Path]:
        """Return the paths of current and former hidden values in a resource's properties; `()` means all of them."""
        if not self.hides and not self._refers_to_secrets(name):
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
            given = definition.resolve(resource.properties, scope) or {}
        except StokerError:
            return HIDDEN
        return {**given, **finalized(kind, given)}

    def _like(self, definition: Definition, name: str) -> ResourceDefinition | None:
        wanted = self.definition.resources[name].type
        return next((other for other in definition.resources.values() if other.type == wanted), None)

    def _refers_to_secrets(self, name: str) -> bool:
        return any(
            self.types[reference.resource][1].redacted_data
            for reference in self.definition.resources[name].references
            if reference.resource in self.types
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
