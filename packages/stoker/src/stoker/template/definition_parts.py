"""Resources and outputs of a definition: what the template declares, and what binding has decided about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol
from weakref import proxy

from stoker.base.budget import Budget
from stoker.base.diagnostics import Path
from stoker.schema.unknown import Unknown
from stoker.template.expressions import (
    Binding,
    Evaluation,
    Expression,
    FunctionError,
    LookUp,
    Reference,
    UnknownScope,
    walk,
)
from stoker.template.functions.references import ReferenceFunction
from stoker.template.limits import Limits
from stoker.template.ordering import Requirements, topological
from stoker.template.parts import ResourceTemplate

_UNKNOWN_SCOPE = UnknownScope()


@dataclass(frozen=True, slots=True)
class PlacedReference:
    """A reference and its place in the template."""

    reference: Reference
    path: Path


@dataclass(frozen=True, slots=True)
class OutputDefinition:
    """An output. `value` is an unresolved tree, None if the output is not `enabled`; `export` is the name under which
    other stacks can import the value.
    """

    key: str
    description: str
    value: Any
    enabled: bool
    export: str | None = None


@dataclass(frozen=True, slots=True)
class FoundReferences:
    """What a resource refers to in properties and metadata, in chosen branches only, and the present resources that
    `depends_on` names, alone and with those that it refers to.
    """

    placed: tuple[PlacedReference, ...]
    references: frozenset[Reference]
    named: frozenset[str]
    requires: frozenset[str]


@dataclass(slots=True)
class TemplateStructure:
    """What definitions of one template have in common if their conditions have the same values: the stacks nested in a
    group differ only in values of parameters.

    `_references` are what resources refer to, by name; None for a resource of which that depends on more than the
    conditions. `_orders` are the last two orders that were computed: with and without implicit requirements.
    """

    _references: dict[str, FoundReferences | None] = field(default_factory=dict)
    _orders: list[tuple[Requirements, tuple[list[str], list[str]]]] = field(default_factory=list)

    def found_references(self, resource: ResourceTemplate, binding: Binding) -> FoundReferences:
        """Return what a resource of the definition `binding` refers to."""
        if resource.name not in self._references:
            try:
                self._references[resource.name] = _references_of(resource, _ConditionsOnly(binding))
            except _DependsOnStack:
                self._references[resource.name] = None
        return self._references[resource.name] or _references_of(resource, binding)

    def order(self, requires: Requirements) -> tuple[list[str], list[str]]:
        """Return what `topological` does."""
        for known, order in self._orders:
            if known == requires and list(known) == list(requires):
                return order
        order = topological(requires)
        self._orders = [(requires, order), *self._orders[:1]]
        return order


class _DependsOnStack(Exception):
    """An evaluation needs something that differs between stacks whose conditions have the same values."""


@dataclass(frozen=True, slots=True)
class _ConditionsOnly:
    """A definition without what differs between stacks whose conditions have the same values. Raises _DependsOnStack
    for that.
    """

    definition: Binding

    @property
    def limits(self) -> Limits:
        return self.definition.limits

    @property
    def mappings(self) -> Mapping[str, object]:
        return self.definition.mappings

    @property
    def budget(self) -> Budget:
        return self.definition.budget

    @property
    def files(self) -> Mapping[str, str]:
        raise _DependsOnStack

    @property
    def known_exports(self) -> Mapping[str, object] | None:
        raise _DependsOnStack

    @property
    def look_up(self) -> LookUp | None:
        raise _DependsOnStack

    def parameter(self, name: str) -> object:
        raise _DependsOnStack

    def has_parameter(self, name: str) -> bool:
        return self.definition.has_parameter(name)

    def type_of_parameter(self, name: str) -> str:
        return self.definition.type_of_parameter(name)

    def parameters_of_type(self, kind: str) -> Iterator[str]:
        return self.definition.parameters_of_type(kind)

    def has_resource(self, name: str) -> bool:
        return self.definition.has_resource(name)

    def resource_names(self) -> Iterator[str]:
        return self.definition.resource_names()

    def condition(self, name: str) -> bool | Unknown:
        return self.definition.condition(name)


class ReferenceLookup(Protocol):
    """A definition, as its resources use it to find what they refer to."""

    def found_references(self, resource: ResourceTemplate) -> FoundReferences:
        """Return what a resource refers to."""


def references_in(expression: object, binding: Binding) -> Iterator[PlacedReference]:
    """Yield every reference in a compiled tree, in chosen branches only; none in a call that fails."""
    evaluation = Evaluation(binding, _UNKNOWN_SCOPE, [])
    for node in walk(expression, evaluation):
        if isinstance(node, ReferenceFunction):
            try:
                reference = node.refers_to(evaluation)
            except FunctionError:
                continue
            if reference is not None:
                yield PlacedReference(reference, (*node.path, node.name))


def _references_of(resource: ResourceTemplate, binding: Binding) -> FoundReferences:
    placed = (*references_in(resource.properties, binding), *references_in(resource.metadata, binding))
    references = frozenset(each.reference for each in placed)
    named = frozenset(filter(binding.has_resource, resource.depends_on))
    referred = (reference.resource for reference in references)
    return FoundReferences(placed, references, named, named.union(filter(binding.has_resource, referred)))


class ResourceDefinition:
    """A resource whose condition is true. `properties`, `metadata`, `update_policy` and `creation_policy` are
    unresolved trees.

    It does not keep its definition, which keeps it, so that both are freed without the garbage collector.
    """

    __slots__ = ("__dict__", "_definition", "deletion_policy", "external_id", "template")

    def __init__(
        self, template: ResourceTemplate, definition: ReferenceLookup, deletion_policy: str, external_id: str | None
    ) -> None:
        self.template = template
        self.deletion_policy = deletion_policy
        self.external_id = external_id
        self._definition: ReferenceLookup = proxy(definition)

    @property
    def name(self) -> str:
        return self.template.name

    @property
    def type(self) -> str:
        """The type as written; the environment's resource registry may map it to another type."""
        return self.template.type

    @property
    def properties(self) -> Any:
        return self.template.properties

    @property
    def metadata(self) -> Any:
        return self.template.metadata

    @property
    def update_policy(self) -> Any:
        return self.template.update_policy

    @property
    def creation_policy(self) -> object:
        return self.template.creation_policy

    @property
    def update_replace_policy(self) -> str | None:
        """The policy for the object when another one replaces it; None leaves that to the deletion policy."""
        return self.template.update_replace_policy

    @property
    def description(self) -> str:
        return self.template.description

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Names as written, including those of resources whose condition is false."""
        return self.template.depends_on

    @property
    def ignore_drift(self) -> tuple[str, ...]:
        """The paths of properties whose differences from the cloud are ignored."""
        return self.template.ignore_drift

    @property
    def condition(self) -> object:
        """The compiled condition; True if there is none."""
        return self.template.condition

    @cached_property
    def _found(self) -> FoundReferences:
        return self._definition.found_references(self.template)

    @property
    def placed_references(self) -> tuple[PlacedReference, ...]:
        """Every reference in properties and metadata, in chosen branches only, with its place."""
        return self._found.placed

    @property
    def references(self) -> frozenset[Reference]:
        """The references in properties and metadata."""
        return self._found.references

    @property
    def follows_from_inputs(self) -> bool:
        """Whether its values depend on the template, its inputs and what was read for them, but on no resource."""
        policies = isinstance(self.update_policy, Expression) or isinstance(self.creation_policy, Expression)
        return not policies and not self.references

    @property
    def requires(self) -> frozenset[str]:
        """Names of the resources that must be created first; none for an external resource."""
        return self._found.named if self.external_id is not None else self._found.requires

    def frozen_source(self) -> Mapping[str, object]:
        """The entry as written: plain data, equal if and only if the template's source is equal."""
        return self.template.source
