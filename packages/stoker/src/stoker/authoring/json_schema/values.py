"""JSON Schemas of property values, which can be written literally or as a call of a function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.schema.constraints import AllowedPattern, AllowedValues, Constraint, Length, Range
from stoker.schema.property import Property, Support, Type

Schema = dict[str, Any]

FUNCTION = "function"
LOOP = "^Fn::ForEach::"

DEFINITIONS: Mapping[str, Schema] = {
    "string": {"type": ["string", "integer", "boolean", "null"]},
    "integer": {
        "anyOf": [{"type": ["number", "boolean", "null"]}, {"type": "string", "pattern": r"^\s*[-+]?[0-9_]+\s*$"}]
    },
    "number": {
        "anyOf": [
            {"type": ["number", "boolean", "null"]},
            {"type": "string", "pattern": r"^\s*[-+]?[0-9_.]+([eE][-+]?[0-9]+)?\s*$"},
        ]
    },
    "boolean": {
        "anyOf": [
            {"type": ["boolean", "null"]},
            {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"},
        ]
    },
    "list": {"type": ["array", "null"]},
    "map": {"type": ["object", "null"]},
}
"""The literal values that are converted to each type (see `stoker.schema.property`); a null means the default."""

_NAMES = {
    Type.STRING: "string",
    Type.INTEGER: "integer",
    Type.NUMBER: "number",
    Type.BOOLEAN: "boolean",
    Type.LIST: "list",
    Type.MAP: "map",
}
_PYTHON_ONLY = re.compile(r"\(\?(?![:=!]|<[=!])|\\[AZ]|\\x\{|\[\[|[*+?}]\+")
"""Syntax of Python's regular expressions that ECMA 262, which JSON Schema refers to, does not have."""


def reference(name: str) -> Schema:
    """Return a reference to a definition of the same schema."""
    return {"$ref": f"#/definitions/{name}"}


def of_map(properties: Mapping[str, Property]) -> Schema:
    """Return the schema of a map with these keys, such as the properties of a resource."""
    schema: Schema = {
        "type": ["object", "null"],
        "properties": {name: of_property(prop) for name, prop in properties.items()},
        "patternProperties": {LOOP: {"type": "array"}},
        "additionalProperties": False,
    }
    required = [name for name, prop in properties.items() if prop.required and not prop.replaces]
    if required:
        schema["required"] = required
    renamed = [[name, prop.replaces] for name, prop in properties.items() if prop.required and prop.replaces]
    if renamed:
        schema["allOf"] = [{"anyOf": [{"required": [name]} for name in names]} for names in renamed]
    return schema


def of_property(prop: Property) -> Schema:
    """Return the schema of one property's value, with its description."""
    schema = described(prop.description, prop.support)
    if prop.default is not None and not prop.secret:
        schema["default"] = prop.default
    if prop.type is Type.ANY:
        return schema
    if prop.type is Type.LIST or prop.schema is not None:
        return schema | unless_call(_literal(prop))
    return {**schema, "anyOf": [_literal(prop), reference(FUNCTION)]}


def unless_call(literal: Schema) -> Schema:
    """Return the schema of a collection or a call. Unlike with anyOf, errors are reported at the keys and items."""
    return {"if": reference(FUNCTION), "else": literal}


def described(description: str, support: Support) -> Schema:
    """Return the annotations by which editors explain a key; a hidden one is not suggested."""
    schema: Schema = {"description": description} if description else {}
    if support.status == "HIDDEN":
        schema["doNotSuggest"] = True
    if support.status in ("DEPRECATED", "HIDDEN", "UNSUPPORTED"):
        schema["deprecationMessage"] = support.message or support.status.capitalize()
    return schema


def _literal(prop: Property) -> Schema:
    schema: Schema = reference(_NAMES[prop.type])
    if prop.type is Type.MAP and prop.schema is not None:
        schema = of_map(prop.schema)
    elif prop.type is Type.LIST and (prop.items is not None or prop.strings):
        schema = {"type": ["array", "null"], "items": of_property(prop.items or Property())}
    limits = [limit for constraint in prop.constraints if (limit := _limit(constraint, prop))]
    return {"allOf": [schema, *limits]} if limits else schema


def _limit(constraint: Constraint, prop: Property) -> Schema:
    """Return the schema of a constraint; an empty one for a constraint that JSON Schema cannot express.

    Calls that omit list items and map keys make collections smaller than they are written, so that only lower bounds
    of their size hold for what is written.
    """
    match constraint:
        case AllowedValues(values=values):
            allowed = {"enum": _as_written(values, prop)}
            return {"items": {"anyOf": [allowed, reference(FUNCTION)]}} if prop.type is Type.LIST else allowed
        case Range(min=low, max=high):
            return _bounds("minimum", low, "maximum", high)
        case Length(min=low, max=high) if prop.type is Type.STRING:
            return _bounds("minLength", low, "maxLength", high)
        case Length(min=low) if prop.type in (Type.LIST, Type.MAP):
            return _bounds("minItems" if prop.type is Type.LIST else "minProperties", low)
        case AllowedPattern(pattern=pattern) if not _PYTHON_ONLY.search(pattern):
            return {"pattern": f"^(?:{pattern})$"}
    return {}


def _bounds(low_key: str, low: float | None, high_key: str = "", high: float | None = None) -> Schema:
    return {key: bound for key, bound in ((low_key, low), (high_key, high)) if bound is not None}


def _as_written(values: tuple[object, ...], prop: Property) -> list[object]:
    """Return what can be written for the allowed values: numbers also as strings, and null for the default."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    texts = [str(value) for value in numbers]
    if prop.type is Type.STRING:
        numbers += [int(value) for value in values if isinstance(value, str) and value.isdecimal()]
    return [*dict.fromkeys([*(value for value in values if value is not None), *texts, *numbers]), None]
