"""Validate a definition against the resource types: every mistake that is visible before any resource is created.

Nothing here sends requests to a service; the engine checks custom constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from stoker.base.budget import charge, ensured
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import TemplateInvalid
from stoker.plugins.resource import Node, ResourceType
from stoker.schema.unknown import is_unknown
from stoker.template.definition import Definition
from stoker.template.definition_parts import PlacedReference, ResourceDefinition
from stoker.template.expressions import (
    Evaluation,
    FunctionError,
    Malformed,
    Reference,
    UnknownScope,
    entries_of,
    walk,
)
from stoker.template.ordering import would_close_cycle
from stoker.template.problems import Problems, suggestion
from stoker.template.properties import Finalized, against_schema, finalize, key_path, resolve_map
from stoker.template.registry import is_template_name
from stoker.template.type_hints import suggested_type

TypeLookup = Callable[[str, str], ResourceType | None]
"""Takes the type as written and the resource's name; returns the type that it maps to, or None if there is none."""

DeepCheck = Callable[[ResourceDefinition, ResourceType, Mapping[str, Any]], Iterable[Diagnostic]]
"""Returns diagnostics about the nested stack that a resource with these property values would create."""

_SCOPE = UnknownScope()
_EVERY_TYPE_HAS = "show"
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

    `deep` is called for each resource of a `nested` type whose known properties are valid. `type_names` are the
    existing types, for suggestions in hints.
    """
    try:
        with ensured(definition.limits.allowed):
            checker = _Checker(definition, types, deep, type_names)
            checker.resources()
            checker.outputs()
            checker.attributes_of_members()
    except TemplateInvalid as error:
        return list(error.diagnostics)
    return checker.problems.sorted()


class _Checker:
    def __init__(
        self, definition: Definition, types: TypeLookup, deep: DeepCheck | None, type_names: Sequence[str]
    ) -> None:
        self.problems = Problems(definition.template.document, definition.limits.max_problems)
        self._definition = definition
        self._deep = deep
        self._type_names = type_names
        self._lookup = types
        self._types: dict[str, ResourceType | None] = {}
        self._members: dict[str, list[ResourceType]] = {}
        self._about_members: list[tuple[PlacedReference, str]] = []
        for resource in definition.resources.values():
            self._types[resource.name] = self._look_up(resource, types)

    def _look_up(self, resource: ResourceDefinition, types: TypeLookup) -> ResourceType | None:
        if not resource.type:  # the problem is reported where the template is read
            return None
        try:
            found = types(resource.type, resource.name)
        except TemplateInvalid as error:
            self.problems.add_all(error.diagnostics)
            return None
        if found is None:
            path = key_path(self._definition, resource, "type")
            if is_template_name(resource.type):
                hint = "include it in the files of the request"
                self.problems.add("unknown-type", f"there is no template {resource.type!r}", path, hint=hint)
            else:
                hint = suggested_type(resource.type, self._type_names)
                self.problems.add("unknown-type", f"there is no resource type {resource.type!r}", path, hint=hint)
        return found

    def resources(self) -> None:
        """Check every resource, and the order between them."""
        for resource in self._definition.resources.values():
            charge()
            self._depends_on(resource)
            for placed in resource.placed_references:
                self._reference(placed, "InvalidTemplateReference")
                self._attribute(resource, placed)
            self._values(resource)
        self._cycles()

    def _attribute(self, resource: ResourceDefinition, placed: PlacedReference) -> None:
        """Check the attribute that a resource refers to, unless the resource's type ignores its properties."""
        kind = self._types[resource.name]
        if kind is not None and kind.ignores_properties:
            return
        if self._named_attribute(placed):
            self._attribute_path(placed)

    def _values(self, resource: ResourceDefinition) -> None:
        """Check the values of the resource's metadata and properties."""
        kind = self._types[resource.name]
        self._metadata(resource)
        if kind is None:
            path = key_path(self._definition, resource, "properties")
            self.problems.add_all(resolve_map(self._definition, resource.properties, _SCOPE, path)[1])
        elif resource.external_id is None:
            self._against_type(resource, kind, finalize(self._definition, resource, kind, _SCOPE))

    def _cycles(self) -> None:
        try:
            self._definition.in_order()
        except TemplateInvalid as error:
            self.problems.add_all(error.diagnostics)

    def _depends_on(self, resource: ResourceDefinition) -> None:
        if not resource.depends_on:
            return
        declared = self._definition.template.resources
        path = key_path(self._definition, resource, "depends_on")
        listed = isinstance(resource.frozen_source().get(str(path[-1])), list)
        for index, name in enumerate(resource.depends_on):
            if name not in declared:
                self.problems.add(
                    "unknown-resource",
                    f"the template has no resource {name!r}",
                    (*path, index) if listed else path,
                    hint=suggestion(name, declared),
                    kind="InvalidTemplateReference",
                )

    def _reference(self, placed: PlacedReference, kind: str) -> None:
        reference, path = placed.reference, placed.path
        name = reference.resource
        if name not in self._definition.resources:
            declared = self._definition.template.resources
            if name in declared:
                message, hint = f"the resource {name!r} does not exist because its condition is false", ""
            else:
                message, hint = f"the template has no resource {name!r}", self._meant(name, path)
            self.problems.add("unknown-resource", message, path, hint=hint, kind=kind)

    def _meant(self, name: str, path: Path) -> str:
        """Return a hint for a reference to a resource that does not exist; `path` ends with the function."""
        template = self._definition.template
        if name in template.parameters:
            return f"{name!r} is a parameter: use get_param"
        names = [*template.resources, *template.parameters] if path[-1] == "Ref" else template.resources
        return suggestion(name, names)

    def _named_attribute(self, placed: PlacedReference) -> bool:
        """Check that the attribute exists; return True if it does or may."""
        reference, path = placed.reference, placed.path
        target = self._types.get(reference.resource)
        if target is None or not reference.attribute:
            return False
        if has_attribute(target, reference.attribute):
            if (wanted := attribute_of_members(target, reference)) is not None:
                self._about_members.append((placed, wanted))
            return True
        self.problems.add(
            "unknown-attribute",
            f"the resource {reference.resource!r} ({target.type_name}) has no attribute {reference.attribute!r}",
            path,
            hint=suggestion(reference.attribute, [*target.attributes, _EVERY_TYPE_HAS]),
        )
        return False

    def attributes_of_members(self) -> None:
        """Check the attributes of groups' members that resources and outputs refer to."""
        for placed, wanted in self._about_members:
            for member in self._members.get(placed.reference.resource, ()):
                if not _member_has_attribute(member, wanted):
                    name = placed.reference.resource
                    self.problems.add(
                        "unknown-attribute",
                        f"the members of {name!r} ({member.type_name}) have no attribute {wanted!r}",
                        placed.path,
                        hint=suggestion(wanted, [*member.attributes, _EVERY_TYPE_HAS]),
                    )

    def _attribute_path(self, placed: PlacedReference) -> None:
        """Refuse a reference without a path to an attribute that needs one; in outputs the value is null as in Heat."""
        reference, path = placed.reference, placed.path
        target = self._types[reference.resource]
        assert target is not None
        declared = target.attributes.get(reference.attribute or "")
        if declared is not None and declared.needs_path and not reference.path:
            self.problems.add(
                "unknown-attribute",
                f"the attribute {reference.attribute!r} of {reference.resource!r} ({target.type_name}) needs a path",
                path,
                hint=f"name an attribute of the members: [{reference.resource}, {reference.attribute}, …]",
            )

    def _metadata(self, resource: ResourceDefinition) -> None:
        if resource.metadata:
            path = key_path(self._definition, resource, "metadata")
            _, found = resolve_map(self._definition, resource.metadata, _SCOPE, path)
            self.problems.add_all(found)

    def _against_type(self, resource: ResourceDefinition, kind: ResourceType, finalized: Finalized) -> None:
        self.problems.add_all(finalized.diagnostics)
        self._policies(resource, kind)
        if any(found.rule != "unknown-property" for found in finalized.diagnostics):
            return
        complaints = [*kind.validate(finalized.values), *_plain_names(kind, finalized.values)]
        for complaint in complaints:
            self.problems.add("properties", complaint, key_path(self._definition, resource, "properties"))
        if not complaints and is_group(kind):
            self._members[resource.name] = list(self._types_of_members(kind, finalized.values))
        if self._deep is not None and kind.nested and not complaints:
            self.problems.add_all(self._deep(resource, kind, finalized.values))

    def _types_of_members(self, kind: ResourceType, values: Mapping[str, Any]) -> Iterator[ResourceType]:
        sample = kind.sample_of(values)
        template = sample.template if sample is not None else None
        members = (template or {}).get("resources") or {}
        for name, member in members.items():
            written = member.get("type")
            try:
                found = self._lookup(written, name) if isinstance(written, str) else None
            except TemplateInvalid:  # the check of the nested stack reports it
                found = None
            if found is not None:
                yield found

    def _policies(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        if resource.deletion_policy == "Snapshot" and not kind.snapshot_on_delete:
            self.problems.add(
                "deletion-policy",
                f"the type {kind.type_name} does not support snapshots",
                key_path(self._definition, resource, "deletion_policy"),
                hint="use Delete or Retain",
            )
        if resource.update_replace_policy == "Snapshot" and not kind.snapshot_on_delete:
            self.problems.add(
                "update-replace-policy",
                f"the type {kind.type_name} cannot be kept as a snapshot",
                key_path(self._definition, resource, "update_replace_policy"),
                hint="use Delete or Retain",
            )
        if resource.update_policy:
            self._update_policy(resource, kind)
        if resource.creation_policy:
            self._creation_policy(resource, kind)

    def _update_policy(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        path = key_path(self._definition, resource, "update_policy")
        given, found = resolve_map(self._definition, resource.update_policy, _SCOPE, path)
        self.problems.add_all(found)
        if given and not kind.any_properties:
            self.problems.add_all(against_schema(self._definition, kind.update_policy, given, path)[1])

    def _creation_policy(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        """Check a creation policy; its value must be known before any resource is created."""
        definition = self._definition
        path = key_path(definition, resource, "creation_policy")
        given, found = resolve_map(definition, resource.creation_policy, _SCOPE, path)
        self.problems.add_all(found)
        for placed in definition.references_in(resource.creation_policy):
            self.problems.add("creation-policy", "a creation policy must not depend on resources", placed.path)
        if given and not kind.creation_policy:
            hint = (
                "AWS::AutoScaling::AutoScalingGroup, AWS::CloudFormation::WaitCondition and AWS::EC2::Instance have one"
            )
            self.problems.add(
                "creation-policy", f"the type {kind.type_name} does not support a creation policy", path, hint=hint
            )
        elif given:
            self.problems.add_all(against_schema(definition, kind.creation_policy, given, path)[1])
            for name in sorted(kind.instead_of_creation_policy & (entries_of(resource.properties) or {}).keys()):
                message = f"{name} cannot be combined with a creation policy, which replaces it"
                self.problems.add("creation-policy", message, (*key_path(definition, resource, "properties"), name))

    def outputs(self) -> None:
        """Check the calls in outputs to the extent that Heat does: their shape, and the attributes that they name."""
        template = self._definition.template
        for output in self._definition.outputs.values():
            path = (template.written("outputs"), output.key)
            try:
                for node in walk(output.value, Evaluation(self._definition, _SCOPE)):
                    if isinstance(node, Malformed):
                        self.problems.add_all([node.diagnostic])
                for placed in self._definition.references_in(output.value):
                    if placed.reference.attribute is not None:
                        self._reference(placed, "StackValidationFailed")
                        self._named_attribute(placed)
            except FunctionError as error:
                error.path = error.path or path
                self.problems.add_all([self._definition.located(error)])


def has_attribute(kind: ResourceType, attribute: str) -> bool:
    """Return whether resources of the type have the attribute; only the part before the first dot counts."""
    if kind.any_properties or kind.any_attribute or attribute == _EVERY_TYPE_HAS:
        return True
    head = attribute.partition(".")[0]
    return attribute in kind.attributes or (head != attribute and (head in kind.attributes or kind.nested))


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
    if not is_group(kind) or not attribute or attribute == _EVERY_TYPE_HAS:
        return None
    declared = kind.attributes.get(attribute)
    if declared is not None:
        wanted = reference.path[0] if declared.needs_path and reference.path else None
    elif attribute.startswith(_MEMBER):
        _, _, inside = attribute.removeprefix(_MEMBER).partition(".")
        wanted = inside or (reference.path[0] if reference.path else None)
    else:
        wanted = attribute if kind.any_attribute else None
    return wanted if isinstance(wanted, str) else None


class _Values(Mapping[str, Any]):
    """The property values of a resource, evaluated when the first of them is read: few types read any."""

    def __init__(self, evaluate: Callable[[], Finalized]) -> None:
        self._evaluate = evaluate

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        return self._evaluate().values

    def __getitem__(self, name: str) -> Any:
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
    requires = {name: set(resource.requires) for name, resource in definition.resources.items()}
    nodes = {}
    by_type: dict[str, list[Node]] = {}
    for name, resource in definition.resources.items():
        kind = types.get(name)
        if kind is not None:
            values = _Values(partial(finalize, definition, resource, kind, _SCOPE))
            nodes[name] = node = Node(name, kind.type_name, values, resource.requires)
            by_type.setdefault(kind.type_name, []).append(node)
    everything = _Nodes(nodes, by_type)
    for name, node in nodes.items():
        for other in types[name].implicit_requirements(node, everything):
            if other in requires and other not in requires[name] and not would_close_cycle(requires, name, other):
                requires[name].add(other)
    return {name: frozenset(others) for name, others in requires.items()}


def _plain_names(kind: ResourceType, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a complaint about each property that does not refer to a resource although it must."""
    for name, what in kind.references_only.items():
        value = values.get(name)
        if value is not None and not is_unknown(value):
            yield f"{name}: {value!r} is a plain name; refer to {what} of this template with Ref"
