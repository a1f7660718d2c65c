"""Objects of a state as resources: the values of their properties, before the references between them are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.authoring.terraform.state import StateObject
from stoker.authoring.terraform.table import Containment, Names, Row, composed
from stoker.base.json_text import read_json
from stoker.engine.generation.template import Hidden
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Finalizer, Property, Type

_EMPTY: tuple[object, ...] = (None, "", [], {})
_JSON_TYPES = ((str, "string"), (bool, "boolean"), (int | float, "number"))


class Unsupported(Exception):
    """A template cannot have the object, for this reason."""


@dataclass(slots=True, eq=False)
class Draft:
    """A resource that an object of a state becomes: the ID of the object, and the values of the properties.

    `shown` are the attributes: those of the object, or of one of its items.
    """

    origin: StateObject
    row: Row
    kind: ResourceType
    shown: Mapping[str, Any]
    id: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def maps(self, attribute: str) -> list[Mapping[str, object]]:
        """Return the maps in an attribute, which is a list of them or one; nothing for anything else."""
        return _maps(self.shown.get(attribute))

    def items(self, name: str) -> list[Any]:
        """Return the value of a property that is a list. Raises Unsupported if the state marks it as sensitive."""
        items = self.values.get(name, [])
        if not isinstance(items, list):
            raise Unsupported(f"the state marks what becomes its {name} as sensitive")
        return items

    def add(self, name: str, item: object) -> None:
        """Add an item to a property that is a list, unless it has that. Raises Unsupported."""
        items = self.values[name] = self.items(name)
        if item not in items:
            items.append(item)


def fill(draft: Draft) -> None:
    """Set the values that the attributes say, without usual ones. Raises Unsupported."""
    row, shown, properties = draft.row, draft.shown, draft.kind.properties
    for attribute, reason in row.unless.items():
        if shown.get(attribute) not in (*_EMPTY, False):
            raise Unsupported(reason)
    for attribute, path in row.attributes.items():
        value = shown.get(attribute)
        if value in _EMPTY or _is(row.usual.get(attribute), value):
            continue
        name, _, key = path.partition(".")
        if name not in properties:
            continue  # another of the types that the row has
        prop = properties[name]
        if key and prop.schema is not None:
            inner = _fitting(prop.schema[key], value, attribute in draft.origin.sensitive, path)
            draft.values.setdefault(name, {})[key] = inner
        else:
            draft.values[name] = _fitting(prop, value, attribute in draft.origin.sensitive, "")
    for attribute, block in row.blocks.items():
        items = _maps(shown.get(attribute))
        if attribute in draft.origin.sensitive and items and block.to in properties:
            draft.values[block.to] = Hidden("json")
        elif items and not block.to:
            draft.values |= _block(properties, block.attributes, items[0], "")
        elif items:
            prop = properties[block.to]
            schema = prop.schema or (prop.items.schema if prop.items is not None else None) or {}
            entries = [_block(schema, block.attributes, item, str(number)) for number, item in enumerate(items)]
            draft.values[block.to] = entries[0] if prop.schema is not None else entries


def identifier(draft: Draft) -> str:
    """Return the ID of the object, as its resource has it. Raises Unsupported if the state does not have it."""

    def value_of(name: str) -> str:
        return str(draft.shown.get(name) or draft.origin.attributes.get(name) or "")

    composed_id = draft.id or composed(draft.row.identifier, value_of)
    if not composed_id:
        raise Unsupported(f"the state does not have its ID ({draft.row.identifier})")
    return composed_id


def part_of(item: StateObject, into: Containment, schema: Mapping[str, Property]) -> list[object]:
    """Return the items that an object is in the property of another one."""
    shown = item.attributes
    if into.each:
        items = shown.get(into.each)
        return items if isinstance(items, list) else []
    prop = schema[into.property]
    inner = prop.items.schema if prop.items is not None else None
    if inner is None:
        return [value for name in into.attributes if (value := shown.get(name)) not in _EMPTY]
    entry = _block(inner, into.attributes, shown, item.name, item.sensitive)
    return [{**entry, **into.values}]


def refusal(kind: ResourceType, values: Mapping[str, object]) -> str:
    """Return why a template with these values would be refused; "" if it would not. Hidden ones are not looked at."""
    missing = [name for name, prop in kind.properties.items() if prop.required and not prop.secret]
    if missing := [name for name in missing if name not in values]:
        return f"the state does not say {', '.join(missing)}, which a template must have"
    known = {name: value for name, value in values.items() if not _hides(value)}
    schema = {name: replace(prop, required=prop.required and name in known) for name, prop in kind.properties.items()}
    finalizer = Finalizer()
    properties = finalizer.properties(schema, known)
    problems = [f"{'.'.join(map(str, problem.path))}: {problem.message}" for problem in finalizer.problems]
    if len(known) == len(values):
        problems += kind.validate(properties)
    return f"a template with it would be refused: {problems[0]}" if problems else ""


def _maps(value: object) -> list[Mapping[str, object]]:
    return [entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, dict)]


def _hides(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_hides, value.values()))
    if isinstance(value, list):
        return any(map(_hides, value))
    return isinstance(value, Hidden)


def _block(
    schema: Mapping[str, Property],
    names: Names,
    item: Mapping[str, object],
    place: str,
    sensitive: frozenset[str] = frozenset(),
) -> dict[str, object]:
    return dict(_block_values(schema, names, item, place, sensitive))


def _block_values(
    schema: Mapping[str, Property], names: Names, item: Mapping[str, object], place: str, sensitive: frozenset[str]
) -> Iterator[tuple[str, object]]:
    for attribute, name in names.items():
        value = item.get(attribute)
        if value not in _EMPTY and name in schema:
            label = f"{place}_{name}" if place else ""
            yield name, _fitting(schema[name], value, attribute in sensitive, label)


def _fitting(prop: Property, value: object, is_sensitive: bool, place: str) -> object:
    """Return a value in the type of its property; a marker for one that is secret."""
    if is_sensitive or prop.secret:
        return Hidden(next((name for kind, name in _JSON_TYPES if isinstance(value, kind)), "json"), place)
    if prop.type is Type.MAP and isinstance(value, str):
        try:
            return read_json(value)
        except ValueError:
            return value
    if prop.type is Type.LIST and not isinstance(value, list):
        return [value]
    if isinstance(value, dict | list):
        return value
    try:
        return prop.convert(value)
    except (ValueError, TypeError, OverflowError):
        return value


def _is(usual: object, value: object) -> bool:
    return usual is not None and type(usual) is type(value) and usual == value
