"""Compares what a type declares with the recorded schema of the type of the same name in Heat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import schema_of
from stoker.schema.property import Attribute, Change, Property, Support

FOLDER = Path(__file__).parent / "facts"


def facts(service: str) -> dict[str, Any]:
    """The recorded types of `OS::<service>::*` (lower case), or of `aws`."""
    types: dict[str, Any] = json.loads((FOLDER / f"{service}.json").read_text())
    return types


def differences(kind: ResourceType, fact: Mapping[str, Any]) -> list[str]:
    """Everything in which a declaration differs from the record, one line each."""
    found = list(_properties(kind.properties, fact["properties"], "properties"))
    found += _properties(kind.update_policy, fact.get("update_policy", {}), "update_policy")
    found += _attributes(kind.attributes, fact["attributes"])
    found += _values("support", _support(kind.support), fact["support"])
    found += _values("service", kind.service, fact.get("client", kind.service))
    found += _values("extension", kind.extension, fact.get("extension"))
    found += _values("physical_name_limit", kind.physical_name_limit, fact.get("physical_name_limit", 255))
    found += _values("snapshot_on_delete", kind.snapshot_on_delete, fact.get("snapshot_deletion_policy", False))
    return found + list(_translations(kind, fact.get("translations", [])))


def _values(where: str, declared: Any, recorded: Any) -> Iterator[str]:
    if declared != recorded or type(declared) is not type(recorded):
        yield f"{where}: declared {declared!r}, recorded {recorded!r}"


def _properties(declared: Mapping[str, Property], recorded: Mapping[str, Any], where: str) -> Iterator[str]:
    yield from _values(f"{where}, names", sorted(declared), sorted(recorded))
    for name in declared.keys() & recorded.keys():
        yield from _property(declared[name], recorded[name], f"{where}.{name}")


def _property(declared: Property, recorded: Mapping[str, Any], where: str) -> Iterator[str]:
    yield from _values(f"{where}.type", str(declared.type.value), recorded["type"])
    yield from _values(f"{where}.required", declared.required, recorded.get("required", False))
    yield from _values(f"{where}.default", declared.default, recorded.get("default"))
    yield from _values(f"{where}.implemented", declared.implemented, recorded.get("implemented", True))
    yield from _values(
        f"{where}.update_allowed", declared.change is Change.UPDATE, recorded.get("update_allowed", False)
    )
    yield from _values(f"{where}.immutable", declared.change is Change.REFUSE, recorded.get("immutable", False))
    constraints = [_without_description(constraint) for constraint in schema_of(declared.constraints)]
    yield from _values(f"{where}.constraints", constraints, recorded.get("constraints", []))
    yield from _values(f"{where}.support", _support(declared.support), recorded.get("support", {"status": "SUPPORTED"}))
    if "schema" in recorded or declared.schema is not None:
        yield from _properties(declared.schema or {}, recorded.get("schema", {}), where)
    yield from _values(f"{where}.items", declared.items is not None, "items" in recorded)
    if "items" in recorded and declared.items is not None:
        yield from _property(declared.items, recorded["items"], f"{where}[]")


def _attributes(declared: Mapping[str, Attribute], recorded: Mapping[str, Any]) -> Iterator[str]:
    yield from _values("attributes, names", sorted(declared), sorted(recorded))
    for name in declared.keys() & recorded.keys():
        kind = declared[name].type
        yield from _values(f"attributes.{name}.type", kind.value if kind else None, recorded[name].get("type"))
        support = recorded[name].get("support", {"status": "SUPPORTED"})
        yield from _values(f"attributes.{name}.support", _support(declared[name].support), support)
        yield from _values(
            f"attributes.{name}.live", declared[name].live, recorded[name].get("cache_mode") == "cache_none"
        )


def _support(support: Support) -> dict[str, Any]:
    entry: dict[str, Any] = {"status": support.status}
    if support.version is not None:
        entry["version"] = support.version
    if support.substitutes:
        entry["substitute_types"] = list(support.substitutes)
    if support.previous is not None:
        entry["previous"] = _support(support.previous)
    return entry


def _without_description(constraint: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in constraint.items() if key != "description"}


def _translations(kind: ResourceType, recorded: list[Mapping[str, Any]]) -> Iterator[str]:
    for rule in recorded:
        if rule["path"].partition(".")[0] not in kind.properties:
            continue  # Heat has rules for properties that a type has not got (ProviderNet's qos_policy)
        declared = _at(kind.properties, rule["path"].split("."))
        if rule["op"] == "resolve" and not rule["entity"].startswith("$"):
            expected = f"{rule['service']}.{rule['entity']}"
            yield from _values(f"{rule['path']}.resolve", declared.resolve if declared else None, expected)
        if rule["op"] == "replace" and "from_sub_path" not in rule:
            expected = rule.get("from_path", rule.get("from_sibling", "")).rpartition(".")[2]
            yield from _values(f"{rule['path']}.replaces", declared.replaces if declared else None, expected)


def _at(schema: Mapping[str, Property], path: list[str]) -> Property | None:
    declared = schema.get(path[0])
    if declared is None or len(path) == 1:
        return declared
    inner = declared.items if declared.items is not None else declared
    return _at(inner.schema or {}, path[1:])
