"""Warnings about what is valid in a template but likely a mistake.

Warnings never prevent an operation. Each rule is a function that checks a whole definition; `stoker.template.rules`
describes each rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stoker.base.budget import ensured
from stoker.base.diagnostics import Diagnostic, Key, Path
from stoker.base.errors import TemplateInvalid
from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import AllowedPattern, AllowedValues
from stoker.schema.property import Property, Support, Type
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import (
    Evaluation,
    Expression,
    FunctionError,
    Reference,
    UnknownScope,
    entries_of,
    evaluate,
    every_node,
    items_of,
)
from stoker.template.functions.base import Function
from stoker.template.functions.conditional import If
from stoker.template.functions.conditions import ConditionName
from stoker.template.misspelt_functions import misspelt_calls
from stoker.template.names import TypeLookup, has_attribute
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import STRING
from stoker.template.problems import Problems, suggestion
from stoker.template.properties import key_path
from stoker.template.rules import RULES

__all__ = ["RULES", "warnings"]

_NUMERIC = (Type.INTEGER, Type.NUMBER)
_SCALING_GROUPS = frozenset(
    {"OS::Heat::AutoScalingGroup", "OS::Heat::InstanceGroup", "AWS::AutoScaling::AutoScalingGroup"}
)
"""Groups that remove their oldest members first."""
_MEMBERS = "refs"
"""The attribute of groups that lists the IDs of the members, in their order."""
_WITH_CREATION_POLICY = (
    "AWS::AutoScaling::AutoScalingGroup, AWS::CloudFormation::WaitCondition and AWS::EC2::Instance have one"
)
_DEPLOYMENTS = frozenset(
    f"OS::Heat::{kind}Deployment{group}" for kind in ("Software", "Structured") for group in ("", "Group")
)
_SERVER, _FORMAT, _CONFIGURED = "OS::Nova::Server", "user_data_format", "SOFTWARE_CONFIG"


def warnings(definition: Definition, types: TypeLookup) -> list[Diagnostic]:
    """Return all warnings about a bound template, from top to bottom; each has the severity `warning`."""
    subject = _Subject(definition, {name: _type_of(resource, types) for name, resource in definition.resources.items()})
    problems = Problems(definition.template.document, definition.limits.max_problems)
    try:
        with ensured(definition.limits.allowed):
            for rule in _RULES:
                problems.add_all(replace(found, severity="warning") for found in rule(subject))
    except TemplateInvalid as error:
        return list(error.diagnostics)
    return problems.sorted()


def _type_of(resource: ResourceDefinition, types: TypeLookup) -> ResourceType | None:
    """Return the resource's type; None if there is none, which `check` reports."""
    try:
        return types(resource.type, resource.name)
    except TemplateInvalid:
        return None


@dataclass(frozen=True, slots=True)
class _Given:
    """A value in a template that is given for a property."""

    prop: Property
    name: str
    value: Any
    path: Path
    successor: str | None = None
    """The newer name of the property."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """What the rules check: a definition, its types, and its parts."""

    definition: Definition
    types: Mapping[str, ResourceType | None]

    def trees(self) -> Iterator[object]:
        """Yield every compiled tree of the template, including those of entries whose condition is false."""
        template = self.definition.template
        yield from template.conditions.values()
        yield from template.loops
        for rule in template.rules.values():
            yield rule.condition
            yield from (assertion.condition for assertion in rule.assertions)
        for resource in template.resources.values():
            yield from (resource.properties, resource.metadata, resource.update_policy, resource.deletion_policy)
            yield from (resource.creation_policy, resource.external_id, resource.condition)
        for output in template.outputs.values():
            yield from (output.value, output.condition, output.export)

    def nodes(self) -> Iterator[Expression]:
        """Yield every node of every tree."""
        return (node for tree in self.trees() for node in every_node(tree))

    def given_properties(self) -> Iterator[_Given]:
        """Yield every property for which the template gives a value, at any depth."""
        for name, kind in self.types.items():
            if kind is not None and not kind.any_properties:
                resource = self.definition.resources[name]
                path = key_path(self.definition, resource, "properties")
                yield from _given(kind.properties, resource.properties, path)


def _given(schema: Mapping[str, Property], tree: object, path: Path) -> Iterator[_Given]:
    successors = {prop.replaces: name for name, prop in schema.items() if prop.replaces}
    for name, value in (entries_of(tree) or {}).items():
        prop = schema.get(name)
        if prop is not None:
            yield from _inside(prop, name, value, (*path, name), successors.get(name))


def _inside(prop: Property, name: str, value: object, path: Path, successor: str | None = None) -> Iterator[_Given]:
    yield _Given(prop, name, value, path, successor)
    if prop.schema is not None:
        yield from _given(prop.schema, value, path)
    elif prop.items is not None:
        for index, item in enumerate(items_of(value) or ()):
            yield from _inside(prop.items, name, item, (*path, index))


# -- parameters and conditions ----------------------------------------------------------------------------------------


def _unused_parameters(subject: _Subject) -> Iterator[Diagnostic]:
    used: set[str] = set()
    for node in subject.nodes():
        if isinstance(node, Function):
            named = node.parameters_named()
            if named is None:
                return
            used.update(named)
    template = subject.definition.template
    for name in template.parameters:
        if name not in used:
            path = (template.written("parameters"), name)
            yield Diagnostic("unused-parameter", f"nothing uses the parameter {name!r}", path, hint="remove it")


def _unused_conditions(subject: _Subject) -> Iterator[Diagnostic]:
    used = {node.name for node in subject.nodes() if isinstance(node, ConditionName)}
    template = subject.definition.template
    for name in template.conditions:
        if name not in used:
            path = (template.written("conditions"), Key(name))
            yield Diagnostic("unused-condition", f"nothing uses the condition {name!r}", path, hint="remove it")


def _unchecked_numbers(subject: _Subject) -> Iterator[Diagnostic]:
    for entry in subject.given_properties():
        schema = _only_parameter(subject.definition, entry.value)
        if (
            entry.prop.type in _NUMERIC
            and schema is not None
            and schema.type.hot == STRING.hot
            and not _limited(schema)
        ):
            yield Diagnostic(
                "unchecked-number",
                f"the parameter {schema.name!r} may be any string, but {entry.name!r} is a number",
                entry.path,
                hint=f"declare {schema.name!r} as number",
            )


def _only_parameter(definition: Definition, value: object) -> ParameterSchema | None:
    """Return the parameter whose value this is, unchanged; None if it is anything else."""
    if not isinstance(value, Function) or not isinstance(value.arguments, str):
        return None
    named = value.parameters_named()
    return definition.template.parameters.get(named[0]) if named else None


def _limited(schema: ParameterSchema) -> bool:
    return any(isinstance(constraint, AllowedPattern | AllowedValues) for constraint in schema.constraints)


def _hidden_outputs(subject: _Subject) -> Iterator[Diagnostic]:
    definition = subject.definition
    hidden = definition.parameters.hidden
    keys = definition.template.dialect.output_keys
    for output in definition.outputs.values():
        for node in every_node(output.value):
            named = (node.parameters_named() or ()) if isinstance(node, Function) else ()
            for name in hidden.intersection(named):
                yield Diagnostic(
                    "hidden-output",
                    f"the output {output.key!r} shows the hidden parameter {name!r} to everyone who can see the stack",
                    (definition.template.written("outputs"), output.key, keys["value"]),
                    hint="remove the value from the outputs",
                )


def _null_outputs(subject: _Subject) -> Iterator[Diagnostic]:
    """Find IDs of resources that the template does not have, and attributes that are null instead of an error."""
    definition = subject.definition
    declared = definition.template.resources
    for output in definition.outputs.values():
        for placed in definition.references_in(output.value):
            name, attribute = placed.reference.resource, placed.reference.attribute
            kind = subject.types.get(name)
            if attribute and kind is not None and kind.missing_attribute_is_null and not has_attribute(kind, attribute):
                written = definition.resources[name].type
                yield Diagnostic(
                    "null-output",
                    f"the output {output.key!r} lacks a value: {name!r} ({written}) has no output {attribute!r}",
                    placed.path,
                    hint=suggestion(attribute, kind.attributes),
                )
            if attribute is None and name not in declared:
                yield Diagnostic(
                    "null-output",
                    f"the output {output.key!r} has no value, because the template has no resource {name!r}",
                    placed.path,
                    hint=suggestion(name, declared),
                )


def _failing_outputs(subject: _Subject) -> Iterator[Diagnostic]:
    """Find calls that fail whatever the resources are: the service shows null and an error instead of a value."""
    definition = subject.definition
    for output in definition.outputs.values():
        if output.enabled is not False:
            failures: list[FunctionError] = []
            evaluation = Evaluation(definition, UnknownScope(), failures)
            with evaluation.budget.computing():
                evaluation.charge_for(evaluate(output.value, evaluation))
            for error in failures:
                if error.kind != "InvalidTemplateReference":
                    found = definition.located(error)
                    message = f"the output {output.key!r} has no value: {found.message}"
                    rule = "failing-output" if found.rule == "function" else found.rule
                    yield replace(found, rule=rule, message=message)


# -- types and properties ---------------------------------------------------------------------------------------------


def _deprecated_types(subject: _Subject) -> Iterator[Diagnostic]:
    for name, kind in subject.types.items():
        if kind is not None and _leaving(kind.support):
            resource = subject.definition.resources[name]
            path = key_path(subject.definition, resource, "type")
            mapped = "" if resource.type == kind.type_name else f", to which {resource.type} is mapped,"
            message = f"the type {kind.type_name}{mapped} is {kind.support.status.lower()}"
            yield Diagnostic("deprecated-type", message, path, hint=kind.support.message or "")


def _deprecated_properties(subject: _Subject) -> Iterator[Diagnostic]:
    for entry in subject.given_properties():
        support = entry.prop.support
        if _leaving(support) and isinstance(entry.path[-1], str):
            message = f"the property {entry.name!r} is {support.status.lower()}"
            hint = support.message or (f"use {entry.successor!r} instead" if entry.successor else "")
            yield Diagnostic("deprecated-property", message, _key_of(entry), hint=hint)


def _key_of(entry: _Given) -> Path:
    return (*entry.path[:-1], Key(entry.path[-1]))


def _leaving(support: Support) -> bool:
    return support.status in ("DEPRECATED", "HIDDEN")


def _ineffective_properties(subject: _Subject) -> Iterator[Diagnostic]:
    for entry in subject.given_properties():
        if not entry.prop.implemented and isinstance(entry.path[-1], str):
            message = f"the property {entry.name!r} has no effect"
            yield Diagnostic("ineffective-property", message, _key_of(entry), hint="remove it")


def _ignored_keys(subject: _Subject) -> Iterator[Diagnostic]:
    template = subject.definition.template
    for resource in template.resources.values() if template.dialect.unknown_resource_keys_allowed else ():
        for key in resource.source:
            if key not in template.version.resource_keys:
                path = (template.written("resources"), resource.name, Key(key))
                yield Diagnostic("ignored-key", f"the key {key!r} has no effect", path, hint="remove it")
    yield from _ignored_creation_policies(subject)


def _ignored_creation_policies(subject: _Subject) -> Iterator[Diagnostic]:
    for name, kind in subject.types.items():
        resource = subject.definition.resources[name]
        if resource.creation_policy and kind is not None and not (kind.creation_policy or kind.unchecked):
            *place, key = key_path(subject.definition, resource, "creation_policy")
            message = f"the key {key!r} has no effect: resources of the type {resource.type} are not waited for"
            yield Diagnostic("ignored-key", message, (*place, Key(key)), hint=_WITH_CREATION_POLICY)


# -- references -------------------------------------------------------------------------------------------------------


def _implied_dependencies(subject: _Subject) -> Iterator[Diagnostic]:
    definition = subject.definition
    referred = {name: _always_referred(definition, resource) for name, resource in definition.resources.items()}

    def leads_to(starts: Iterable[str], goal: str, resource: ResourceDefinition) -> bool:
        pending, seen = list(starts), set()
        while pending:
            name = pending.pop()
            if name == goal:
                return True
            through = definition.resources.get(name)
            if name not in seen and through is not None and _exists_with(through, resource):
                pending += (*referred[name], *through.depends_on)
            seen.add(name)
        return False

    for name, resource in definition.resources.items():
        path = key_path(definition, resource, "depends_on")
        listed = isinstance(resource.frozen_source().get(str(path[-1])), list)
        for index, other in enumerate(resource.depends_on):
            others = resource.depends_on[:index] + resource.depends_on[index + 1 :]
            elsewhere = referred[name].union(others) - {name}
            if other in referred and (other in referred[name] or leads_to(elsewhere - {other}, other, resource)):
                yield Diagnostic(
                    "implied-dependency",
                    f"{name!r} depends on {other!r} even without this entry",
                    (*path, index) if listed else path,
                    hint=f"remove {other!r} from {path[-1]}",
                )


def _always_referred(definition: Definition, resource: ResourceDefinition) -> frozenset[str]:
    """Return the resources that a resource refers to whatever the values of the template's conditions."""
    choices = {
        (*node.path, node.name)
        for tree in (resource.properties, resource.metadata)
        for node in every_node(tree)
        if isinstance(node, If)
    }
    return frozenset(
        placed.reference.resource
        for placed in resource.placed_references
        if not any(placed.path[:length] in choices for length in range(len(placed.path)))
    )


def _exists_with(through: ResourceDefinition, resource: ResourceDefinition) -> bool:
    """Return whether `through` exists whenever `resource` does: it has no condition, or the same one."""
    own, other = through.condition, resource.condition
    if own is True:
        return True
    return isinstance(own, ConditionName) and isinstance(other, ConditionName) and own.name == other.name


def _renumbering_indexes(subject: _Subject) -> Iterator[Diagnostic]:
    definition = subject.definition
    trees = [tree for resource in definition.resources.values() for tree in (resource.properties, resource.metadata)]
    trees += [output.value for output in definition.outputs.values()]
    for tree in trees:
        for placed in definition.references_in(tree):
            reference = placed.reference
            if _is_index_of_member(reference) and _loses_members_anywhere(subject, reference.resource):
                yield Diagnostic(
                    "renumbering-index",
                    f"members of {reference.resource!r} are removed from the front or the middle, "
                    "so this index refers to another member afterwards",
                    placed.path,
                    hint="refer to the members by name",
                )


def _is_index_of_member(reference: Reference) -> bool:
    """Return whether a reference selects one member of a group by its position.

    In a path that follows an attribute of the members, an index selects a part of each member's value.
    """
    return reference.attribute == _MEMBERS and bool(reference.path) and isinstance(reference.path[0], int)


def _loses_members_anywhere(subject: _Subject, name: str) -> bool:
    kind = subject.types.get(name)
    if kind is None:
        return False
    if kind.type_name in _SCALING_GROUPS:
        return True
    properties = entries_of(subject.definition.resources[name].properties) or {}
    return kind.type_name == "OS::Heat::ResourceGroup" and bool(properties.get("removal_policies"))


def _unconfigured_servers(subject: _Subject) -> Iterator[Diagnostic]:
    definition = subject.definition
    for name, kind in subject.types.items():
        resource = definition.resources[name]
        if kind is None or kind.type_name not in _DEPLOYMENTS:
            continue
        start = key_path(definition, resource, "properties")
        for placed in resource.placed_references:
            server = placed.reference.resource
            property_path = placed.path[: len(start) + 1]
            server_paths = (*start, "server"), (*start, "servers")
            if (
                property_path in server_paths
                and placed.reference.attribute is None
                and _takes_no_configuration(subject, server)
            ):
                yield Diagnostic(
                    "unconfigured-server",
                    f"{server!r} does not take software configuration",
                    placed.path,
                    hint=f"set its {_FORMAT} to {_CONFIGURED}",
                )


def _takes_no_configuration(subject: _Subject, name: str) -> bool:
    """Return whether a resource is a server that ignores software configuration whatever the parameters are."""
    kind = subject.types.get(name)
    if kind is None or kind.type_name != _SERVER:
        return False
    properties = entries_of(subject.definition.resources[name].properties) or {}
    chosen = properties.get(_FORMAT, kind.properties[_FORMAT].default)
    return isinstance(chosen, str) and chosen != _CONFIGURED


def _misspelt_functions(subject: _Subject) -> Iterator[Diagnostic]:
    template = subject.definition.template
    value = template.version.dialect.output_keys["value"]
    places: list[Path] = [(template.written("outputs"), name, value) for name in template.outputs]
    for resource in subject.definition.resources.values():
        places += [key_path(subject.definition, resource, key) for key in ("properties", "metadata", "update_policy")]
    places += [(template.written("conditions"), name) for name in template.conditions]
    places += [("Rules", name) for name in template.rules]
    for place in places:
        written: object = template.document.data
        for part in place:
            written = written.get(part) if isinstance(written, Mapping) else None
        for path, name, hint in misspelt_calls(written, place, template.version):
            message = f"{name} is not a function, so the map is taken as data"
            yield Diagnostic("misspelt-function", message, (*path, Key(name)), hint=hint)


_RULES: tuple[Callable[[_Subject], Iterator[Diagnostic]], ...] = (
    _unused_parameters,
    _unused_conditions,
    _unchecked_numbers,
    _hidden_outputs,
    _null_outputs,
    _failing_outputs,
    _deprecated_types,
    _deprecated_properties,
    _ineffective_properties,
    _ignored_keys,
    _implied_dependencies,
    _renumbering_indexes,
    _unconfigured_servers,
    _misspelt_functions,
)
