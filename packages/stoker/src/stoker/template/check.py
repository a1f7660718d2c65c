"""Validate a definition against the resource types: every mistake that is visible before any resource is created.

Nothing here sends requests to a service; the engine checks custom constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.plugins import capabilities
from stoker.plugins.resource import Node, ResourceType
from stoker.schema.unknown import is_unknown
from stoker.template.definition import Definition
from stoker.template.definition_parts import PlacedReference, ResourceDefinition
from stoker.template.expressions import Reference, entries_of
from stoker.template.names import EVERY_TYPE_HAS, SCOPE, NameChecker, TypeLookup, has_attribute
from stoker.template.ordering import would_close_cycle
from stoker.template.problems import suggestion
from stoker.template.properties import Finalized, against_schema, finalize, key_path, resolve_map

DeepCheck = Callable[[ResourceDefinition, ResourceType, Mapping[str, Any]], Iterable[Diagnostic]]
"""Returns diagnostics about the nested stack that a resource with these property values would create."""

_MEMBER = "resource."
"""The prefix of attributes of a single member: `resource.0.addr`."""


def check(
    definition: Definition,
    types: TypeLookup,
    *,
    deep: DeepCheck | None = None,
    type_names: Sequence[str] = (),
) -> list[Diagnostic]:
    """Return all diagnostics, in the order in which Heat checks; empty if the definition is valid.

    `deep` is called for each resource, with the values of its properties, of which invalid ones are unknown, and looks
    into its nested stack, if it has one. `type_names` are the existing types, for suggestions in hints.
    """
    return _Checker(definition, types, deep, type_names).all_problems()


class _Checker(NameChecker):
    """Checks names and values."""

    def __init__(
        self, definition: Definition, types: TypeLookup, deep: DeepCheck | None, type_names: Sequence[str]
    ) -> None:
        super().__init__(definition, types, type_names)
        self._deep = deep
        self._members: dict[str, list[_Member]] = {}
        self._in_resources: list[tuple[PlacedReference, str]] = []
        self._in_outputs: list[tuple[PlacedReference, str]] = []

    # -- references -------------------------------------------------------------------------------------------

    def check_reference(self, resource: ResourceDefinition, placed: PlacedReference) -> None:
        self.require_resource(placed, "InvalidTemplateReference")
        if not self.ignores_properties(resource) and self.declared_attribute(placed):
            self._attribute_of_members(placed, self._in_resources)
            self._attribute_path(placed)

    def check_output_reference(self, placed: PlacedReference) -> None:
        super().check_output_reference(placed)
        self._attribute_of_members(placed, self._in_outputs)

    def _attribute_of_members(self, placed: PlacedReference, found: list[tuple[PlacedReference, str]]) -> None:
        """Remember an attribute of a group's members, whose types are known when all resources are checked."""
        target = self.types.get(placed.reference.resource)
        if target is not None and (attribute := attribute_of_members(target, placed.reference)) is not None:
            found.append((placed, attribute))

    def check_outputs(self) -> None:
        super().check_outputs()
        self._check_members()

    def _check_members(self) -> None:
        """Check the attributes of groups' members that resources and outputs refer to."""
        for references, in_output in ((self._in_resources, False), (self._in_outputs, True)):
            for placed, attribute in references:
                for member in self._members.get(placed.reference.resource, ()):
                    if not (in_output and member.type.missing_attribute_is_null):
                        self._member_attribute(placed, attribute, member)

    def _member_attribute(self, placed: PlacedReference, attribute: str, member: _Member) -> None:
        if not _member_has_attribute(member.type, attribute):
            self.problems.add(
                "unknown-attribute",
                f"the members of {placed.reference.resource!r} ({member.written}) have no attribute {attribute!r}",
                placed.path,
                hint=suggestion(attribute, [*member.type.attributes, EVERY_TYPE_HAS]),
            )

    def _attribute_path(self, placed: PlacedReference) -> None:
        """Refuse a reference without a path to an attribute that needs one; in outputs the value is null as in Heat."""
        reference, path = placed.reference, placed.path
        target = self.types[reference.resource]
        assert target is not None
        declared = target.attributes.get(reference.attribute or "")
        if declared is not None and declared.needs_path and not reference.path:
            self.problems.add(
                "unknown-attribute",
                f"the attribute {reference.attribute!r} of {reference.resource!r} "
                f"({self.shown_type(reference.resource)}) needs a path",
                path,
                hint=f"name an attribute of the members: [{reference.resource}, {reference.attribute}, …]",
            )

    # -- values -----------------------------------------------------------------------------------------------

    def check_values(self, resource: ResourceDefinition, kind: ResourceType | None) -> None:
        self._metadata(resource)
        if kind is None:
            path = key_path(self.definition, resource, "properties")
            self.problems.add_all(resolve_map(self.definition, resource.properties, SCOPE, path)[1])
        elif resource.external_id is None:
            self._against_type(resource, kind, finalize(self.definition, resource, kind, SCOPE))

    def _metadata(self, resource: ResourceDefinition) -> None:
        if resource.metadata:
            path = key_path(self.definition, resource, "metadata")
            _, found = resolve_map(self.definition, resource.metadata, SCOPE, path)
            self.problems.add_all(found)

    def _against_type(self, resource: ResourceDefinition, kind: ResourceType, finalized: Finalized) -> None:
        self.problems.add_all(finalized.diagnostics)
        values = finalized.usable()
        problems = [*kind.validate(values), *_plain_names(kind, values)]
        for problem in problems:
            self.problems.add("properties", problem, key_path(self.definition, resource, "properties"))
        self._own_policies(resource, kind)
        if not problems and is_group(kind):
            self._members[resource.name] = list(self._types_of_members(kind, values))
        if self._deep is not None and not problems:
            self.problems.add_all(self._deep(resource, kind, values))

    def _types_of_members(self, kind: ResourceType, values: Mapping[str, object]) -> Iterator[_Member]:
        sample = capabilities.sample_of(kind, values)
        template = sample.template if sample is not None else None
        members = (template or {}).get("resources") or {}
        for name, member in members.items():
            written = member.get("type")
            try:
                found = self.lookup(written, name) if isinstance(written, str) else None
            except TemplateInvalid:  # the check of the nested stack reports it
                found = None
            if found is not None:
                yield _Member(written, found)

    # -- policies that Heat does not have ---------------------------------------------------------------------

    def _own_policies(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        if resource.update_replace_policy == "Snapshot" and not kind.snapshot_on_delete:
            self.problems.add(
                "update-replace-policy",
                f"the type {resource.type} cannot be kept as a snapshot",
                key_path(self.definition, resource, "update_replace_policy"),
                hint="use Delete or Retain",
            )
        if resource.creation_policy and kind.creation_policy:
            self._creation_policy(resource, kind)

    def _creation_policy(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        """Check a creation policy; its value must be known before any resource is created."""
        definition = self.definition
        path = key_path(definition, resource, "creation_policy")
        policy, found = resolve_map(definition, resource.creation_policy, SCOPE, path)
        self.problems.add_all(found)
        for placed in definition.references_in(resource.creation_policy):
            self.problems.add("creation-policy", "a creation policy must not depend on resources", placed.path)
        self.problems.add_all(against_schema(definition, kind.creation_policy, policy, path)[1])
        for name in sorted(kind.instead_of_creation_policy & (entries_of(resource.properties) or {}).keys()):
            message = f"{name} cannot be combined with a creation policy, which replaces it"
            self.problems.add("creation-policy", message, (*key_path(definition, resource, "properties"), name))


@dataclass(frozen=True, slots=True)
class _Member:
    """The type of a group's members, and its name as the group's definition writes it."""

    written: str
    type: ResourceType


def _member_has_attribute(kind: ResourceType, attribute: str) -> bool:
    """Like `has_attribute`; of a member that is not a nested stack, the whole string is the attribute's name."""
    exact = "." not in attribute or kind.nested or kind.any_properties or attribute in kind.attributes
    return exact and has_attribute(kind, attribute)


def is_group(kind: ResourceType) -> bool:
    """Return whether the type is a group: a nested stack whose members' attributes are available from the group."""
    return kind.nested and (kind.any_attribute or any(declared.needs_path for declared in kind.attributes.values()))


def attribute_of_members(kind: ResourceType, reference: Reference) -> str | None:
    """Return the attribute that a reference to a group reads from its members; None if there is none or unknown."""
    attribute = reference.attribute
    if not is_group(kind) or not attribute or attribute == EVERY_TYPE_HAS:
        return None
    declared = kind.attributes.get(attribute)
    if declared is not None:
        member_attribute = reference.path[0] if declared.needs_path and reference.path else None
    elif attribute.startswith(_MEMBER):
        _, _, inside = attribute.removeprefix(_MEMBER).partition(".")
        member_attribute = inside or (reference.path[0] if reference.path else None)
    else:
        member_attribute = attribute if kind.any_attribute else None
    return member_attribute if isinstance(member_attribute, str) else None


class _Values(Mapping[str, Any]):
    """The property values of a resource, evaluated when the first of them is read: few types read any."""

    def __init__(self, evaluate: Callable[[], Finalized]) -> None:
        self._evaluate = evaluate

    @cached_property
    def _values(self) -> Mapping[str, object]:
        return self._evaluate().values

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The resources of a definition, by name and by type: see `stoker.plugins.resource.Graph`."""

    by_name: Mapping[str, Node]
    by_type: Mapping[str, list[Node]]

    def of_type(self, *type_names: str) -> Iterator[Node]:
        return (node for name in type_names for node in self.by_type.get(name, ()))

    def resources(self) -> Iterator[Node]:
        return iter(self.by_name.values())


def graph(definition: Definition, types: Mapping[str, ResourceType]) -> dict[str, frozenset[str]]:
    """Return what each resource requires: `ResourceDefinition.requires` plus the implicit requirements of its type.

    Like `requirements`, but raises TemplateInvalid (CircularDependencyException) if resources depend on each other.
    """
    definition.in_order()
    return requirements(definition, types)


def requirements(definition: Definition, types: Mapping[str, ResourceType]) -> dict[str, frozenset[str]]:
    """Return what each resource requires, even in a template with circular dependencies.

    `types` are the types by resource name. An implicit requirement that would close a cycle is omitted.
    """
    requires = {name: resource.requires for name, resource in definition.resources.items()}
    nodes = {}
    by_type: dict[str, list[Node]] = {}
    for name, resource in definition.resources.items():
        kind = types.get(name)
        if kind is not None:
            values = _Values(partial(finalize, definition, resource, kind, SCOPE))
            nodes[name] = node = Node(name, kind.type_name, values, requires[name])
            by_type.setdefault(kind.type_name, []).append(node)
    everything = _Nodes(nodes, by_type)
    for name, node in nodes.items():
        kind = types[name]
        if not isinstance(kind, capabilities.ImplicitlyDependent):
            continue
        for other in kind.implicit_requirements(node, everything):
            if other in requires and other not in requires[name] and not would_close_cycle(requires, name, other):
                requires[name] |= {other}
    return requires


def _plain_names(kind: ResourceType, values: Mapping[str, object]) -> Iterator[str]:
    """Yield a problem about each property that does not refer to a resource although it must."""
    for name, what in kind.references_only.items():
        value = values.get(name)
        if value is not None and not is_unknown(value):
            yield f"{name}: {value!r} is a plain name; refer to {what} of this template with Ref"
