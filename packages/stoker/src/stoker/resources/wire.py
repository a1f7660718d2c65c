"""Conversion of property values to a service's request body, as declared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.schema.live import same
from stoker.schema.property import Finalizer, Property

NOT_SENT = ""
"""`wire=NOT_SENT` keeps a property out of the body."""


def to_wire(schema: Mapping[str, Property], values: Mapping[str, object]) -> dict[str, object]:
    """Return the values under the service's field names, at any depth.

    Properties that another one replaces, and those that are not sent, are left out; so are nulls inside of values. A
    top-level null stays, for the caller to drop (creation) or to send (an update that clears a field).
    """
    older = older_spellings(schema)
    body: dict[str, object] = {}
    for name, prop in schema.items():
        if name in values and name not in older and prop.wire != NOT_SENT:
            body[prop.wire or name] = wire_value(prop, values[name])
    return body


def wire_value(prop: Property, value: object) -> object:
    """Return one property's value as the service expects it."""
    if prop.schema is not None and isinstance(value, Mapping):
        return without_nulls(to_wire(prop.schema, value))
    if prop.items is not None and isinstance(value, list):
        return [wire_value(prop.items, item) for item in value]
    return value


def from_wire(prop: Property, given: object, shown: object) -> object:
    """Return a value that a service shows in the form of templates, with what means the same as in `given`.

    Keys of the service's own are left out. It is None if a template could not give the value.
    """
    found = _from_wire(prop, given, shown)
    checked = Finalizer()
    checked.value(prop, found, ())
    return None if checked.problems else found


def _from_wire(prop: Property, given: object, shown: object) -> object:
    if isinstance(shown, Mapping) and prop.schema is not None:
        known = given if isinstance(given, Mapping) else {}
        return without_nulls(
            {
                name: known.get(name)
                if each.wire == NOT_SENT
                else _from_wire(each, known.get(name), shown.get(each.wire or name))
                for name, each in prop.schema.items()
                if name not in older_spellings(prop.schema)
            }
        )
    if isinstance(shown, list) and prop.items is not None:
        items, known_items = prop.items, given if isinstance(given, list) else []
        return [
            next((item for item in known_items if same(wire_value(items, item), each)), _from_wire(items, None, each))
            for each in shown
        ]
    return given if given is not None and same(wire_value(prop, given), shown) else shown


def without_nulls(body: Mapping[str, object]) -> dict[str, Any]:
    """Return the entries that have a value."""
    return {key: value for key, value in body.items() if value is not None}


def older_spellings(schema: Mapping[str, Property]) -> frozenset[str]:
    """Return the properties that another one replaces (`Property.replaces`)."""
    return frozenset([prop.replaces for prop in schema.values() if prop.replaces])


def plain_name(name: str) -> str:
    """Return a name in letters, digits, hyphens, dots and underscores, as some services require."""
    return re.sub(r"[^a-zA-Z0-9_.-]", "-", name)
