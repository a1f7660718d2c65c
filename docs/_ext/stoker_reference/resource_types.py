"""Generate a page for each resource type, the list of types, and the table of how types recover after a crash.

The examples are the first cases of `tests/simulation/cases.py`, which tests deploy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from stoker.api.policies import ADMIN_ROLE, RULE_SETS
from stoker.plugins.recovery import OWN_RECORD, FoundBy, Recovery
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import Constraint
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker_reference.markdown import code, page, section, sentence, table
from tests.simulation.cases import creating, example, local

_RULES_FOR_ADMINISTRATORS = tuple(
    name
    for rules in RULE_SETS
    if rules.check == ADMIN_ROLE
    for name in rules.names
    if name.startswith("resource_types:")
)

CHANGES = {Change.UPDATE: "updates", Change.REPLACE: "replaces", Change.REFUSE: "is refused"}


def pages() -> Iterator[tuple[str, str]]:
    """Yield `(path, content)` of all pages, for the types that the installed packages provide."""
    types = visible(Registry.from_entry_points())
    yield "types/index.md", _index(types)
    yield "recovery.md", _recovery(types)
    cases = {**creating(), **local()}
    for name, kind in types.items():
        yield f"types/{file_name(name)}.md", _page(name, kind, example(name, cases[name]) if name in cases else "")


def visible(registry: Registry) -> dict[str, ResourceType]:
    """Return the types that templates can use, sorted by name."""
    return {name: kind for name, kind in sorted(registry.types().items()) if kind.support.status != "HIDDEN"}


def file_name(type_name: str) -> str:
    """Return a file name: `os-neutron-net` for `OS::Neutron::Net`."""
    return type_name.lower().replace("::", "-")


def _index(types: Mapping[str, ResourceType]) -> str:
    rows = [
        (
            f"[{name}]({file_name(name)}.md)",
            code(kind.service) if kind.service else "none",
            "administrators" if kind.for_administrators else "all users",
            sentence(kind.description),
        )
        for name, kind in types.items()
    ]
    contents = "\n".join(file_name(name) for name in types)
    return page(
        "Resource types",
        f"The {len(types)} resource types of this version. A cloud offers those types whose service it has.",
        "By their default policies, services let only administrators create objects of the types that are for "
        "administrators.",
        table(("Type", "Service", "For", "Description"), rows),
        f"```{{toctree}}\n:hidden:\n\n{contents}\n```",
    )


def _recovery(types: Mapping[str, ResourceType]) -> str:
    """Return the table that the page about recovery includes; types with the same method share a row."""
    ways: dict[Recovery, list[str]] = {}
    for name, kind in types.items():
        link = f"[{name}](/generated/types/{file_name(name)}.md)"
        ways.setdefault(way_of(kind), []).append(link)
        if kind.copy is not None:
            ways.setdefault(way_of(kind.copy), []).append(f"copies of {link}")
    order = list(FoundBy)
    rows = [
        (way.by.value, sentence(way.why), ", ".join(names))
        for way, names in sorted(ways.items(), key=lambda item: (order.index(item[0].by), -len(item[1])))
    ]
    return table(("Found by", "Why nothing is created twice or left behind", "Types"), rows)


def way_of(kind: ResourceType) -> Recovery:
    """Return how a type finds the object of an interrupted creation."""
    way = OWN_RECORD if kind.local else kind.recovery
    assert way is not None, f"{kind} does not declare how it recovers; the registry refuses such a type"
    return way


def _page(name: str, kind: ResourceType, shown: str) -> str:
    return page(
        name,
        sentence(kind.description),
        "\n".join(f"- {fact}" for fact in _facts(kind)),
        section("Example", f"```yaml\n{shown}```" if shown else ""),
        section("Properties", _properties(kind)),
        section("Update policy", _property_table(kind.update_policy)),
        section("Attributes", _attributes(kind.attributes)),
        section("After a crash", _after_crash(kind)),
    )


def _facts(kind: ResourceType) -> Iterator[str]:
    if kind.service:
        extension = f", with its extension {code(kind.extension)}" if kind.extension else ""
        yield f"Needs the service {code(kind.service)}{extension}."
    if kind.for_administrators:
        yield "Is for administrators: by its default policies, the service lets nobody else create objects of this type."
    for rule in _RULES_FOR_ADMINISTRATORS:
        if fnmatchcase(f"resource_types:{kind.type_name}", rule):
            yield f"By default, the [policy rule](/generated/permissions.md) {code(rule)} refuses it to other users."
    yield from _support(kind.support)
    if kind.nested:
        yield "Is a nested stack."
    if kind.checkable:
        yield "Can be checked."
    if kind.signalable:
        yield "Receives signals."
    if kind.snapshot_on_delete:
        yield "Supports deletion with a snapshot (`deletion_policy: Snapshot`)."


def _support(support: Support) -> Iterator[str]:
    if support.status != "SUPPORTED":
        why = f": {sentence(support.message)}" if support.message else "."
        yield f"Is {support.status.lower()}{f' since {support.version}' if support.version else ''}{why}"
    elif support.version:
        yield f"Since {support.version}."


def _properties(kind: ResourceType) -> str:
    if kind.any_properties:
        return "Accepts any properties without validation."
    return _property_table(kind.properties)


def _property_table(schema: Mapping[str, Property]) -> str:
    rows = [
        (code(path), _kind(prop), CHANGES[change], " ".join(_notes(prop)))
        for path, prop, change in _flat(schema)
        if prop.support.status != "HIDDEN"
    ]
    return table(("Property", "Type", "A change", "Meaning"), rows) if rows else ""


def _flat(
    schema: Mapping[str, Property], above: str = "", inherited: Change | None = None
) -> Iterator[tuple[str, Property, Change]]:
    """Yield all properties at any depth with their paths; the top-level property decides the effect of a change."""
    for name, prop in schema.items():
        path, change = f"{above}{name}", inherited or prop.change
        yield path, prop, change
        inner, suffix = (prop.items, "[]") if prop.items is not None else (prop, "")
        if inner.schema is not None:
            yield from _flat(inner.schema, f"{path}{suffix}.", change)


def _kind(prop: Property) -> str:
    name = str(prop.type).lower()
    if prop.type is Type.LIST and prop.items is not None:
        name = f"list of {str(prop.items.type).lower()}s"
    return f"{name}, required" if prop.required else name


def _notes(prop: Property) -> Iterator[str]:
    if prop.description:
        yield sentence(prop.description)
    if not prop.implemented:
        yield "Not implemented: it is accepted for old templates and has no effect."
    if prop.default is not None:
        yield f"Default: {code(prop.default)}."
    inner = prop.items.constraints if prop.items is not None else ()
    yield from (f"{_constraint(constraint)}." for constraint in prop.constraints)
    yield from (f"Each: {_constraint(constraint)[0].lower()}{_constraint(constraint)[1:]}." for constraint in inner)
    if prop.replaces:
        yield f"Older name: {code(prop.replaces)}."
    yield from _support(prop.support)


def _constraint(constraint: Constraint) -> str:
    body = {key: value for key, value in constraint.to_schema().items() if key != "description"}
    rule, value = next(iter(body.items()))
    return _CONSTRAINTS[rule](value)


def _bounds(bounds: Mapping[str, Any]) -> str:
    least, most = bounds.get("min"), bounds.get("max")
    if least is None:
        return f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}"


_CONSTRAINTS = {
    "range": lambda value: f"Value {_bounds(value)}",
    "length": lambda value: f"Length {_bounds(value)}",
    "modulo": lambda value: f"Multiple of {value['step']}, offset {value['offset']}",
    "allowed_values": lambda value: "One of " + ", ".join(code(item) for item in value),
    "allowed_pattern": lambda value: f"Matches {code(value)}",
    "custom_constraint": lambda value: f"Checked by {code(value)}",
}


def _attributes(attributes: Mapping[str, Attribute]) -> str:
    shown = [(name, item) for name, item in attributes.items() if item.support.status != "HIDDEN"]
    rows = [
        (
            code(name),
            str(item.type).lower() if item.type else "any",
            " ".join((sentence(item.description), *_support(item.support))),
        )
        for name, item in shown
    ]
    return table(("Attribute", "Type", "Meaning"), rows) if rows else ""


def _after_crash(kind: ResourceType) -> str:
    way = way_of(kind)
    return f"Found by {way.by.value}. {sentence(way.why)}"
