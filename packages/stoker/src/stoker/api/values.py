"""Kinds of values in requests: how each is checked, and its JSON Schema.

A kind is declared once and used for JSON bodies, query strings, and the parameters of the CloudFormation Query API.
These differ only in how they write lists and structures, which a `Notation` knows.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.api.faults import BadRequest

_LONGEST_SHOWN = 60
_DIGITS = "[0-9]{1,18}"


class UnexpectedValue(BadRequest):
    """A value is not of the declared kind; `name` is its path in the request."""

    def __init__(self, name: str, value: Any, expected: str) -> None:
        super().__init__(f"{name} must be {expected}; it is {_shown(value)}.")


class ValueOutOfRange(UnexpectedValue):
    """A number is too small or too large."""


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "a map"
        case list():
            return "a list"
        case bool():
            return "true" if value else "false"
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


class Notation(ABC):
    """How a kind of request writes lists, and what it calls its fields.

    `list_form` describes a list in messages, `missing` and `unknown` are messages with the names of fields.
    """

    list_form: str
    missing: str
    unknown: str

    @abstractmethod
    def items(self, name: str, value: Any) -> Iterable[tuple[str, Any]] | None:
        """Return the items of a list, each with its name; None if the value is not a list."""


class JsonNotation(Notation):
    """JSON bodies."""

    list_form = "a list"
    missing = "The body must have the key {name}."
    unknown = "Unknown key of the body: {names}; it must be one of {known}."

    def items(self, name: str, value: Any) -> Iterable[tuple[str, Any]] | None:
        if not isinstance(value, list):
            return None
        return [(f"{name}[{index}]", item) for index, item in enumerate(value)]


JSON = JsonNotation()


class ValueKind(ABC):
    """A kind of value. `expected` describes it in messages; `schema` is its JSON Schema, as exact as that can be."""

    expected: str

    @property
    @abstractmethod
    def schema(self) -> dict[str, Any]: ...

    @abstractmethod
    def read(self, name: str, value: Any, notation: Notation = JSON) -> Any:
        """Return the value, converted if several forms are accepted. Raises UnexpectedValue with `name`."""


@dataclass(frozen=True)
class Anything(ValueKind):
    """Any JSON value."""

    expected = "any value"

    @property
    def schema(self) -> dict[str, Any]:
        return {}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> Any:
        return value


@dataclass(frozen=True)
class String(ValueKind):
    """A string of at most `longest` characters; with `pattern`, a regular expression that must match all of it, which
    `form` describes.
    """

    longest: int | None = None
    pattern: str | None = None
    form: str = ""

    @property
    def expected(self) -> str:  # type: ignore[override]
        if self.form:
            return self.form
        return "a string" if self.longest is None else f"a string of at most {self.longest} characters"

    @property
    def schema(self) -> dict[str, Any]:
        found: dict[str, object] = {"type": "string"}
        if self.longest is not None:
            found["maxLength"] = self.longest
        if self.pattern is not None:
            found["pattern"] = f"^(?:{self.pattern})$"
        return found

    def read(self, name: str, value: Any, notation: Notation = JSON) -> str:
        fits = isinstance(value, str) and (self.longest is None or len(value) <= self.longest)
        if not fits or (self.pattern is not None and not re.fullmatch(self.pattern, value)):
            raise UnexpectedValue(name, value, self.expected)
        return str(value)


@dataclass(frozen=True)
class Integer(ValueKind):
    """An integer from `least` to `most`, as a number or in decimal digits."""

    least: int = 0
    most: int | None = None

    @property
    def expected(self) -> str:  # type: ignore[override]
        limits = f"from {self.least} to {self.most}" if self.most is not None else f"of at least {self.least}"
        return f"an integer {limits}"

    @property
    def schema(self) -> dict[str, Any]:
        number: dict[str, object] = {"type": "integer", "minimum": self.least}
        if self.most is not None:
            number["maximum"] = self.most
        return {"anyOf": [number, {"type": "string", "pattern": f"^{_DIGITS}$"}]}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> int:
        number = self._number(value)
        if number is None:
            raise UnexpectedValue(name, value, self.expected)
        if number < self.least or (self.most is not None and number > self.most):
            raise ValueOutOfRange(name, value, self.expected)
        return number

    def _number(self, value: object) -> int | None:
        """Return the number; None for anything else. In JSON Schema, 1.0 is an integer."""
        if isinstance(value, str):
            return int(value) if re.fullmatch(_DIGITS, value) else None
        if isinstance(value, float):
            return int(value) if value.is_integer() else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class Boolean(ValueKind):
    """A boolean, or its name in upper and lower case letters."""

    expected = "true or false"

    @property
    def schema(self) -> dict[str, Any]:
        name = {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}
        return {"anyOf": [{"type": "boolean"}, name]}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise UnexpectedValue(name, value, self.expected)


class Choice(ValueKind):
    """One of the given strings."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices
        self.expected = f"one of {', '.join(choices)}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.choices)}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise UnexpectedValue(name, value, self.expected)
        return value


_BLANKS = " \t\n\r\f\v"
"""What is removed around the strings of a list."""
_BLANK = r"[ \t\n\r\f\v]"
"""A pattern of one of them: what `\\s` matches differs between the dialects of regular expressions."""


@dataclass(frozen=True)
class CommaList(ValueKind):
    """Strings of at most `longest` characters, separated by commas. Blanks around them and empty ones are removed."""

    longest: int | None = None

    @property
    def expected(self) -> str:  # type: ignore[override]
        limit = "" if self.longest is None else f" of at most {self.longest} characters"
        return f"comma-separated strings{limit}"

    @property
    def schema(self) -> dict[str, Any]:
        found = {"type": "string", "description": f"{self.expected.capitalize()}."}
        if self.longest is not None:
            item = rf"{_BLANK}*[^,]{{0,{self.longest}}}?{_BLANK}*"
            found["pattern"] = f"^{item}(?:,{item})*$"
        return found

    def read(self, name: str, value: Any, notation: Notation = JSON) -> list[str]:
        if not isinstance(value, str):
            raise UnexpectedValue(name, value, STRING.expected)
        found = [part for part in (part.strip(_BLANKS) for part in value.split(",")) if part]
        for part in found:
            if self.longest is not None and len(part) > self.longest:
                raise UnexpectedValue(name, part, self.expected)
        return found


@dataclass(frozen=True)
class ListOf(ValueKind):
    """A list of values of one kind."""

    item: ValueKind
    expected = "a list"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> list[Any]:
        items = notation.items(name, value)
        if items is None:
            raise UnexpectedValue(name, value, notation.list_form)
        return [self.item.read(place, item, notation) for place, item in items]


@dataclass(frozen=True)
class MapOf(ValueKind):
    """A map from strings to values of one kind."""

    item: ValueKind
    expected = "a map"

    @property
    def schema(self) -> dict[str, Any]:
        values = self.item.schema
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise UnexpectedValue(name, value, self.expected)
        return {key: self.item.read(f"{name}.{key}", item, notation) for key, item in value.items()}


class Either(ValueKind):
    """A value of one of the given kinds; the first that accepts it converts it."""

    def __init__(self, *kinds: ValueKind) -> None:
        self.kinds = kinds
        self.expected = " or ".join(kind.expected for kind in kinds)

    @property
    def schema(self) -> dict[str, Any]:
        return {"anyOf": [kind.schema for kind in self.kinds]}

    def read(self, name: str, value: Any, notation: Notation = JSON) -> Any:
        for kind in self.kinds:
            try:
                return kind.read(name, value, notation)
            except UnexpectedValue:
                continue
        raise UnexpectedValue(name, value, self.expected)


STRING = String()
INTEGER = Integer()
BOOLEAN = Boolean()
STRINGS = ListOf(STRING)
COMMA_LIST = CommaList()
MAP = MapOf(Anything())
MAP_OR_STRING = Either(MAP, STRING)


class MissingValue(BadRequest):
    """A required field was not given."""


class UnknownField(BadRequest):
    """A field was given that the request does not have."""


class RepeatedField(BadRequest):
    """A field was given under two of its names."""


class UnsupportedField(BadRequest):
    """A field is known and not supported."""


@dataclass(frozen=True)
class Field:
    """A named value of a request. `default` is used if it is not given.

    A `repeatable` parameter of a query string is a list of the values given. `aliases` are other names of the field.
    `refused` is the reason why a field is not supported, for the message; None means that it is.
    """

    kind: ValueKind = STRING
    default: Any = None
    required: bool = False
    repeatable: bool = False
    aliases: tuple[str, ...] = ()
    refused: str = ""


Fields = Mapping[str, Field]


@dataclass(frozen=True)
class Structure(ValueKind):
    """A map with the given fields; null stands for a field that is not given. Without `strict`, others are ignored."""

    fields: Fields
    strict: bool = True

    @property
    def expected(self) -> str:  # type: ignore[override]
        return f"a map with {', '.join(self.fields)}"

    @property
    def schema(self) -> dict[str, Any]:
        found: dict[str, object] = {
            "type": "object",
            "properties": {name: _nullable(each) for name, each in self.fields.items()},
        }
        if required := [name for name, each in self.fields.items() if each.required]:
            found["required"] = required
        if self.strict:
            found["additionalProperties"] = False
        return found

    def read(self, name: str, value: Any, notation: Notation = JSON) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise UnexpectedValue(name, value, self.expected)
        return read_fields(self.fields, value, notation, f"{name}.", strict=self.strict)


def _nullable(field: Field) -> dict[str, object]:
    schema = field.kind.schema
    return schema if field.required else {"anyOf": [schema, {"type": "null"}]}


def read_fields(
    fields: Fields, entries: Mapping[str, object], notation: Notation, prefix: str = "", *, strict: bool = True
) -> dict[str, object]:
    """Return the value of each field, converted, or its default. `prefix` is put before names in messages.

    Raises UnexpectedValue, MissingValue, RepeatedField, UnsupportedField, and with `strict` UnknownField.
    """
    names = {spelling: name for name, each in fields.items() for spelling in (name, *each.aliases)}
    if strict:
        refuse_unknown(notation.unknown, [f"{prefix}{name}" for name in entries if name not in names], fields)
    named: dict[str, object] = {}
    for spelling, value in entries.items():
        name = names.get(spelling)
        if name is None or value is None:
            continue
        if name in named:
            raise RepeatedField(f"{prefix}{name} is given under two of its names.")
        named[name] = value
    return {name: _read(each, f"{prefix}{name}", named.get(name), notation) for name, each in fields.items()}


def _read(field: Field, name: str, value: object, notation: Notation) -> Any:
    if value is None:
        if field.required:
            raise MissingValue(notation.missing.format(name=name))
        return field.default
    if field.refused:
        raise UnsupportedField(f"{name} is not supported: {field.refused}")
    return field.kind.read(name, value, notation)


def refuse_unknown(message: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raise UnknownField if any name is unknown; `message` has places for the unknown `names` and the `known` ones."""
    if names := sorted(unknown):
        raise UnknownField(message.format(names=", ".join(names), known=", ".join(sorted(known))))
