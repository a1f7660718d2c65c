"""The values of properties, from an object as its service lists it: the inverse of `stoker.resources.wire`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.live_values import live_values
from stoker.plugins.resource import ResourceType
from stoker.resources.wire import older_spellings
from stoker.schema.property import Property

_OUTDATED = ("DEPRECATED", "HIDDEN")
_EMPTY: tuple[object, ...] = ("", [], {})
"""Values that say the same as none, unless a property has another default."""


def described(kind: ResourceType, fields: Mapping[str, object]) -> dict[str, Any]:
    """Return the properties that the object itself shows, without outdated ones and those that cannot be compared."""
    known = live_values(kind)
    compared = {name: prop for name, prop in kind.properties.items() if name in known and known[name].is_compared}
    return from_wire(compared, fields)


def from_wire(schema: Mapping[str, Property], fields: Mapping[str, object]) -> dict[str, object]:
    """Return the values of properties that the fields of a request body, or of an object, have."""
    older, found = older_spellings(schema), dict[str, Any]()
    for name, prop in schema.items():
        value = fields.get(prop.wire or name)
        says_nothing = value is None or (prop.default is None and value in _EMPTY)
        if name not in older and prop.implemented and prop.support.status not in _OUTDATED and not says_nothing:
            found[name] = _property_value(prop, value)
    return found


def _property_value(prop: Property, value: object) -> object:
    if isinstance(value, Mapping) and prop.schema is not None:
        return from_wire(prop.schema, value)
    if isinstance(value, list) and prop.items is not None:
        return [_property_value(prop.items, item) for item in value]
    return value
