"""Which types create the objects that the properties of other types accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stoker.authoring.constraint_words import ACCEPTED
from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import CustomConstraint
from stoker.schema.property import Property


def walk(schema: Mapping[str, Property], above: str = "") -> Iterator[tuple[str, Property]]:
    """Yield all properties at any depth that the manual shows, with their paths (`networks[].port`)."""
    for name, prop in schema.items():
        if prop.support.status == "HIDDEN":
            continue
        yield f"{above}{name}", prop
        inner, suffix = inner_schema(prop)
        yield from walk(inner, f"{above}{name}{suffix}.")


def inner_schema(prop: Property) -> tuple[Mapping[str, Property], str]:
    """Return the properties inside a property, and `[]` if they are those of a list's items."""
    inner, suffix = (prop.items, "[]") if prop.items is not None else (prop, "")
    return inner.schema or {}, suffix


def constraints_named(prop: Property) -> Iterator[str]:
    """Yield the names of the custom constraints on a property or its items."""
    for each in (prop, *([prop.items] if prop.items is not None else [])):
        yield from (one.name for one in each.constraints if isinstance(one, CustomConstraint))


def users(types: Mapping[str, ResourceType]) -> dict[str, dict[str, list[str]]]:
    """Return for each type the types with properties that accept its resources, with the paths of these properties."""
    found: dict[str, dict[str, list[str]]] = {}
    for user, kind in types.items():
        for path, prop in walk(kind.properties):
            for constraint in constraints_named(prop):
                for used in ACCEPTED[constraint].types if constraint in ACCEPTED else ():
                    found.setdefault(used, {}).setdefault(user, []).append(path)
    return found
