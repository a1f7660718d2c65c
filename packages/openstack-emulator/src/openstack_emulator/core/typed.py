"""Typed records: dataclasses that are stored as JSON objects.

    @dataclass(slots=True, kw_only=True, eq=False)
    class Box(TypedRecord):
        name: str
        size: int
        key: str = field(metadata=named("_key"))

A field is stored under its own name, or under the name that `named` gives. What a field may be is what JSON can be, or
another dataclass (a `Part`), or a list or a dictionary of such. All fields are stored; a release that adds a field also
adds a step to `upgrades.STEPS` that gives it to the records of older state files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import UnionType
from typing import Any, NamedTuple, Protocol, Self, Union, get_args, get_origin, get_type_hints

import orjson

FAULT = "_fault"
"""The name under which a record has the reason why the next change of its state is to fail."""
_NAME = "name"


def named(name: str) -> Mapping[str, str]:
    """The metadata of a field that is stored under another name than its own."""
    return {_NAME: name}


class Readable(Protocol):
    """A record whose fields are read by their names, as lists do that a request filters and sorts."""

    def get(self, name: str, /) -> Any: ...


class _Form(NamedTuple):
    """How a class is stored: the attributes by their names in JSON, a function that reads them all, those that make
    parts of the JSON of an attribute, the names in JSON of what has parts, and as the first two those names that do not
    begin with `_`."""

    attributes: Mapping[str, str]
    values: Callable[[Any], tuple[Any, ...]]
    parts: Mapping[str, Callable[[Any], Any]]
    composed: Sequence[str]
    public: Sequence[str]
    public_values: Callable[[object], tuple[object, ...]]


_FORMS: dict[type[Part], _Form] = {}
"""The forms of the classes that were needed so far."""


def _form(kind: type[Part]) -> _Form:
    found = _FORMS.get(kind)
    if found is None:
        found = _FORMS[kind] = _form_of(kind)
    return found


def _form_of(kind: type[Part]) -> _Form:
    fields = [attribute for attribute in dataclasses.fields(kind) if attribute.name != "fault"]
    hints = get_type_hints(kind)
    names = {attribute.metadata.get(_NAME, attribute.name): attribute.name for attribute in fields}
    parts = {attribute.name: part for attribute in fields if (part := _part_of(hints[attribute.name])) is not None}
    composed = [stored for stored, name in names.items() if name in parts]
    public = [stored for stored in names if stored[0] != "_"]
    values = _reader([attribute.name for attribute in fields])
    return _Form(names, values, parts, composed, public, _reader([names[stored] for stored in public]))


def _reader(attributes: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    """A function that reads these attributes of an object."""
    read = attrgetter(*attributes)
    return read if len(attributes) > 1 else lambda record: (read(record),)


def _part_of(hint: object) -> Callable[[Any], Any] | None:
    """What makes the value of a field that is a part, or a list or a dictionary of parts, or one of these or None; None
    for other fields."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return next((parser for argument in get_args(hint) if (parser := _part_of(argument)) is not None), None)
    options = (hint, *get_args(hint))
    part = next((option for option in options if isinstance(option, type) and issubclass(option, Part)), None)
    if part is None:
        return None
    parser = part.from_json
    if origin is dict:
        return lambda data: {name: parser(member) for name, member in data.items()}
    return (lambda data: [parser(element) for element in data]) if origin is list else parser


@dataclass(slots=True, kw_only=True, eq=False)
class Part:
    """A JSON object with known fields."""

    def to_json(self) -> dict[str, Any]:
        """The object as it is stored; parts within it are not converted: see `to_bytes`."""
        form = _form(type(self))
        return dict(zip(form.attributes, form.values(self), strict=True))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The object that was stored; unknown fields are left out. Raises KeyError for a field that is missing."""
        form = _form(cls)
        values = {attribute: data[name] for name, attribute in form.attributes.items()}
        for attribute, part in form.parts.items():
            if values[attribute] is not None:
                values[attribute] = part(values[attribute])
        return cls(**values)


def stored_names(kind: type[Part]) -> Mapping[str, str]:
    """The attributes of a class by the names under which they are stored."""
    return _form(kind).attributes


def to_plain(record: Part) -> dict[str, object]:
    """The object as JSON, with the parts within it."""
    form = _form(type(record))
    return _composed(form, dict(zip(form.attributes, form.values(record), strict=True)))


def to_public(record: Part) -> dict[str, object]:
    """The object as clients may see it: as JSON, with the parts within it, but without names that begin with `_`."""
    form = _form(type(record))
    return _composed(form, dict(zip(form.public, form.public_values(record), strict=True)))


def _composed(form: _Form, data: dict[str, object]) -> dict[str, object]:
    """Put JSON in place of the parts of an object."""
    for name in form.composed:
        if data.get(name):
            data[name] = plain(data[name])
    return data


def plain(value: object) -> object:
    """A value as JSON, with the parts within it."""
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, Part):
        return to_plain(value)
    return {name: plain(member) for name, member in value.items()} if isinstance(value, dict) else value


def to_bytes(stored: Part | Mapping[str, object]) -> bytes:
    """An object as JSON, with the parts within it."""
    data = stored.to_json() if isinstance(stored, Part) else stored
    return orjson.dumps(data, default=Part.to_json, option=orjson.OPT_PASSTHROUGH_DATACLASS)


@dataclass(slots=True, kw_only=True, eq=False)
class TypedRecord(Part):
    """A record of a `store.Table`.

    fault: why the next change of the record's state is to fail, because a fault rule says so. It is stored only while
    there is one.
    """

    id: str
    fault: str | None = None

    def get(self, name: str) -> Any:
        """The value that is stored under a name; None for an unknown name. For names that requests give."""
        if name == FAULT:
            return self.fault
        form = _FORMS.get(type(self)) or _form(type(self))
        attribute = form.attributes.get(name)
        return None if attribute is None else getattr(self, attribute)

    def take_fault(self) -> str | None:
        """Why the change of state that is made now is to fail, if it is; later ones do not."""
        fault, self.fault = self.fault, None
        return fault
