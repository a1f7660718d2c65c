"""Property values of a resource by the schema of its type: resolved, converted, with defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stoker.base.diagnostics import Diagnostic, Key, Path
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Change, Finalizer, Problem, Property
from stoker.schema.unknown import Unknown
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import (
    OMIT,
    UNDETERMINED,
    Evaluation,
    FunctionError,
    Scope,
    evaluate,
)
from stoker.template.misspelt_functions import function_hint
from stoker.template.problems import type_name

CustomCheck = Callable[[str, Any], str | None]


@dataclass(frozen=True, slots=True)
class Finalized:
    """Values of every declared property, and diagnostics about them. `invalid` are the properties with diagnostics."""

    values: Mapping[str, Any]
    diagnostics: list[Diagnostic]
    invalid: frozenset[str] = frozenset()

    def usable(self) -> Mapping[str, object]:
        """Return the values, of which invalid ones are unknown, so that they cause no further diagnostics."""
        return {**self.values, **dict.fromkeys(self.invalid, UNDETERMINED)} if self.invalid else self.values


def finalize(
    definition: Definition,
    resource: ResourceDefinition,
    kind: ResourceType,
    scope: Scope,
    custom: CustomCheck | None = None,
) -> Finalized:
    """Validate and convert the resource's properties by its type's schema. The value of a failed call is unknown.

    `custom` checks custom constraints, as in `Finalizer`.
    """
    if kind.ignores_properties:
        return Finalized({}, [])
    path = key_path(definition, resource, "properties")
    resolved, diagnostics = resolve_map(definition, resource.properties, scope, path)
    if kind.any_properties:
        return Finalized(resolved, diagnostics)
    resolved = with_description(resource, kind, resolved)
    finalizer = Finalizer(custom, kind.advice)
    values = finalizer.properties(declared_for(resource, kind), resolved)
    invalid = frozenset(str(problem.path[0]) for problem in finalizer.problems) & values.keys()
    return Finalized(values, diagnostics + _diagnostics(definition, finalizer, resolved, path), invalid)


def declared_for(resource: ResourceDefinition, kind: ResourceType) -> Mapping[str, Property]:
    """The type's properties; one whose place a creation policy takes need not be given."""
    if not (resource.creation_policy and kind.instead_of_creation_policy):
        return kind.properties
    return {
        name: replace(prop, required=False) if name in kind.instead_of_creation_policy else prop
        for name, prop in kind.properties.items()
    }


def with_description(
    resource: ResourceDefinition, kind: ResourceType, resolved: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the values with the resource's own description as the value of an updatable property `description` that is
    not given, as in Heat.
    """
    prop = kind.properties.get("description")
    if not resource.description or prop is None or prop.change is not Change.UPDATE or resolved.get("description"):
        return resolved
    return {**resolved, "description": resource.description}


def against_schema(
    definition: Definition,
    schema: Mapping[str, Property],
    resolved: Mapping[str, object],
    path: Path,
) -> tuple[dict[str, object], list[Diagnostic]]:
    """Return values converted by a schema, and diagnostics with positions; `path` is the place of the values."""
    finalizer = Finalizer()
    values = finalizer.properties(schema, resolved)
    return values, _diagnostics(definition, finalizer, resolved, path)


def unknown_names(
    definition: Definition, schema: Mapping[str, Property], resolved: Mapping[str, object], path: Path
) -> list[Diagnostic]:
    """Return diagnostics for the names of `resolved`, which has the place `path`, that a schema does not declare."""
    finalizer = Finalizer()
    finalizer.unknown_names(schema, resolved)
    return _diagnostics(definition, finalizer, resolved, path)


def _diagnostics(
    definition: Definition, finalizer: Finalizer, resolved: Mapping[str, object], path: Path
) -> list[Diagnostic]:
    return [_diagnostic(definition, problem, resolved, path) for problem in finalizer.problems]


def _diagnostic(definition: Definition, problem: Problem, resolved: Mapping[str, object], path: Path) -> Diagnostic:
    document = definition.template.document
    whole = (*path, *problem.path)
    shown = whole
    # The message names an unknown or missing property; the path ends at the map that should not or should contain it.
    if problem.rule == "unknown-property":
        shown, whole = whole[:-1], (*whole[:-1], Key(whole[-1]))
    elif problem.rule == "required-property":
        shown = whole = whole[:-1]
    return Diagnostic(
        rule=problem.rule,
        message=problem.message,
        path=shown,
        source=document.source,
        position=document.locate(whole),
        hint=_suggestion(definition, problem, resolved) or problem.hint,
    )


def _suggestion(definition: Definition, problem: Problem, value: object) -> str:
    """Return a hint if a value seems to be a call of a function that does not exist; otherwise an empty string."""
    if problem.rule not in ("wrong-type", "unknown-property"):
        return ""
    for part in problem.path[:-1] if problem.rule == "unknown-property" else problem.path:
        if not isinstance(value, Mapping | list) or (isinstance(value, Mapping) and part not in value):
            return ""
        value = value[part]  # type: ignore[index]
    return function_hint(value, definition.template.version)


def resolve_map(
    definition: Definition, expression: object, scope: Scope, path: Path
) -> tuple[Mapping[str, object], list[Diagnostic]]:
    """Return the map that a tree evaluates to, with unknowns in place of calls that fail, and diagnostics.

    References to resources that do not exist are not reported here: `check` does that.
    """
    if type(expression) is dict:
        return expression, []
    failures: list[FunctionError] = []
    evaluation = Evaluation(definition, scope, failures)
    with evaluation.budget.computing():
        value = evaluate(expression, evaluation)
        evaluation.charge_for(value)
    diagnostics = [_problem(definition, error) for error in failures if error.kind != "InvalidTemplateReference"]
    if isinstance(value, Mapping):
        return value, diagnostics
    if value is not None and value is not OMIT and not isinstance(value, Unknown):
        diagnostics.append(_placed(definition, f"must be a map, not {type_name(value)}", path))
    return {}, diagnostics


def _problem(definition: Definition, error: FunctionError) -> Diagnostic:
    error.kind = "StackValidationFailed"
    return definition.located(error)


def _placed(definition: Definition, message: str, path: Path) -> Diagnostic:
    document = definition.template.document
    return Diagnostic("field", message, path, document.source, document.locate(path))


def key_path(definition: Definition, resource: ResourceDefinition, key: str) -> Path:
    """Return the path of the HOT key `key` of the resource, in the template's words:
    `('Resources', 'web', 'Properties')`.
    """
    template = definition.template
    return (template.written("resources"), resource.name, template.dialect.resource_keys[key])
