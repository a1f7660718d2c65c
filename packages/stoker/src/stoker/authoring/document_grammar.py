"""Declarations of a YAML document's form: they check a document, and describe it as a JSON Schema and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stoker.base.diagnostics import Key as KeyPath
from stoker.base.diagnostics import Path
from stoker.base.similar import Suggestion, closest

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a path of a document, and perhaps a hint."""

    path: Path
    message: str
    hint: str = ""


class ValueKind(Protocol):
    """What a value must be."""

    @property
    def words(self) -> str:
        """What it must be, in words: `a number`."""

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield what is wrong with a value."""

    def schema(self) -> Schema:
        """Return the JSON Schema of the value."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value of one of JSON's types, which `fits` recognizes."""

    words: str
    types: str | list[str]
    fits: Callable[[object], bool]

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        if not self.fits(value):
            yield Fault(path, f"must be {self.words}")

    def schema(self) -> Schema:
        return {"type": self.types} if self.types else {}


TEXT = Scalar("a string", "string", lambda value: isinstance(value, str) and value != "")
COUNT = Scalar("a whole number", "integer", lambda value: isinstance(value, int) and not isinstance(value, bool))
NUMBER = Scalar("a number", "number", lambda value: isinstance(value, int | float) and not isinstance(value, bool))
FLAG = Scalar("true or false", "boolean", lambda value: isinstance(value, bool))
ANYTHING = Scalar("any value", "", lambda value: True)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words."""

    choices: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"one of {', '.join(self.choices)}"

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        if value not in self.choices:
            similar = closest(value, self.choices) if isinstance(value, str) else None
            yield Fault(path, f"must be {self.words}", Suggestion(str(value), similar) if similar else "")

    def schema(self) -> Schema:
        return {"enum": list(self.choices)}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind."""

    item: ValueKind

    @property
    def words(self) -> str:
        return "a list"

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(path, "must be a list")
            return
        for number, item in enumerate(value):
            yield from self.item.faults(item, (*path, number))

    def schema(self) -> Schema:
        return {"type": "array", "items": self.item.schema()}


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map whose values are of one kind. `key` is the word for its keys; `known` lists the possible ones, if any."""

    item: ValueKind
    key: str
    known: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return f"a map by {self.key}"

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, f"must be {self.words}")
            return
        for name, item in value.items():
            if self.known and name not in self.known:
                yield _unknown(name, path, self.known)
            yield from self.item.faults(item, (*path, name))

    def schema(self) -> Schema:
        schema: Schema = {"type": "object", "additionalProperties": self.item.schema()}
        return {**schema, "propertyNames": {"enum": list(self.known)}} if self.known else schema


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section: what its value must be, and what it is for, in sentences."""

    kind: ValueKind
    help: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A map with declared keys; `name` names it in the schema and in the reference."""

    name: str
    keys: Mapping[str, Key]
    help: str = ""

    @property
    def words(self) -> str:
        return "a map"

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield Fault(path, f"must be a map with the keys {', '.join(self.keys)}")
            return
        for name, key in self.keys.items():
            if key.required and name not in value:
                yield Fault(path, f"needs the key {name!r}")
        for name, item in value.items():
            if name in self.keys:
                yield from self.keys[name].kind.faults(item, (*path, name))
            else:
                yield _unknown(name, path, self.keys)

    def schema(self) -> Schema:
        """Return a reference; `definition` is what it refers to."""
        return {"$ref": f"#/definitions/{self.name}"}

    def definition(self) -> Schema:
        """Return the schema of the section itself."""
        schema: Schema = {
            "type": "object",
            "properties": {
                name: {**_describable(key.kind.schema()), "description": key.help} for name, key in self.keys.items()
            },
            "additionalProperties": False,
        }
        required = [name for name, key in self.keys.items() if key.required]
        return {**schema, "required": required} if required else schema


@dataclass(frozen=True, slots=True)
class Either:
    """A value of the first kind, or of the second."""

    first: ValueKind
    second: ValueKind
    is_first: Callable[[object], bool]

    @property
    def words(self) -> str:
        return f"{self.first.words} or {self.second.words}"

    def faults(self, value: object, path: Path) -> Iterator[Fault]:
        yield from (self.first if self.is_first(value) else self.second).faults(value, path)

    def schema(self) -> Schema:
        return {"anyOf": [self.first.schema(), self.second.schema()]}


def sections(kind: ValueKind) -> Iterator[Section]:
    """Yield the sections in a kind, each once, an outer one before those in it."""
    seen: list[Section] = []
    waiting = [kind]
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, Section):
            if current in seen:
                continue
            seen.append(current)
            waiting += [key.kind for key in current.keys.values()]
        elif isinstance(current, ListOf | MapOf):
            waiting.append(current.item)
        elif isinstance(current, Either):
            waiting += [current.first, current.second]
    yield from seen


def schema_of(root: Section, title: str, draft: str) -> Schema:
    """Return the JSON Schema of documents."""
    definitions = {section.name: section.definition() for section in sections(root)}
    return {"$schema": draft, "title": title, **root.schema(), "definitions": definitions}


def _describable(schema: Schema) -> Schema:
    """Return a schema to which a description can be added: what stands beside a reference is ignored."""
    return {"allOf": [schema]} if "$ref" in schema else schema


def _unknown(name: str, path: Path, known: Mapping[str, object] | tuple[str, ...]) -> Fault:
    similar = closest(name, known)
    hint = Suggestion(name, similar) if similar else f"known keys are {', '.join(known)}"
    return Fault((*path, KeyPath(name)), f"unknown key {name!r}", hint)
