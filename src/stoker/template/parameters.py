"""The values of a template's parameters for one stack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import ImmutableParameterModified
from stoker.base.redaction import REDACTED
from stoker.schema.unknown import Unknown, is_unknown
from stoker.template.expressions import FunctionError
from stoker.template.parameter import ParameterSchema
from stoker.template.problems import suggestion

_AWS_REGION = "ap-southeast-1"
"""What the reference engine calls every region."""

_UNMASKED = "give the value itself; an update may also keep the former one (`existing`, UsePreviousValue)"


@dataclass(frozen=True, slots=True)
class PseudoParameters:
    """What every template may ask of its stack (facts: template_versions.json, pseudo_parameters). An AWS account is a
    project. Names that a stack has not got yet are unknown.
    """

    stack_id: str | Unknown
    stack_name: str | Unknown
    project_id: str
    region: str | None = None
    arn: str | Unknown = ""

    def values(self, names: Iterable[str]) -> dict[str, Any]:
        """The pseudo parameters of these names; None for one that has no value."""
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
    """A parameter value that a plug-in must look at. `description` replaces the plug-in's complaint when given;
    the value of a `hidden` parameter must not be shown.
    """

    constraint: str
    value: Any
    parameter: str
    path: Path
    description: str = ""
    hidden: bool = False

    def told(self, complaint: str) -> str:
        """The plug-in's complaint as the author of the template shall see it."""
        return self.description or (f"{REDACTED} does not meet {self.constraint}" if self.hidden else complaint)


class Parameters:
    """Given values, defaults, and what they become. Read-only; values convert when they are first asked for.

    `section` is what the template calls its parameters section, for the paths of complaints.
    """

    __slots__ = ("_converted", "_defaults", "_given", "_pseudo", "_schemas", "_section")

    def __init__(
        self,
        schemas: Mapping[str, ParameterSchema],
        given: Mapping[str, Any],
        defaults: Mapping[str, Any],
        pseudo: Mapping[str, Any],
        section: str = "parameters",
    ) -> None:
        self._schemas = schemas
        self._given = {name: value for name, value in given.items() if value is not None}
        self._defaults = defaults
        self._pseudo = pseudo
        self._section = section
        self._converted: dict[str, Any] = {}

    @property
    def hidden(self) -> frozenset[str]:
        """Names of the parameters whose values nobody may see."""
        return frozenset(name for name, schema in self._schemas.items() if schema.hidden)

    @property
    def custom_checks(self) -> list[CustomCheck]:
        """The values that plug-ins must check."""
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

    def __getitem__(self, name: str) -> Any:
        """The converted value; raises FunctionError (UserParameterMissing) for one that is not there."""
        value = self.get(name)
        if value is None:
            known = [*self._schemas, *self._pseudo]
            message = f"The Parameter ({name}) was not provided."
            raise FunctionError(message, "UserParameterMissing", "" if name in self else suggestion(name, known))
        return value

    def get(self, name: str) -> Any:
        """The converted value; None when there is none. Raises ValueError for one that does not convert."""
        if name in self._converted:
            return self._converted[name]
        if name in self._pseudo:
            return self._pseudo[name]
        schema = self._schemas.get(name)
        raw = self._raw(name) if schema is not None else None
        if schema is not None and raw is not None:
            raw = raw if isinstance(raw, Unknown) else schema.convert(raw)
        self._converted[name] = raw
        return raw

    def _raw(self, name: str) -> Any:
        for source in (self._given, self._defaults):
            if source.get(name) is not None:
                return source[name]
        return self._schemas[name].default

    def values(self) -> dict[str, Any]:
        """Converted values of all declared parameters that have one."""
        found = {name: self.fit(name) for name in self._schemas}
        return {name: value for name, value in found.items() if value is not None}

    def stored(self) -> dict[str, Any]:
        """The values that were given, as they were given: what is kept with the stack. Has hidden ones in clear."""
        return dict(self._given)

    def fit(self, name: str) -> Any:
        """As `get`, with None for a value that does not convert, which only an unchecked definition can have."""
        try:
            return self.get(name)
        except ValueError:
            return None

    def as_text(self) -> dict[str, str]:
        """All parameters and pseudo parameters as stack show has them, hidden ones masked."""
        shown = {name: str(value) for name, value in self._pseudo.items() if value is not None}
        for name, schema in self._schemas.items():
            value = self.fit(name)
            if value is not None:
                shown[name] = "" if is_unknown(value) else schema.to_text(value)
        return shown

    def check_defaults(self) -> Iterator[Diagnostic]:
        """Defaults that break a constraint of their own parameter, unless the environment puts others in their place.

        That a default is not of the parameter's type matters only where it is used: `check` finds that.
        """
        for name, schema in self._schemas.items():
            if schema.default_complaint and self._defaults.get(name) is None:
                path = (self._section, name, schema.default_key)
                yield Diagnostic("parameter-schema", schema.default_complaint, path, kind="InvalidSchemaError")

    def check(self) -> Iterator[Diagnostic]:
        """What is wrong with the values: missing, of the wrong type, against a constraint."""
        for name, schema in self._schemas.items():
            yield from self._check(name, schema)

    def _check(self, name: str, schema: ParameterSchema) -> Iterator[Diagnostic]:
        path = (self._section, name)
        if schema.is_mask(self._raw(name)):
            yield Diagnostic("parameter-value", f"{REDACTED} only stands for a hidden value", path, hint=_UNMASKED)
            return
        try:
            value = self.get(name)
        except ValueError as error:
            yield Diagnostic("parameter-value", str(error), path)
            return
        if value is None:
            yield Diagnostic("parameter-missing", "the parameter needs a value", path, kind="UserParameterMissing")
        elif not is_unknown(value):
            for complaint in schema.complaints(value):
                yield Diagnostic("parameter-constraint", complaint, path)

    def refuse_changes_to_immutable(self, before: Parameters) -> None:
        """Raise ImmutableParameterModified when an immutable parameter had another value in `before`."""
        for name, schema in self._schemas.items():
            if schema.immutable and name in before._schemas and before.fit(name) != self.fit(name):
                raise ImmutableParameterModified(f"The parameter {name!r} is immutable; its value cannot be changed.")

    def with_values(self, values: Mapping[str, Any]) -> Parameters:
        """The same parameters with other values given to some of them."""
        return Parameters(self._schemas, {**self._given, **values}, self._defaults, self._pseudo, self._section)

    def mask(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """`values` by parameter name, with the hidden ones replaced by asterisks."""
        hidden = self.hidden
        return {name: REDACTED if name in hidden else value for name, value in values.items()}
