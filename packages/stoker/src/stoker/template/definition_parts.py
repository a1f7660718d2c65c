"""Resources and outputs of a definition: what the template declares, and what binding has decided about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from weakref import proxy

from stoker.base.diagnostics import Path
from stoker.template.expressions import Expression, Reference
from stoker.template.parts import ResourceTemplate


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


class ReferenceLookup(Protocol):
    """A definition, as its resources use it to find what they refer to."""

    resources: Mapping[str, ResourceDefinition]

    def references_in(self, expression: object) -> Iterator[PlacedReference]:
        """Yield every reference in a compiled tree, in chosen branches only."""


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
    def placed_references(self) -> tuple[PlacedReference, ...]:
        """Every reference in properties and metadata, in chosen branches only, with its place."""
        definition = self._definition
        trees = (tree for tree in (self.properties, self.metadata) if isinstance(tree, Expression))
        return tuple(placed for tree in trees for placed in definition.references_in(tree))

    @cached_property
    def references(self) -> frozenset[Reference]:
        """The references in properties and metadata."""
        return frozenset(placed.reference for placed in self.placed_references)

    @cached_property
    def requires(self) -> frozenset[str]:
        """Names of the resources that must be created first; none for an external resource."""
        referred = () if self.external_id is not None else (reference.resource for reference in self.references)
        present = self._definition.resources
        return frozenset(name for name in (*self.depends_on, *referred) if name in present)

    def frozen_source(self) -> Mapping[str, object]:
        """The entry as written: plain data, equal if and only if the template's source is equal."""
        return self.template.source
