"""Reference of resource types and template functions as plain data, from their declarations. Needs no server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from inspect import cleandoc

from stoker.authoring.constraint_words import rules
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.template.functions.registered import functions
from stoker.template.versions import VERSIONS, Version

CHANGES = {Change.UPDATE: "update", Change.REPLACE: "replacement", Change.REFUSE: "refused"}
"""The effect of a changed value, in a word."""

_HIDDEN = "HIDDEN"


# -- resource types ----------------------------------------------------------------------------------------------


def matching_types(registry: Registry, pattern: str) -> list[str]:
    """Return the names that contain `pattern`, whatever its case, without hidden types; all names for an empty one."""
    matching = sorted(name for name in registry.types if pattern.lower() in name.lower())
    return [name for name in matching if registry.types[name].support.status != _HIDDEN]


def exact_type(registry: Registry, name: str) -> str | None:
    """Return the name of the type with this name, whatever its case; None if there is none."""
    return next((known for known in registry.types if known.lower() == name.lower()), None)


def type_summaries(registry: Registry, names: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield the name, the service and the description of types."""
    for name in names:
        kind = registry.types[name]
        yield {"type": name, "service": kind.service, "description": _sentence(kind.description)}


def type_details(name: str, kind: ResourceType) -> dict[str, object]:
    """Return the declarations of a type: its properties at any depth, and its attributes."""
    return {
        "type": name,
        "description": _sentence(kind.description),
        "service": kind.service,
        "for_administrators": kind.for_administrators,
        "any_properties": kind.any_properties,
        **_support(kind.support),
        "properties": _properties(kind.properties),
        "update_policy": _properties(kind.update_policy),
        "attributes": {
            attribute: _attribute(declared)
            for attribute, declared in kind.attributes.items()
            if declared.support.status != _HIDDEN
        },
    }


def _support(support: Support) -> dict[str, object]:
    return {"status": support.status, "since": support.version, "status_message": support.message}


def _properties(schema: Mapping[str, Property], change: Change | None = None) -> dict[str, object]:
    """Return properties by name; the property of the resource decides the effect of a change inside it."""
    return {
        name: _property(prop, change or prop.change)
        for name, prop in schema.items()
        if prop.support.status != _HIDDEN and prop.implemented
    }


def _property(prop: Property, change: Change) -> dict[str, object]:
    inner = prop.items if prop.items is not None else prop
    return {
        "type": _type_name(prop),
        "required": prop.required,
        "default": None if prop.secret else prop.default,
        "change": CHANGES[change],
        "description": _sentence(prop.description),
        "constraints": list(rules(prop)),
        **_support(prop.support),
        "properties": _properties(inner.schema, change) if inner.schema is not None else {},
    }


def _type_name(prop: Property) -> str:
    if prop.type is Type.LIST and prop.items is not None:
        return f"list of {str(prop.items.type).lower()}s"
    return str(prop.type).lower()


def _attribute(attribute: Attribute) -> dict[str, object]:
    return {
        "type": str(attribute.type).lower() if attribute.type else "any",
        "description": _sentence(attribute.description),
        **_support(attribute.support),
    }


# -- functions ---------------------------------------------------------------------------------------------------


def function_names() -> list[str]:
    """Return the names of all functions, those for conditions included, sorted whatever their case."""
    tables = (table for version in VERSIONS for table in _tables(version).values())
    return sorted({name for table in tables for name in table}, key=str.lower)


def function_details(name: str) -> list[dict[str, object]]:
    """Return the variants of a function, oldest first: what each does, and where templates can use it."""
    uses: dict[str, dict[str, list[str]]] = {}
    for version in VERSIONS:
        for place, table in _tables(version).items():
            if name in table:
                uses.setdefault(table[name], {}).setdefault(place, []).append(_label(version))
    return [
        {"function": name, "description": _paragraphs(functions()[variant]), "versions": uses[variant]}
        for variant in sorted(uses)
    ]


def _tables(version: Version) -> dict[str, Mapping[str, str]]:
    """Return the functions of a format by the place where they can be used."""
    return {
        "values": {**version.functions, **version.extended_functions},
        "conditions": {**version.condition_functions, **version.extended_condition_functions},
        "rules": version.rule_functions,
    }


def _label(version: Version) -> str:
    return version.value if version.dialect.name == "hot" else f"{version.key} {version.value}"


def _paragraphs(function: type) -> str:
    paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def type_example(name: str, kind: ResourceType) -> str:
    """Return a template with a resource of a type and what it needs; of a plug-in, with its required properties."""
    examples: Mapping[str, str] = json.loads(
        files("stoker.authoring").joinpath("type_examples.json").read_text("utf-8")
    )
    if name in examples:
        return examples[name]
    lines = ["heat_template_version: 2021-04-16", "resources:", "  example:", f"    type: {name}"]
    required = [(key, prop) for key, prop in kind.properties.items() if prop.required]
    lines += ["    properties:"] if required else []
    lines += [f"      {key}: # {prop.type.value.lower()}: {prop.description}" for key, prop in required]
    return "\n".join(lines) + "\n"
