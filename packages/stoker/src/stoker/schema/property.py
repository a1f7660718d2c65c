"""Properties of a resource type: the values that each accepts, and the effect of a change.

A declaration is a mapping from names to `Property`. `Finalizer.properties` turns the values in a template into those
that a type's methods receive (converted, with defaults) and reports all errors, each with its path. Values are
converted as Heat converts them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Any

from stoker.base.diagnostics import Path
from stoker.base.json_text import read_json
from stoker.base.similar import Suggestion, closest
from stoker.schema.constraints import Constraint, CustomConstraint, described, schema_of
from stoker.schema.live import Live
from stoker.schema.unknown import Unknown, combine, has_unknown
from stoker_foundation.value_types import MAPPINGS


class Type(StrEnum):
    """Types of property values, with the names that the Orchestration API uses."""

    STRING = "String"
    INTEGER = "Integer"
    NUMBER = "Number"
    BOOLEAN = "Boolean"
    LIST = "List"
    MAP = "Map"
    ANY = "Any"


class Change(Enum):
    """The effect of a changed property value."""

    UPDATE = "update in place"
    REPLACE = "replacement"
    REFUSE = "refused"


@dataclass(frozen=True, slots=True)
class Support:
    """Support status: since when something exists, and whether it is deprecated.

    `substitutes` are the types that a resource can be changed to in place.
    """

    status: str = "SUPPORTED"
    version: str | None = None
    message: str | None = None
    previous: Support | None = None
    substitutes: tuple[str, ...] = ()

    @property
    def all_substitutes(self) -> tuple[str, ...]:
        """The substitutes that this status or an earlier one names."""
        return self.substitutes + (self.previous.all_substitutes if self.previous else ())

    def to_schema(self) -> dict[str, object]:
        """Return the Orchestration API's `support_status`."""
        return {
            "status": self.status,
            "version": self.version,
            "message": self.message,
            "previous_status": self.previous.to_schema() if self.previous else None,
        }


SUPPORTED = Support()


@dataclass(frozen=True, slots=True)
class Property:
    """One property.

    `schema` declares the keys of a map, `items` the elements of a list; a list with `strings` has strings as elements,
    although its published schema, like Heat's, does not say so. `wire` is the name in the service's request
    body if it differs. `reference` is the kind of object that a value names (`neutron.network`): the constraint of that
    name checks that the object exists, and the finder of that name turns a name into an ID. `resolve` selects a finder
    only. `replaces` names an older property of the same map, whose value is used when this one is not set. `excludes`
    names a property of the same map that must not be given as well.
    `lenient` properties are the parameters of a nested template: a list may also be a comma-separated string, and a map
    may also be a list or JSON in a string. `secret` values are never shown.
    """

    type: Type = Type.STRING
    description: str = ""
    required: bool = False
    default: Any = None
    constraints: tuple[Constraint, ...] = ()
    schema: Mapping[str, Property] | None = None
    items: Property | None = None
    strings: bool = False
    change: Change = Change.REPLACE
    support: Support = SUPPORTED
    implemented: bool = True
    wire: str | None = None
    reference: str | None = None
    resolve: str | None = None
    replaces: str | None = None
    excludes: str | None = None
    lenient: bool = False
    secret: bool = False
    live: Live | None = None
    convert: Callable[[Any], Any] = field(init=False, repr=False, compare=False)
    """Converts a value to the type. Raises ValueError, TypeError or OverflowError."""
    constant: object = field(init=False, repr=False, compare=False)
    """The converted default, once it was computed, if it depends on nothing else; None until then (see `Finalizer`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "convert", (_LENIENT if self.lenient else _COERCE)[self.type])
        object.__setattr__(self, "constant", None)
        if self.reference is None:
            return
        exists = CustomConstraint(name=self.reference)
        if exists not in self.constraints:
            object.__setattr__(self, "constraints", (*self.constraints, exists))
        object.__setattr__(self, "resolve", self.reference)

    def to_schema(self) -> dict[str, object]:
        """Return the Orchestration API's description of the property."""
        body: dict[str, object] = {
            "type": _API_TYPES[self.type],
            "required": self.required,
            "update_allowed": self.change is Change.UPDATE,
            "immutable": self.change is Change.REFUSE,
        }
        if self.default is not None:
            body["default"] = self.default
        if self.description:
            body["description"] = self.description
        if self.constraints:
            body["constraints"] = schema_of(self.constraints)
        if self.schema is not None:
            body["schema"] = schema_to_api(self.schema)
        elif self.items is not None:
            body["schema"] = {"*": self.items.to_schema()}
        return body


_API_TYPES = {
    Type.STRING: "string",
    Type.INTEGER: "integer",
    Type.NUMBER: "number",
    Type.BOOLEAN: "boolean",
    Type.LIST: "list",
    Type.MAP: "map",
    Type.ANY: "any",
}

_WITH_ARTICLE = {kind: f"{'an' if name[0] in 'ai' else 'a'} {name}" for kind, name in _API_TYPES.items()}


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a resource.

    `path` is the path of the value in the service's representation of the object (`fixed_ips` or `flavor.id`); None
    means the field with the attribute's own name. `live` attributes are read from the service each time. An attribute
    with `needs_path` has a value only together with the path that follows its name in the reference.
    """

    description: str = ""
    type: Type | None = None
    path: str | None = None
    live: bool = False
    support: Support = SUPPORTED
    needs_path: bool = False

    def to_schema(self) -> dict[str, object]:
        """Return the Orchestration API's description of the attribute."""
        body: dict[str, object] = {"description": self.description or "No description available"}
        if self.type is not None:
            body["type"] = _API_TYPES[self.type]
        return body


def schema_to_api(schema: Mapping[str, Property]) -> dict[str, object]:
    """Return all properties in the Orchestration API's format, without hidden and unimplemented ones."""
    return {
        name: prop.to_schema() for name, prop in schema.items() if prop.implemented and prop.support.status != "HIDDEN"
    }


@dataclass(frozen=True, slots=True)
class Problem:
    """An invalid value; `path` is relative to the properties of the resource, and ends with the name of a property that
    is missing or unknown.
    """

    rule: str
    path: Path
    message: str
    hint: str = ""


@dataclass
class Finalizer:
    """Checks and converts property values according to a schema, and collects all problems.

    `custom` is called for each custom constraint on a known value and returns an error message or None; omit it where
    no service may be called. `advice` says what to do instead of properties that are not declared, by their names.
    """

    custom: Callable[[str, object], str | None] | None = None
    advice: Mapping[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def properties(self, schema: Mapping[str, Property], values: Mapping[str, Any], path: Path = ()) -> dict[str, Any]:
        """Return the value of every declared property: as given, from its older name, its default, or None.

        A property that is null counts as given: see `value`.
        """
        self.unknown_names(schema, values, path)
        result: dict[str, object] = {}
        for name, prop in schema.items():
            if name in values or prop.replaces in values:
                value = self._under_either_name(name, prop, values, path) if prop.replaces else values[name]
                if prop.excludes is not None and value is not None and values.get(prop.excludes) is not None:
                    self._report("conflicting-properties", (*path, name), f"{name!r} excludes {prop.excludes!r}")
                result[name] = self.value(prop, value, (*path, name))
                continue
            if prop.required:
                self._report("required-property", (*path, name), f"property {name!r} is required")
            result[name] = None if prop.default is None else self._default(prop, (*path, name))
        return result

    def _default(self, prop: Property, path: Path) -> object:
        """Return the converted default, which is computed once where it is valid and no constraint asks others."""
        if prop.constant is not None:
            return _copy(prop.constant)
        before, value = len(self.problems), self.value(prop, prop.default, path)
        rules = (rule for inner in _all_properties([prop]) for rule in inner.constraints)
        if len(self.problems) == before and not any(rule.asks_others for rule in rules):
            object.__setattr__(prop, "constant", _copy(value))
        return value

    def _under_either_name(self, name: str, prop: Property, values: Mapping[str, object], path: Path) -> Any:
        value = values.get(name)
        older = values.get(prop.replaces or "")
        if value is not None and older is not None:
            self._report("conflicting-properties", (*path, name), f"{prop.replaces!r} is an older name of {name!r}")
        return older if value is None else value

    def unknown_names(self, schema: Mapping[str, Property], names: Iterable[object], path: Path = ()) -> None:
        """Report the names that are not declared; a name that is given as well cannot be the one that is meant."""
        known_names = list(names)
        for name in [each for each in known_names if each not in schema]:
            visible = [key for key, prop in schema.items() if prop.support.status != "HIDDEN"]
            close = closest(str(name), (key for key in visible if key not in known_names))
            known = f"known properties: {', '.join(sorted(visible)) or 'none'}"
            hint = self.advice.get(str(name), "") or (Suggestion(str(name), close) if close else known)
            self._report("unknown-property", (*path, str(name)), f"unknown property {str(name)!r}", hint)

    def value(self, prop: Property, value: Any, path: Path) -> Any:
        """Return `value` converted to the property's type; unknowns are returned unchanged.

        A null means the property's default or, without one, the empty value of its type: this is how Heat
        distinguishes `gateway_ip: null` (no gateway) from an omitted property (the service chooses). Where a constraint
        does not allow the empty value, Heat rejects a null; here such a property counts as omitted.
        """
        before = len(self.problems)
        converted = self._converted(prop, value, path)
        if prop.secret:
            self.problems[before:] = [replace(problem, message=_UNSHOWN, hint="") for problem in self.problems[before:]]
        return converted

    def _converted(self, prop: Property, value: object, path: Path) -> object:
        if value is None:
            value = _of_null(prop)
            if value is None and prop.required and prop.type is not Type.ANY:
                self._report("required-property", path, f"property {path[-1]!r} is required")
        if value is None or isinstance(value, Unknown):
            return value
        try:
            converted = prop.convert(value)
        except (ValueError, TypeError, OverflowError):
            self._report("wrong-type", path, f"{_shown(value)} is not {_WITH_ARTICLE[prop.type]}")
            return value
        if prop.type is Type.MAP:
            if isinstance(converted, str | Unknown):
                return converted
            if prop.schema is not None:
                converted = self.properties(prop.schema, converted, path)
        elif prop.type is Type.LIST and (items := prop.items or (_STRING if prop.strings else None)) is not None:
            converted = [self.value(items, item, (*path, index)) for index, item in enumerate(converted)]
        if prop.constraints:
            self._constraints(prop.constraints, converted, path)
        return converted

    def _constraints(self, constraints: Sequence[Constraint], value: object, path: Path) -> None:
        if has_unknown(value):
            return
        for constraint in constraints:
            if isinstance(constraint, CustomConstraint):
                problem = self.custom(constraint.name, value) if self.custom else None
                if problem:
                    self._report("constraint", path, described(constraint.description, problem))
            elif problem := constraint.problem(value):
                self._report("constraint", path, problem, constraint.hint(value))

    def _report(self, rule: str, path: Path, message: str, hint: str = "") -> None:
        self.problems.append(Problem(rule, path, message, hint))


EMPTY: Mapping[Type, object] = {
    Type.STRING: "",
    Type.INTEGER: 0,
    Type.NUMBER: 0,
    Type.BOOLEAN: False,
    Type.LIST: [],
    Type.MAP: {},
    Type.ANY: None,
}
"""The value that replaces a null, by type, when the property has no default."""


def _of_null(prop: Property) -> object:
    """Return the value that replaces a property's null; None when the property counts as omitted."""
    if prop.default is not None:
        return prop.default
    empty = EMPTY[prop.type]
    fits = not any(isinstance(each, CustomConstraint) or each.problem(empty) for each in prop.constraints)
    return empty if fits else None


def _copy(value: object) -> object:
    """Return plain data whose lists and maps can be changed."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


_UNSHOWN = "the value (not shown, since it is secret) violates the type or a constraint"


def _string(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    raise TypeError


def _integer(value: Any) -> int:
    number = int(value)
    if not _SMALLEST <= number <= _LARGEST:
        raise OverflowError
    return number


_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
"""Integers beyond 64 bits cannot be sent to any service."""


def to_number(value: Any) -> int | float:
    """Convert a number or its string representation to an int or float; raises ValueError or TypeError."""
    if isinstance(value, int | float):
        return value
    try:
        return int(value)
    except ValueError:
        return float(value)


def _number(value: object) -> int | float:
    """As `to_number`; raises ValueError or OverflowError also for numbers that JSON cannot represent."""
    number = to_number(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError


def _list(value: object) -> list[Any]:
    if isinstance(value, (list, Sequence)) and not isinstance(value, str):
        return list(value)
    raise TypeError


def _map(value: object) -> Mapping[str, object]:
    if isinstance(value, MAPPINGS):
        return value
    raise TypeError


def _lenient_list(value: object) -> list[Any]:
    if isinstance(value, str):
        return value.split(",") if value else []
    return _list(value)


def _lenient_map(value: object) -> object:
    if isinstance(value, str):
        read_json(value or "{}")
        return value
    if isinstance(value, list):
        return combine(value) if has_unknown(value) else json.dumps(value)
    return _map(value)


_COERCE: Mapping[Type, Callable[[object], object]] = {
    Type.STRING: _string,
    Type.INTEGER: _integer,
    Type.NUMBER: _number,
    Type.BOOLEAN: _boolean,
    Type.LIST: _list,
    Type.MAP: _map,
    Type.ANY: lambda value: value,
}
_LENIENT = {**_COERCE, Type.NUMBER: to_number, Type.LIST: _lenient_list, Type.MAP: _lenient_map}

_STRING = Property()


def _shown(value: object) -> str:
    text = json.dumps(value, default=str) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def custom_constraints(
    schema: Mapping[str, Property], values: Mapping[str, object], path: Path = ()
) -> Iterator[tuple[str, object, Path]]:
    """Return `(constraint name, value, path to the value)` for each property value that a plug-in must check."""
    for name, prop in schema.items():
        yield from _custom_of(prop, values.get(name), (*path, name))


def _custom_of(prop: Property, value: object, path: Path) -> Iterator[tuple[str, object, Path]]:
    if value is None or isinstance(value, Unknown):
        return
    for constraint in prop.constraints:
        if isinstance(constraint, CustomConstraint):
            yield constraint.name, value, path
    if prop.schema is not None and isinstance(value, Mapping):
        yield from custom_constraints(prop.schema, value, path)
    elif prop.items is not None and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _custom_of(prop.items, item, (*path, index))


def secret_paths(schema: Mapping[str, Property], values: Mapping[str, object], path: Path = ()) -> Iterator[Path]:
    """Return the paths of the secret values among property values."""
    for name, prop in schema.items():
        yield from _secrets_of(prop, values.get(name), (*path, name))


def _secrets_of(prop: Property, value: object, path: Path) -> Iterator[Path]:
    if prop.secret and value is not None:
        yield path
    elif prop.schema is not None and isinstance(value, Mapping):
        yield from secret_paths(prop.schema, value, path)
    elif prop.items is not None and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _secrets_of(prop.items, item, (*path, index))


@dataclass(frozen=True, slots=True)
class Traits:
    """What properties declare, at any depth: custom constraints (`constrained`); secrets; that they accept a name where
    the service requires an ID (`referring`). `present_names` has the names of properties by the ones before.
    """

    constrained: Mapping[str, Property]
    has_secrets: bool
    referring: Mapping[str, Property]
    present_names: Mapping[str, str]

    @classmethod
    def of(cls, schema: Mapping[str, Property]) -> Traits:
        """Return the traits of a schema."""
        return cls(
            constrained=_declaring(schema, lambda prop: any(isinstance(c, CustomConstraint) for c in prop.constraints)),
            has_secrets=bool(_declaring(schema, lambda prop: prop.secret)),
            referring=_declaring(schema, lambda prop: prop.resolve is not None),
            present_names={prop.replaces: name for name, prop in schema.items() if prop.replaces},
        )


def _declaring(schema: Mapping[str, Property], declares: Callable[[Property], bool]) -> dict[str, Property]:
    """Return the properties that declare something themselves, or in which one does."""
    return {name: prop for name, prop in schema.items() if any(map(declares, _all_properties([prop])))}


def _all_properties(properties: Iterable[Property]) -> Iterator[Property]:
    for prop in properties:
        yield prop
        yield from _all_properties([*(prop.schema or {}).values(), *([prop.items] if prop.items is not None else [])])
