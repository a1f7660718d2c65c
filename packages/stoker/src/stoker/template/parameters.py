"""The values of a template's parameters for one stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import ImmutableParameterModified
from stoker.base.redaction import REDACTED
from stoker.schema.constraints import described
from stoker.schema.unknown import Unknown, is_unknown
from stoker.template.expressions import UNDETERMINED, FunctionError
from stoker.template.parameter import ParameterSchema
from stoker.template.problems import suggestion

_AWS_REGION = "ap-southeast-1"
"""The name that Heat gives to every region."""

_GIVE_THE_VALUE = "give the value itself; an update can also keep the current one (`existing`, UsePreviousValue)"


@dataclass(frozen=True, slots=True)
class PseudoParameters:
    """The parameters that every stack has without a declaration, such as `AWS::StackName`. An AWS account is a project.
    Values that a stack does not have yet are unknown.
    """

    stack_id: str | Unknown
    stack_name: str | Unknown
    project_id: str
    region: str | None = None
    arn: str | Unknown = ""

    def values(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the pseudo parameters of these names; None for one without a value."""
        known = {
            "OS::stack_id": self.stack_id,
            "OS::stack_name": self.stack_name,
            "OS::project_id": self.project_id,
            "AWS::StackId": self.arn,
            "AWS::StackName": self.stack_name,
            "AWS::Region": _AWS_REGION,
            "AWS::AccountId": self.project_id,
            "AWS::Partition": "openstack",
            "AWS::URLSuffix": "amazonaws.com",
        }
        return {name: known.get(name) for name in names}


@dataclass(frozen=True, slots=True)
class CustomCheck:
    """A parameter value that a plug-in must check. `description`, if given, precedes the plug-in's message; the value
    of a `hidden` parameter must not be shown.
    """

    constraint: str
    value: Any
    parameter: str
    path: Path
    description: str = ""
    hidden: bool = False

    def message(self, problem: str) -> str:
        """Return the message for the user when the plug-in refuses the value with `problem`."""
        if self.hidden:
            return self.description or f"{REDACTED} does not meet {self.constraint}"
        return described(self.description, problem)


class Parameters:
    """Given values, defaults, and converted values. Read-only; values are converted on first access.

    `section` is the template's name of the parameters section, for the paths of diagnostics.
    """

    __slots__ = ("_converted", "_defaults", "_pseudo", "_schemas", "_section", "_supplied")

    def __init__(
        self,
        schemas: Mapping[str, ParameterSchema],
        values: Mapping[str, Any],
        defaults: Mapping[str, object],
        pseudo: Mapping[str, object],
        section: str = "parameters",
    ) -> None:
        self._schemas = schemas
        self._supplied = {name: value for name, value in values.items() if value is not None}
        self._defaults = defaults
        self._pseudo = pseudo
        self._section = section
        self._converted: dict[str, object] = {}

    @property
    def hidden(self) -> frozenset[str]:
        """Names of the parameters whose values must not be shown."""
        return frozenset(name for name, schema in self._schemas.items() if schema.hidden)

    @property
    def custom_checks(self) -> list[CustomCheck]:
        """Return the values that plug-ins must check."""
        return [
            CustomCheck(constraint.name, value, name, (self._section, name), constraint.description, schema.hidden)
            for name, schema in self._schemas.items()
            if (whole := self.fit(name)) is not None and not is_unknown(whole)
            for constraint, value in schema.custom_constraints(whole)
        ]

    def __contains__(self, name: object) -> bool:
        return name in self._schemas or name in self._pseudo

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemas)

    def __getitem__(self, name: str) -> object:
        """Return the converted value; raises FunctionError (UserParameterMissing) if there is none."""
        value = self.get(name)
        if value is None:
            known = [*self._schemas, *self._pseudo]
            message = f"The Parameter ({name}) was not provided."
            raise FunctionError(message, "UserParameterMissing", "" if name in self else suggestion(name, known))
        return value

    def get(self, name: str) -> Any:
        """Return the converted value; None if there is none. Raises ValueError for one that cannot be converted."""
        if name in self._converted:
            return self._converted[name]
        if name in self._pseudo:
            return self._pseudo[name]
        schema = self._schemas.get(name)
        if schema is not None and not schema.sound:
            return UNDETERMINED
        raw = self._raw(name) if schema is not None else None
        if schema is not None and raw is not None:
            raw = raw if isinstance(raw, Unknown) else schema.convert(raw)
        self._converted[name] = raw
        return raw

    def _raw(self, name: str) -> object:
        for source in (self._supplied, self._defaults):
            if source.get(name) is not None:
                return source[name]
        return self._schemas[name].default

    def values(self) -> dict[str, Any]:
        """Return the converted values of all declared parameters that have one."""
        found = {name: self.fit(name) for name in self._schemas}
        return {name: value for name, value in found.items() if value is not None}

    def stored(self) -> dict[str, Any]:
        """Return the given values as they were given, to be stored with the stack. Hidden ones are in clear."""
        return dict(self._supplied)

    def fit(self, name: str) -> object:
        """Return the value like `get`, or None if it cannot be converted, as is possible in unchecked definitions."""
        try:
            return self.get(name)
        except ValueError:
            return None

    def as_text(self) -> dict[str, str]:
        """Return all parameters and pseudo parameters as the API shows them with a stack; hidden ones are redacted."""
        shown = {name: str(value) for name, value in self._pseudo.items() if value is not None}
        for name, schema in self._schemas.items():
            value = self.fit(name)
            if value is not None:
                shown[name] = "" if is_unknown(value) else schema.to_text(value)
        return shown

    def check_defaults(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each default that violates a constraint, unless the environment overrides it.

        A default of the wrong type is an error only if it is used: `check` reports that.
        """
        for name, schema in self._schemas.items():
            found = schema.default_violation
            if found is not None and self._defaults.get(name) is None:
                path = (self._section, name, schema.default_key)
                yield Diagnostic("parameter-schema", found.message, path, hint=found.hint, kind="InvalidSchemaError")

    def check(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each value that is missing, of the wrong type, or violates a constraint."""
        for name, schema in self._schemas.items():
            yield from self._check(name, schema)

    def _check(self, name: str, schema: ParameterSchema) -> Iterator[Diagnostic]:
        path = (self._section, name)
        if schema.sound and schema.is_redacted(self._raw(name)):
            yield Diagnostic(
                "parameter-value", f"{REDACTED} is only the placeholder of a hidden value", path, hint=_GIVE_THE_VALUE
            )
            return
        try:
            value = self.get(name)
        except ValueError as error:
            yield Diagnostic("parameter-value", str(error), path)
            return
        if value is None:
            yield Diagnostic("parameter-missing", "the parameter needs a value", path, kind="UserParameterMissing")
        elif not is_unknown(value):
            for problem in schema.violations(value):
                hint = str(problem.hint)  # no replacement: the value does not stand in the template
                yield Diagnostic("parameter-constraint", problem.message, path, hint=hint)

    def refuse_changes_to_immutable(self, before: Parameters) -> None:
        """Raise ImmutableParameterModified if an immutable parameter had another value in `before`."""
        for name, schema in self._schemas.items():
            if schema.immutable and name in before._schemas and before.fit(name) != self.fit(name):
                raise ImmutableParameterModified(f"The parameter {name!r} is immutable; its value cannot be changed.")

    def with_values(self, values: Mapping[str, object]) -> Parameters:
        """Return the same parameters with other values for some of them."""
        return Parameters(self._schemas, {**self._supplied, **values}, self._defaults, self._pseudo, self._section)

    def redacted(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return `values`, which are by parameter name, with the hidden ones redacted."""
        hidden = self.hidden
        return {name: REDACTED if name in hidden else value for name, value in values.items()}
