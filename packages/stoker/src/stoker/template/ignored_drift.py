"""The paths of properties whose differences from the cloud a template ignores: the resource key `ignore_drift`.

A path is a property, `metadata`, or a key below it, `metadata.owner`; a key that is no plain word is quoted as in
plans: `metadata["a.b"]`. Lists are ignored as wholes, since the order in which services list means nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from stoker.plugins.live_values import live_values
from stoker.plugins.resource import ResourceType
from stoker.schema.live import LiveSource
from stoker.schema.property import Property, Type
from stoker.template.problems import suggestion

PropertyPath = tuple[str, ...]
"""A property, and keys below it."""

_PART = re.compile(r'(?:^|(?<=.)\.)(?P<word>[^.\[\]"\s]+)|(?<=.)\[(?P<quoted>"(?:[^"\\]|\\.)*")\]')


def property_path(text: str) -> PropertyPath:
    """Return the parts of a path as templates write it. Raises ValueError."""
    parts: list[str] = []
    end = 0
    while end < len(text) or not parts:
        found = _PART.match(text, end)
        if found is None:
            raise ValueError(f"{text!r} is not a path of a property, such as metadata.owner")
        parts.append(found["word"] or str(json.loads(found["quoted"])))
        end = found.end()
    return tuple(parts)


def path_problem(kind: ResourceType, path: PropertyPath) -> tuple[str, str] | None:
    """Return why a type has no live value at a path that could be ignored, and a hint; None if it has one."""
    name, *keys = path
    if kind.any_properties:
        return None
    if name not in kind.properties:
        return f"the type {kind.type_name} has no property {name!r}", suggestion(name, kind.properties)
    live = live_values(kind).get(name)
    if live is None or live.how is LiveSource.MANAGED or type(kind).observe is ResourceType.observe:
        reason = live.reason if live is not None and live.reason else "the resource type does not compare it"
        return f"{name!r} is not compared with the cloud: {reason}", "remove the path; it has no effect"
    return _inside(kind.properties[name], name, keys)


def _inside(prop: Property, above: str, keys: list[str]) -> tuple[str, str] | None:
    if not keys or prop.type is Type.ANY:
        return None
    if prop.type is not Type.MAP:
        return f"{above!r} is no map, and has no part {keys[0]!r}", f"ignore {above} as a whole"
    if prop.schema is None:
        return None
    if keys[0] not in prop.schema:
        return f"{above!r} has no key {keys[0]!r}", suggestion(keys[0], prop.schema)
    return _inside(prop.schema[keys[0]], f"{above}.{keys[0]}", keys[1:])


def current_names(properties: Mapping[str, Property], path: PropertyPath) -> PropertyPath:
    """Return a path with the name of the property that replaces its property, if one does."""
    newer = {prop.replaces: name for name, prop in properties.items() if prop.replaces}
    return (newer.get(path[0], path[0]), *path[1:])
