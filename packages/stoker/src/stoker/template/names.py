"""Check what does not depend on values: names, references, policies, the shape of calls.

This is what Heat's template validation (`POST /validate`) checks; `stoker.template.check` adds the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stoker.base.budget import charge, ensured
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import TemplateInvalid
from stoker.plugins.resource import ResourceType
from stoker.template.definition import Definition
from stoker.template.definition_parts import PlacedReference, ResourceDefinition
from stoker.template.expressions import (
    Evaluation,
    FunctionError,
    Malformed,
    UnknownScope,
    entries_of,
    walk,
)
from stoker.template.ignored_drift import path_problem, property_path
from stoker.template.problems import Problems, suggestion
from stoker.template.properties import against_schema, key_path, resolve_map, unknown_names
from stoker.template.registry import is_template_name
from stoker.template.type_hints import used_type

TypeLookup = Callable[[str, str], ResourceType | None]
"""Takes the type as written and the resource's name; returns the type that it maps to, or None if there is none."""

SCOPE = UnknownScope()
EVERY_TYPE_HAS = "show"
_REF = "Ref"
"""CloudFormation's function for parameters and resources; Heat looks up what it names with the values."""


def check_names(definition: Definition, types: TypeLookup, *, type_names: Sequence[str] = ()) -> list[Diagnostic]:
    """Return the diagnostics that do not depend on values, in the order in which Heat checks.

    `type_names` are the existing types, for suggestions in hints. Nested templates are not checked.
    """
    return NameChecker(definition, types, type_names).all_problems()


class NameChecker:
    """Checks the names in a definition. The methods that begin with `check_` can be extended to check more."""

    def __init__(self, definition: Definition, types: TypeLookup, type_names: Sequence[str]) -> None:
        self.problems = Problems(definition.template.document, definition.limits.max_problems)
        self.definition = definition
        self.lookup = types
        self._type_names = type_names
        self.types: dict[str, ResourceType | None] = {}

    def all_problems(self) -> list[Diagnostic]:
        """Run all checks and return what they found."""
        try:
            with ensured(self.definition.limits.allowed):
                for resource in self.definition.resources.values():
                    self.types[resource.name] = self._look_up(resource)
                self.check_resources()
                self.check_outputs()
        except TemplateInvalid as error:
            return list(error.diagnostics)
        return self.problems.sorted()

    def _look_up(self, resource: ResourceDefinition) -> ResourceType | None:
        if not resource.type:  # the problem is reported where the template is read
            return None
        try:
            found = self.lookup(resource.type, resource.name)
        except TemplateInvalid as error:
            self.problems.add_all(error.diagnostics)
            return None
        if found is None:
            path = key_path(self.definition, resource, "type")
            if is_template_name(resource.type):
                hint = "include it in the files of the request"
                self.problems.add("unknown-type", f"there is no template {resource.type!r}", path, hint=hint)
            else:
                hint = used_type(resource.type, self._type_names)
                self.problems.add("unknown-type", f"there is no resource type {resource.type!r}", path, hint=hint)
        return found

    # -- resources --------------------------------------------------------------------------------------------

    def check_resources(self) -> None:
        """Check every resource, and the order between them."""
        for resource in self.definition.resources.values():
            charge()
            self._depends_on(resource)
            for placed in resource.placed_references:
                self.check_reference(resource, placed)
            kind = self.types[resource.name]
            self.check_values(resource, kind)
            if kind is not None and resource.ignore_drift:
                self._ignored_drift(resource, kind)
            if kind is not None and resource.external_id is None:
                self._policies(resource, kind)
        self._cycles()

    def _ignored_drift(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        """Refuse paths in `ignore_drift` that name nothing that is compared with the cloud."""
        place = key_path(self.definition, resource, "ignore_drift")
        if resource.external_id is not None:
            message = "nothing is ignored: an object with an external_id is only checked for its existence"
            self.problems.add("ignore-drift", message, place, hint="remove the key")
            return
        written = resource.template.source[str(place[-1])]
        for text in resource.ignore_drift:
            if (found := path_problem(kind, property_path(text))) is not None:
                self.problems.add("ignore-drift", found[0], (*place, written.index(text)), hint=found[1])

    def check_reference(self, resource: ResourceDefinition, placed: PlacedReference) -> None:
        """Check a reference of a resource."""
        if placed.path[-1] != _REF:
            self.require_resource(placed, "InvalidTemplateReference")
        if not self.ignores_properties(resource) and not self.is_null_if_missing(placed):
            self.declared_attribute(placed)

    def ignores_properties(self, resource: ResourceDefinition) -> bool:
        """Return whether the properties of a resource are not even resolved."""
        kind = self.types[resource.name]
        return kind is not None and kind.ignores_properties

    def check_values(self, resource: ResourceDefinition, kind: ResourceType | None) -> None:
        """Check the metadata and the properties of a resource."""
        for tree in (resource.metadata, resource.properties):
            self._malformed(tree, Evaluation(self.definition, SCOPE, []))
        if kind is None or kind.any_properties or kind.ignores_properties or resource.external_id is not None:
            return
        path = key_path(self.definition, resource, "properties")
        properties = entries_of(resource.properties) or {}
        self.problems.add_all(unknown_names(self.definition, kind.properties, properties, path))

    def _cycles(self) -> None:
        try:
            self.definition.in_order()
        except TemplateInvalid as error:
            self.problems.add_all(error.diagnostics)

    def _depends_on(self, resource: ResourceDefinition) -> None:
        if not resource.depends_on:
            return
        declared = self.definition.template.resources
        path = key_path(self.definition, resource, "depends_on")
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

    # -- references -------------------------------------------------------------------------------------------

    def require_resource(self, placed: PlacedReference, kind: str) -> None:
        """Refuse a reference to a resource that does not exist; `kind` is the type of the error."""
        name, path = placed.reference.resource, placed.path
        if name in self.definition.resources:
            return
        if name in self.definition.template.resources:
            message, hint = f"the resource {name!r} does not exist because its condition is false", ""
        else:
            message, hint = f"the template has no resource {name!r}", self._suggestion(name, path)
        self.problems.add("unknown-resource", message, path, hint=hint, kind=kind)

    def _suggestion(self, name: str, path: Path) -> str:
        """Return a hint for a reference to a resource that does not exist; `path` ends with the function."""
        template = self.definition.template
        if name in template.parameters:
            return f"{name!r} is a parameter: use {template.dialect.parameter_function}"
        names = [*template.resources, *template.parameters] if path[-1] == _REF else template.resources
        return suggestion(name, names)

    def declared_attribute(self, placed: PlacedReference) -> bool:
        """Refuse an attribute that the resource's type does not have; return True if it has it."""
        reference, path = placed.reference, placed.path
        target = self.types.get(reference.resource)
        if target is None or not reference.attribute:
            return False
        if has_attribute(target, reference.attribute):
            return True
        self.problems.add(
            "unknown-attribute",
            f"the resource {reference.resource!r} ({self.shown_type(reference.resource)}) has no attribute "
            f"{reference.attribute!r}",
            path,
            hint=suggestion(reference.attribute, [*target.attributes, EVERY_TYPE_HAS]),
        )
        return False

    def shown_type(self, name: str) -> str:
        """Return the type of a resource as the template writes it."""
        return self.definition.resources[name].type

    def is_null_if_missing(self, placed: PlacedReference) -> bool:
        """Return whether an attribute that does not exist is null instead of an error."""
        target = self.types.get(placed.reference.resource)
        return target is not None and target.missing_attribute_is_null

    # -- policies ---------------------------------------------------------------------------------------------

    def _policies(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        if resource.deletion_policy == "Snapshot" and not kind.snapshot_on_delete:
            self.problems.add(
                "deletion-policy",
                f"the type {resource.type} does not support snapshots",
                key_path(self.definition, resource, "deletion_policy"),
                hint="use Delete or Retain",
            )
        if resource.update_policy:
            self._update_policy(resource, kind)

    def _update_policy(self, resource: ResourceDefinition, kind: ResourceType) -> None:
        path = key_path(self.definition, resource, "update_policy")
        policy, found = resolve_map(self.definition, resource.update_policy, SCOPE, path)
        self.problems.add_all(found)
        if policy and not kind.any_properties:
            self.problems.add_all(against_schema(self.definition, kind.update_policy, policy, path)[1])

    # -- outputs ----------------------------------------------------------------------------------------------

    def check_outputs(self) -> None:
        """Check the calls in outputs to the extent that Heat does: their shape, and the attributes that they name."""
        template = self.definition.template
        for output in self.definition.outputs.values():
            try:
                self._malformed(output.value, Evaluation(self.definition, SCOPE))
                for placed in self.definition.references_in(output.value):
                    if placed.reference.attribute is not None:
                        self.check_output_reference(placed)
            except FunctionError as error:
                error.path = error.path or (template.written("outputs"), output.key)
                self.problems.add_all([self.definition.located(error)])

    def check_output_reference(self, placed: PlacedReference) -> None:
        """Check an attribute in an output."""
        self.require_resource(placed, "StackValidationFailed")
        if not self.is_null_if_missing(placed):
            self.declared_attribute(placed)

    def _malformed(self, tree: object, evaluation: Evaluation) -> None:
        """Report calls of the wrong shape, in chosen branches only. Raises FunctionError."""
        for node in walk(tree, evaluation):
            if isinstance(node, Malformed):
                self.problems.add_all([node.diagnostic])


def has_attribute(kind: ResourceType, attribute: str) -> bool:
    """Return whether resources of the type have the attribute; only the part before the first dot counts."""
    if kind.any_properties or kind.any_attribute or attribute == EVERY_TYPE_HAS:
        return True
    head = attribute.partition(".")[0]
    return attribute in kind.attributes or (head != attribute and (head in kind.attributes or kind.nested))
