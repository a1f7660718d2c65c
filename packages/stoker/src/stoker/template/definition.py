"""A template bound to an environment and parameter values: the desired state of one stack."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from typing import Any, NotRequired, TypedDict, TypeVar, Unpack

from stoker.base.budget import Budget, Postponed, ensured
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import TemplateInvalid
from stoker.schema.unknown import Unknown, has_unknown, is_unknown
from stoker.template.assertions import check_rules
from stoker.template.definition_parts import (
    FoundReferences,
    OutputDefinition,
    PlacedReference,
    ResourceDefinition,
    TemplateStructure,
    references_in,
)
from stoker.template.environment import Environment
from stoker.template.expressions import (
    OMIT,
    UNDETERMINED,
    Evaluation,
    Expression,
    FunctionError,
    LookUp,
    Reference,
    Scope,
    UnknownScope,
    evaluate,
    walk,
)
from stoker.template.functions.base import Function
from stoker.template.functions.imports import FnImportValue
from stoker.template.limits import Limits
from stoker.template.ordering import Requirements, refuse_cycle
from stoker.template.parameters import Parameters, PseudoParameters
from stoker.template.parts import OutputTemplate, ResourceTemplate
from stoker.template.problems import Problems, suggestion, type_name
from stoker.template.template import Template

_UNKNOWN_SCOPE = UnknownScope()

_STRUCTURES = 16
"""Number of combinations of a template's conditions for which definitions share what they have in common."""

Called = TypeVar("Called", bound=Function)


class DefinitionInputs(TypedDict):
    """What a template is bound to, beside its environment.

    parameters: values given with the request; they may be unknown if the parent stack has not been created yet.
    files: contents by name.
    strict: whether values are validated (default); not for an existing stack, which was created with them.
    missing_ok: whether the value of a parameter without a value is unknown, and a default may be replaced by another
        value; by default it is a problem. Without `strict`, only the names of the parameters are validated.
    exports: the values that the project's stacks export, by name; without them the value of every import is unknown.
    look_up: resolves Fn::ValueOf, which is an error without it.
    """

    parameters: Mapping[str, Any]
    files: Mapping[str, str]
    pseudo: PseudoParameters
    strict: NotRequired[bool]
    missing_ok: NotRequired[bool]
    exports: NotRequired[Mapping[str, object] | None]
    look_up: NotRequired[LookUp | None]


class Definition:
    """A template bound to one stack's environment and parameters. Created by `bind`; read-only."""

    __slots__ = (
        "__weakref__",
        "_conditions",
        "_failed_conditions",
        "_pending_conditions",
        "_structure",
        "budget",
        "environment",
        "files",
        "known_exports",
        "look_up",
        "outputs",
        "parameters",
        "resources",
        "template",
    )

    template: Template
    environment: Environment
    parameters: Parameters
    files: Mapping[str, str]
    budget: Budget
    look_up: LookUp | None
    known_exports: Mapping[str, object] | None
    resources: Mapping[str, ResourceDefinition]
    outputs: Mapping[str, OutputDefinition]

    @classmethod
    def bind(cls, template: Template, environment: Environment, **inputs: Unpack[DefinitionInputs]) -> Definition:
        """Bind a template to the environment and parameters of one stack.

        Raises TemplateInvalid for unknown, missing and invalid parameters, and for conditions and policies with
        invalid values.
        """
        definition, problems = cls.examine(template, environment, **inputs)
        if problems:
            raise TemplateInvalid(problems)
        return definition

    @classmethod
    def examine(
        cls,
        template: Template,
        environment: Environment,
        *,
        broken: Collection[Path] = (),
        **inputs: Unpack[DefinitionInputs],
    ) -> tuple[Definition, list[Diagnostic]]:
        """Return a definition that may have mistakes, and the problems for which `bind` raises TemplateInvalid.

        With problems, the definition serves only to find more of them: parameters with invalid values, and conditions
        whose paths are in `broken`, are unknown; resources whose condition fails are there. Raises TemplateInvalid
        for a loop that cannot be expanded.
        """
        definition = cls()
        definition.environment = environment
        definition.files = inputs["files"]
        definition.known_exports = inputs.get("exports")
        definition.look_up = inputs.get("look_up")
        strict = inputs.get("strict", True)
        with ensured(template.limits.allowed) as definition.budget:
            values = _merged_values(environment.parameters, inputs["parameters"])
            defaults = environment.parameter_defaults
            undecided: list[str] = []
            if inputs.get("missing_ok", False):
                undecided = _without_value(template, values, defaults)
                defaults = {
                    **dict.fromkeys(_valueless(template, values, defaults), UNDETERMINED),
                    **_not_null(defaults),
                }
            definition.parameters = Parameters(
                template.parameters,
                values,
                defaults,
                inputs["pseudo"].values(template.dialect.pseudo_parameters),
                template.written("parameters"),
            )
            problems = Problems(template.document, template.limits.max_problems)
            definition.template = template
            if strict or inputs.get("missing_ok", False):
                definition._check_names(values, problems)
            definition._check_parameters(strict, problems)
            definition.template = template.for_parameters(definition.parameters)
            problems.move_to(definition.template.document)
            definition._bind(strict, undecided, broken, problems)
        return definition, problems.sorted()

    def _bind(self, strict: bool, undecided: Collection[str], broken: Collection[Path], problems: Problems) -> None:
        self.resources = {}
        section = self.template.written("conditions")
        self._conditions: dict[str, bool | Unknown] = {
            name: UNDETERMINED for name in self.template.conditions if (section, name) in broken
        }
        self._pending_conditions: set[str] = set()
        self._failed_conditions: dict[str, FunctionError] = {}
        self._decide_conditions()
        if strict:
            self._check_rules(undecided, problems)
        self._bind_resources(problems)
        self._structure = self._shared_structure()
        self._bind_outputs(problems)

    def with_parameters(self, values: Mapping[str, object]) -> Definition:
        """Return the definition with other values of some parameters, which may be unknown and are not checked."""
        other = copy(self)
        other.parameters = self.parameters.with_values(values)
        other.budget = Budget(self.template.limits.allowed)
        other._conditions, other._pending_conditions, other._failed_conditions = {}, set(), {}
        other._structure = TemplateStructure()
        other.resources = {
            name: ResourceDefinition(resource.template, other, resource.deletion_policy, resource.external_id)
            for name, resource in self.resources.items()
        }
        return other

    # -- resolving --------------------------------------------------------------------------------------------

    def resolve(self, expression: object, scope: Scope) -> Any:
        """Return the value of a compiled tree; it may be or contain unknowns if values from the scope are unknown.

        The value may share parts with the template: treat it as read-only. Raises TemplateInvalid with one diagnostic,
        of the same kind as Heat's error, when a function fails.
        """
        if not isinstance(expression, Expression):
            return expression
        evaluation = Evaluation(self, scope)
        try:
            with evaluation.budget.computing():
                value = expression.evaluate(evaluation)
                evaluation.charge_for(value)
        except FunctionError as error:
            raise TemplateInvalid([self.located(error)]) from error
        return None if value is OMIT else value

    def located(self, error: FunctionError) -> Diagnostic:
        """Return the error of a function as a diagnostic with its place."""
        document = self.template.document
        path = error.path or ()
        return Diagnostic(
            rule=error.rule,
            message=error.message,
            path=path,
            source=document.source,
            position=document.locate(path),
            hint=error.hint,
            kind=error.kind,
        )

    def references_in(self, expression: object) -> Iterator[PlacedReference]:
        """Yield every reference in a compiled tree, in chosen branches only; none in a call that fails."""
        return references_in(expression, self)

    def found_references(self, resource: ResourceTemplate) -> FoundReferences:
        """Return what a resource refers to, from another definition of the template if it was found there."""
        return self._structure.found_references(resource, self)

    def calls_in(self, expression: object, function: type[Called]) -> Iterator[Called]:
        """Yield every call of a function in a compiled tree, in chosen branches only; none in a call that fails."""
        return (node for node in walk(expression, Evaluation(self, _UNKNOWN_SCOPE, [])) if isinstance(node, function))

    def all_references(self) -> Iterator[Reference]:
        """Yield the references of resources and outputs."""
        for resource in self.resources.values():
            yield from resource.references
        for output in self.outputs.values():
            for placed in self.references_in(output.value):
                yield placed.reference

    def exports(self) -> list[tuple[str, str]]:
        """The exports: the name of each and the key of its output."""
        return [(output.export, key) for key, output in self.outputs.items() if output.export is not None]

    @property
    def imports(self) -> list[str]:
        """Return the sorted names of the exports that resources and outputs import, in chosen branches only."""
        evaluation = Evaluation(self, _UNKNOWN_SCOPE)
        trees = [tree for resource in self.resources.values() for tree in (resource.properties, resource.metadata)]
        trees += [output.value for output in self.outputs.values()]
        calls = (call for tree in trees for call in self.calls_in(tree, FnImportValue))
        return sorted({name for call in calls if (name := self._import_name(call, evaluation)) is not None})

    @staticmethod
    def _import_name(call: FnImportValue, evaluation: Evaluation) -> str | None:
        try:
            return call.imports(evaluation)
        except FunctionError:
            return None

    def in_order(self) -> list[str]:
        """Return the names of all resources, requirements first, otherwise in the template's order.

        Raises TemplateInvalid (CircularDependencyException) if some depend on each other.
        """
        requires = {name: resource.requires for name, resource in self.resources.items()}
        names, cycle = self.order(requires)
        refuse_cycle(cycle, self.template.document, self.template.written("resources"))
        return names

    def order(self, requires: Requirements) -> tuple[list[str], list[str]]:
        """Return what `topological` does for requirements of the resources."""
        return self._structure.order(requires)

    # -- the interface for functions -----------------------------------------------------------------------------------

    @property
    def limits(self) -> Limits:
        return self.template.limits

    @property
    def mappings(self) -> Mapping[str, Any]:
        return self.template.mappings

    def parameter(self, name: str) -> object:
        """Return the parameter's value; raises FunctionError (UserParameterMissing) if there is none."""
        try:
            return self.parameters[name]
        except ValueError as error:
            raise FunctionError(f"the parameter {name!r}: {error}", "StackValidationFailed") from error

    def type_of_parameter(self, name: str) -> str:
        """Return the parameter's type as the template writes it."""
        schema = self.template.parameters.get(name)
        if schema is None:
            hint = suggestion(name, self.template.parameters)
            raise FunctionError(f"the parameter {name!r} does not exist", "UserParameterMissing", hint)
        return schema.type.cfn

    def parameters_of_type(self, kind: str) -> Iterator[str]:
        """Yield the names of the parameters of a type, or of lists of it."""
        kinds = (kind, f"List<{kind}>")
        return (name for name, schema in self.template.parameters.items() if schema.type.cfn in kinds)

    def has_parameter(self, name: str) -> bool:
        return name in self.parameters

    def has_resource(self, name: str) -> bool:
        """Return whether the resource is declared and its condition is true."""
        return name in self.resources

    def resource_names(self) -> Iterator[str]:
        return iter(self.resources)

    def condition(self, name: str) -> bool | Unknown:
        """Return the named condition's value; raises FunctionError if evaluating it failed.

        Errors of conditions that are not used are not reported.
        """
        if name in self._failed_conditions:
            raise self._failed_conditions[name]
        if name not in self._conditions:
            if name not in self.template.conditions or name in self._pending_conditions:
                raise FunctionError(f"there is no condition {name!r}", "StackValidationFailed")
            self._pending_conditions.add(name)
            try:
                value = evaluate(self.template.conditions[name], Evaluation(self, _UNKNOWN_SCOPE))
            except Postponed:
                self._pending_conditions.discard(name)
                raise
            assert isinstance(value, bool | Unknown)  # any other is an error of the compiled condition
            self._conditions[name] = value
        return self._conditions[name]

    # -- binding ----------------------------------------------------------------------------------------------

    def _check_names(self, values: Mapping[str, object], problems: Problems) -> None:
        """Add a problem for each given value that is of no parameter."""
        declared = self.template.parameters
        for name in values:
            if name not in declared:
                problems.add(
                    "unknown-parameter",
                    f"the template has no parameter {name!r}",
                    (self.template.written("parameters"), str(name)),
                    hint=suggestion(name, declared),
                    kind="UnknownUserParameter",
                )

    def _check_parameters(self, strict: bool, problems: Problems) -> None:
        """Add the problems of values; the values that have any become unknown."""
        found = list(self.parameters.check_defaults())
        invalid = {str(item.path[1]) for item in found}
        if strict:
            found += [item for item in self.parameters.check() if item.path[1] not in invalid]
        problems.add_all(found)
        if found:
            self.parameters = self.parameters.with_values({str(item.path[1]): UNDETERMINED for item in found})

    def _decide_conditions(self) -> None:
        """Evaluate every condition, required ones first; report errors where a condition is used."""
        for name in self.template.conditions:
            try:
                self.condition(name)
            except FunctionError as error:
                self._failed_conditions[name] = error

    def _holds(self, condition: object) -> bool:
        """Return whether a condition is true or unknown."""
        return condition is True or evaluate(condition, Evaluation(self, _UNKNOWN_SCOPE)) is not False

    def _bind_resources(self, problems: Problems) -> None:
        present = {}
        for name, resource in self.template.resources.items():
            try:
                if resource.condition is not True and not self._holds(resource.condition):
                    continue
                policy, external_id = resource.deletion_policy, resource.external_id
                if isinstance(policy, Expression):
                    policy = self._deletion_policy(resource, policy)
                if external_id is not None:
                    external_id = self._external_id(resource)
            except FunctionError as error:
                problems.add_all([self.located(error)])
                policy, external_id = "Delete", None
            present[name] = ResourceDefinition(resource, self, policy, external_id)
        self.resources = present

    def _shared_structure(self) -> TemplateStructure:
        """Return what is shared with the definitions of the template whose conditions have the same values.

        A definition whose conditions fail, and those of a template that has very many combinations, share nothing.
        """
        known = self.template.structures
        key = (*self.resources, *((name, self._conditions.get(name)) for name in self.template.conditions))
        if self._failed_conditions or (len(known) >= _STRUCTURES and key not in known):
            return TemplateStructure()
        return known.setdefault(key, TemplateStructure())

    def _bind_outputs(self, problems: Problems) -> None:
        self.outputs = {}
        exported: set[str] = set()
        for key, output in self.template.outputs.items():
            try:
                enabled = self._holds(output.condition)
            except FunctionError as error:
                problems.add_all([self.located(error)])
                continue
            value = output.value if enabled else None
            export = self._export(output, problems) if enabled and output.export is not None else None
            if export in exported:
                problems.add("export", f"another output is already exported as {export!r}", self._export_path(key))
            elif export is not None:
                exported.add(export)
            self.outputs[key] = OutputDefinition(key, output.description, value, enabled, export)

    def _export(self, output: OutputTemplate, problems: Problems) -> str | None:
        path = self._export_path(output.key)
        try:
            name = self._early(output.export)
        except FunctionError as error:
            problems.add_all([self.located(error)])
            return None
        if next(self.references_in(output.export), None) is not None:
            problems.add("export", "the name of an export must not depend on resources", path)
        elif not has_unknown(name):
            if isinstance(name, str) and name:
                return name
            problems.add("export", f"the name of an export must be a string, not {type_name(name)}", path)
        return None

    def _export_path(self, key: str) -> Path:
        return (self.template.written("outputs"), key, "Export", "Name")

    def _check_rules(self, undecided: Collection[str], problems: Problems) -> None:
        """Add the assertions that do not hold whatever values the `undecided` parameters will get."""
        definition = self.with_parameters(dict.fromkeys(undecided, UNDETERMINED)) if undecided else self
        try:
            problems.add_all(check_rules(self.template.rules, Evaluation(definition, _UNKNOWN_SCOPE)))
        except FunctionError as error:
            problems.add_all([self.located(error)])

    def _deletion_policy(self, resource: ResourceTemplate, policy: Expression) -> str:
        value = self._early(policy)
        known = self.template.version.deletion_policies
        if value is None or is_unknown(value):
            return "Delete"
        if not isinstance(value, str) or value not in known:
            raise self._misplaced(resource, "deletion_policy", f"must be one of {', '.join(known)}")
        return known[value]

    def _external_id(self, resource: ResourceTemplate) -> str | None:
        value = self._early(resource.external_id)
        if resource.depends_on:
            error = self._misplaced(resource, "external_id", "an external resource cannot depend on others")
            error.kind = "InvalidExternalResourceDependency"
            raise error
        if value is not None and not is_unknown(value) and not isinstance(value, str):
            raise self._misplaced(resource, "external_id", "must be a string")
        return None if value is None else str(value)

    def _early(self, expression: object) -> object:
        value = evaluate(expression, Evaluation(self, _UNKNOWN_SCOPE))
        return None if value is OMIT else value

    def _misplaced(self, resource: ResourceTemplate, key: str, message: str) -> FunctionError:
        error = FunctionError(message, "StackValidationFailed")
        error.path = (self.template.written("resources"), resource.name, self.template.dialect.resource_keys[key])
        return error


def _not_null(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


def _merged_values(environment: Mapping[str, object], request: Mapping[str, object]) -> dict[str, Any]:
    return {**environment, **_not_null(request)}


def _without_value(template: Template, values: Mapping[str, object], defaults: Mapping[str, object]) -> list[str]:
    return [name for name in template.parameters if values.get(name) is None and defaults.get(name) is None]


def _valueless(template: Template, values: Mapping[str, object], defaults: Mapping[str, object]) -> list[str]:
    return [
        name
        for name, schema in template.parameters.items()
        if schema.required and values.get(name) is None and defaults.get(name) is None
    ]
