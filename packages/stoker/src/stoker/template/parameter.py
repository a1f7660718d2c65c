"""The declaration of a parameter: type, default, constraints, and how its values are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stoker.base.diagnostics import Diagnostic, Key, Path
from stoker.base.redaction import REDACTED
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
    pattern_error,
)
from stoker.schema.property import to_number
from stoker.template.parameter_types import BY_AWS_NAME, COMMA_DELIMITED_LIST, STRING, ParameterType
from stoker.template.problems import suggestion, type_name
from stoker.template.versions import Version


class SchemaProblem(Exception):
    """A declaration is invalid; `path` is relative to the declaration."""

    def __init__(self, message: str, path: Path = (), hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint

    def below(self, *path: str | int) -> SchemaProblem:
        """Return the same problem with a path that begins with `path`."""
        return SchemaProblem(self.message, (*path, *self.path), self.hint)


@dataclass(frozen=True, slots=True)
class ConstraintViolation:
    """What is wrong with a value, and a hint which value is probably meant."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSchema:
    """One parameter's declaration. `default` is as written, None if there is none, `default_key` is the template's word
    for it, and `default_violation` tells the constraint that it violates. `constraint_description` is the description
    that a CloudFormation template has for all constraints together. The value of a parameter that is not `sound`, since
    its declaration is invalid, is unknown.
    """

    name: str
    type: ParameterType = STRING
    default: Any = None
    description: str = ""
    label: str = ""
    hidden: bool = False
    immutable: bool = False
    tags: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    constraint_description: str = ""
    default_key: str = "default"
    default_violation: ConstraintViolation | None = None
    sound: bool = True

    @property
    def required(self) -> bool:
        """Whether a value must be given. A redacted default, as in a template that the API returned, does not count."""
        return self.sound and (self.default is None or self.is_redacted(self.default))

    def is_redacted(self, value: object) -> bool:
        """Return whether `value` is the placeholder that API responses show instead of a hidden value."""
        return self.hidden and isinstance(value, str) and value == REDACTED

    def convert(self, value: object) -> Any:
        """Convert `value` to the parameter's type; raises ValueError with a message that never shows a hidden value."""
        try:
            return self.type.convert(value)
        except ValueError as error:
            shown = REDACTED if self.hidden else _shown(value)
            raise ValueError(f"{shown} is not {self.type.expects}") from error

    def violations(self, value: object) -> Iterator[ConstraintViolation]:
        """Yield a violation for each constraint that a converted value violates, except those that need a service. A
        hidden value is in none.
        """
        for constraint in self.constraints:
            message = constraint.problem(value) if _applies(constraint, value) else None
            if message and self.hidden:
                yield ConstraintViolation(
                    constraint.description or f"{REDACTED} does not meet the constraint {constraint.to_schema()}"
                )
            elif message:
                yield ConstraintViolation(message, constraint.hint(value))

    def custom_constraints(self, value: object) -> Iterator[tuple[CustomConstraint, object]]:
        """Yield the constraints that a plug-in must check, each with the value, or the list item, to check."""
        for constraint in self.constraints:
            if isinstance(constraint, CustomConstraint):
                yield constraint, value
        if self.type.names:
            named = CustomConstraint(name=self.type.names, description=self.constraint_description)
            for item in value if isinstance(value, list) else [value]:
                yield named, item

    def to_text(self, value: object) -> str:
        """Return a converted value as the API shows it; a hidden one is redacted."""
        return REDACTED if self.hidden else self.type.to_text(value)


def _applies(constraint: Constraint, value: object) -> bool:
    return not isinstance(constraint, Length) or hasattr(value, "__len__")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def parse(name: str, raw: object, version: Version) -> tuple[ParameterSchema, list[Diagnostic]]:
    """Parse the declaration `raw` of the parameter `name`; paths of diagnostics are relative to the declaration."""
    if not isinstance(raw, Mapping):
        message = f"the declaration of a parameter must be a map, not {type_name(raw)}"
        return ParameterSchema(name=name, sound=False), [_diagnostic(SchemaProblem(message))]
    known = {key: value for key, value in raw.items() if key in version.parameter_keys}
    found = [
        SchemaProblem(
            f"unknown key {key!r} in the declaration of a parameter",
            (Key(key),),
            suggestion(key, version.parameter_keys),
        )
        for key in raw
        if key not in known
    ]
    try:
        schema = _schema(name, known, version)
    except SchemaProblem as problem:
        found.append(problem)
        hidden = bool(known.get("hidden")) or _no_echo(known)
        schema = ParameterSchema(name=name, hidden=hidden)
    return replace(schema, sound=not found), [_diagnostic(problem) for problem in found]


def _schema(name: str, raw: Mapping[str, object], version: Version) -> ParameterSchema:
    is_hot = version.dialect.name == "hot"
    schema = (_from_hot if is_hot else _from_cfn)(name, raw, version)
    constraints = []
    for index, constraint in enumerate(schema.constraints):
        kind = _KIND_OF[type(constraint)]
        place: Path = ("constraints", index, kind) if is_hot else _cfn_place(kind, raw)
        _check_fit(schema, kind, place, is_hot)
        constraints.append(_finished(constraint, schema.type, place))
    schema = replace(schema, constraints=tuple(constraints))
    key = "default" if is_hot else "Default"
    return replace(schema, default_key=key, default_violation=_violation_by_default(schema, key))


def _diagnostic(problem: SchemaProblem) -> Diagnostic:
    return Diagnostic(
        rule="parameter-schema",
        message=problem.message,
        path=problem.path,
        hint=problem.hint,
        kind="InvalidSchemaError",
    )


def _type(raw: Mapping[str, Any], key: str, types: Mapping[str, ParameterType]) -> ParameterType:
    if key not in raw:
        raise SchemaProblem(f"the {key} is missing", (), f"use one of {', '.join(types)}")
    found = types.get(raw[key]) if isinstance(raw[key], str) else None
    if found is None:
        named = str(raw[key])
        if named.startswith("AWS::SSM::Parameter::"):
            hint = "AWS's parameter store is not available; make the type String and pass the value itself"
            raise SchemaProblem(f"the parameter type {named} is not supported", (key,), hint)
        raise SchemaProblem(f"there is no parameter type {raw[key]!r}", (key,), suggestion(named, types))
    return found


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _from_hot(name: str, raw: Mapping[str, object], version: Version) -> ParameterSchema:
    tags = raw.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise SchemaProblem("tags must be a list of strings", ("tags",))
    declared = raw.get("constraints") or []
    if not isinstance(declared, list):
        raise SchemaProblem(f"constraints must be a list, not {type_name(declared)}", ("constraints",))
    return ParameterSchema(
        name=name,
        type=_type(raw, "type", version.parameter_types),
        default=raw.get("default"),
        description=_text(raw.get("description")),
        label=_text(raw.get("label")),
        hidden=bool(raw.get("hidden")),
        immutable=bool(raw.get("immutable")),
        tags=tuple(tags),
        constraints=tuple(_hot_constraint(entry, index, version) for index, entry in enumerate(declared)),
    )


def _hot_constraint(entry: object, index: int, version: Version) -> Constraint:
    place = ("constraints", index)
    if not isinstance(entry, Mapping):
        raise SchemaProblem(f"a constraint must be a map, not {type_name(entry)}", place)
    known = version.parameter_constraints
    for key in entry:
        if key not in known and key != "description":
            raise SchemaProblem(f"there is no constraint {key!r}", (*place, Key(key)), suggestion(key, known))
    kind = next((kind for kind in _CONSTRAINTS if kind in entry), None)
    if kind is None:
        raise SchemaProblem("a constraint must have a kind", place, f"use one of {', '.join(sorted(known))}")
    try:
        return _CONSTRAINTS[kind](entry[kind], _text(entry.get("description")))
    except SchemaProblem as problem:
        raise problem.below(*place, kind) from problem


def _bound(value: object, whole: bool) -> object:
    try:
        number = None if value is None else to_number(value)
    except (TypeError, ValueError) as error:
        raise SchemaProblem(f"{value!r} is not a number") from error
    if isinstance(number, bool) or (whole and isinstance(number, float)):
        raise SchemaProblem(f"{value!r} is not {'an integer' if whole else 'a number'}")
    return number


def _numbers(raw: object, keys: tuple[str, str], whole: bool) -> tuple[Any, Any]:
    if not isinstance(raw, Mapping):
        raise SchemaProblem(f"takes a map with {' and '.join(keys)}")
    for key in raw:
        if key not in keys:
            raise SchemaProblem(f"unknown key {key!r}", (Key(key),), suggestion(key, keys))
    first, second = (_bound(raw.get(key), whole) for key in keys)
    if first is None and second is None:
        raise SchemaProblem(f"takes at least one of {' and '.join(keys)}")
    return first, second


def _range(raw: object, description: str) -> Constraint:
    low, high = _numbers(raw, ("min", "max"), whole=False)
    return Range(min=low, max=high, description=description)


def _length(raw: object, description: str) -> Constraint:
    low, high = _numbers(raw, ("min", "max"), whole=True)
    return Length(min=low, max=high, description=description)


def _modulo(raw: object, description: str) -> Constraint:
    step, offset = _numbers(raw, ("step", "offset"), whole=True)
    if step is None or offset is None:
        raise SchemaProblem("takes both step and offset")
    if step == 0:
        raise SchemaProblem("the step must not be 0", ("step",))
    if abs(offset) >= abs(step) or offset * step < 0:
        raise SchemaProblem("the offset must be smaller than the step and have the same sign", ("offset",))
    return Modulo(step=step, offset=offset, description=description)


def _allowed_values(raw: object, description: str) -> Constraint:
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        raise SchemaProblem(f"takes a list, not {type_name(raw)}")
    return AllowedValues(values=tuple(raw), description=description)


def _allowed_pattern(raw: object, description: str) -> Constraint:
    if not isinstance(raw, str):
        raise SchemaProblem(f"takes a string, not {type_name(raw)}")
    broken = pattern_error(raw)
    if broken:
        raise SchemaProblem(f"{raw!r} is not a regular expression: {broken}")
    return AllowedPattern(pattern=raw, description=description)


def _custom(raw: object, description: str) -> Constraint:
    if not isinstance(raw, str):
        raise SchemaProblem(f"takes the name of a constraint, not {type_name(raw)}")
    return CustomConstraint(name=raw, description=description)


# In the order of Heat's precedence for an entry with several kinds.
_CONSTRAINTS: Mapping[str, Callable[[object, str], Constraint]] = {
    "modulo": _modulo,
    "range": _range,
    "length": _length,
    "allowed_values": _allowed_values,
    "allowed_pattern": _allowed_pattern,
    "custom_constraint": _custom,
}


def _from_cfn(name: str, raw: Mapping[str, object], version: Version) -> ParameterSchema:
    return ParameterSchema(
        name=name,
        type=_type(raw, "Type", version.parameter_types),
        default=raw.get("Default"),
        description=_text(raw.get("Description")),
        label=_text(raw.get("Label")),
        hidden=_no_echo(raw),
        constraints=tuple(_cfn_constraints(raw, version.parameter_types is BY_AWS_NAME)),
        constraint_description=_text(raw.get("ConstraintDescription")),
    )


def _no_echo(raw: Mapping[str, object]) -> bool:
    return str(raw.get("NoEcho", "false")).lower() == "true"


def _cfn_constraints(raw: Mapping[str, object], is_aws: bool) -> Iterator[Constraint]:
    description = _text(raw.get("ConstraintDescription"))
    for kind, key in (("allowed_values", "AllowedValues"), ("allowed_pattern", "AllowedPattern")):
        if key in raw:
            try:
                constraint = _CONSTRAINTS[kind](raw[key], description)
            except SchemaProblem as problem:
                raise problem.below(key) from problem
            yield replace(constraint, any_match=is_aws) if isinstance(constraint, AllowedPattern) else constraint
    for kind, low, high in (("length", "MinLength", "MaxLength"), ("range", "MinValue", "MaxValue")):
        bounds = {bound: raw[key] for bound, key in (("min", low), ("max", high)) if key in raw}
        if bounds:
            try:
                yield _CONSTRAINTS[kind](bounds, description)
            except SchemaProblem as problem:
                raise problem.below(low if "min" in problem.path or "max" not in bounds else high) from problem


_KIND_OF = {
    Range: "range",
    Length: "length",
    Modulo: "modulo",
    AllowedValues: "allowed_values",
    AllowedPattern: "allowed_pattern",
    CustomConstraint: "custom_constraint",
}


def _check_fit(schema: ParameterSchema, kind: str, place: Path, is_hot: bool) -> None:
    """Raise SchemaProblem for a constraint that parameters of the type cannot have."""
    if kind in schema.type.checks:
        return
    written, type_ = (kind, schema.type.hot) if is_hot else ("/".join(_CFN_KEYS[kind]), schema.type.cfn)
    usable = sorted(schema.type.checks)
    if not is_hot:
        usable = [key for name in usable for key in _CFN_KEYS.get(name, ())]
    hint = f"use one of {', '.join(usable)}" if usable else "the type has no constraints"
    raise SchemaProblem(f"the constraint {written} does not fit the type {type_}", place, hint)


def _cfn_place(kind: str, raw: Mapping[str, object]) -> Path:
    return tuple(key for key in _CFN_KEYS[kind] if key in raw)[:1]


_CFN_KEYS: Mapping[str, Sequence[str]] = {
    "allowed_values": ("AllowedValues",),
    "allowed_pattern": ("AllowedPattern",),
    "length": ("MinLength", "MaxLength"),
    "range": ("MinValue", "MaxValue"),
}


def _finished(constraint: Constraint, kind: ParameterType, place: Path) -> Constraint:
    """Convert allowed values to the parameter's type, because they are compared after conversion."""
    if not isinstance(constraint, AllowedValues):
        return constraint
    converted: list[object] = []
    for index, value in enumerate(constraint.values):
        try:
            converted += kind.spellings(value)
        except ValueError as error:
            raise SchemaProblem(f"{_shown(value)} is not {kind.expects}", (*place, index)) from error
    return replace(constraint, converted=tuple(converted))


def _violation_by_default(schema: ParameterSchema, key: str) -> ConstraintViolation | None:
    """Return the constraint that the default violates. Without constraints, a default of the wrong type is an error
    only when it is used, as in Heat, except for lists, which are split immediately.
    """
    if schema.required:
        return None
    try:
        value = schema.convert(schema.default)
    except ValueError as error:
        if schema.type is COMMA_DELIMITED_LIST:
            raise SchemaProblem(str(error), (key,)) from error
        return ConstraintViolation(str(error)) if schema.constraints else None
    problem = next(schema.violations(value), None)
    return replace(problem, message=f"the default violates a constraint: {problem.message}") if problem else None
