"""The JSON Schemas of templates: HOT and CloudFormation, each for all versions of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.authoring.json_schema.values import (
    DEFINITIONS,
    FUNCTION,
    LOOP,
    Schema,
    described,
    of_map,
    reference,
    unless_call,
)
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.template.functions.registered import functions
from stoker.template.versions import Version, by_name

DRAFT = "http://json-schema.org/draft-07/schema#"
_TEXT: Schema = {"type": ["string", "number", "boolean", "null"]}
_NAMES: Schema = {"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": {"type": "string"}}]}
_PATHS: Schema = {
    "type": ["array", "null"],
    "items": {"type": "string"},
    "description": "Paths of properties whose differences from the cloud are ignored: [tags, metadata.owner]",
}
_UNTAGGED: Schema = {"type": ["string", "array"]}


def of_hot(registry: Registry) -> Schema:
    """Return the schema of HOT templates, with the properties of all resource types."""
    versions = _versions("hot")
    return {
        "$schema": DRAFT,
        "title": "HOT template",
        "type": "object",
        "properties": _hot_sections(versions),
        "required": ["heat_template_version"],
        "additionalProperties": False,
        "definitions": {
            **DEFINITIONS,
            FUNCTION: _call(versions),
            "condition": _condition(versions),
            "resource": {**_hot_resource(registry, versions), "allOf": _by_type(registry, "type", "properties")},
            **_type_definitions(registry),
        },
    }


def _hot_sections(versions: list[Version]) -> dict[str, Schema]:
    return {
        "heat_template_version": _version_values("heat_template_version"),
        "description": _TEXT,
        "parameter_groups": _list_of(
            {
                "type": "object",
                "properties": {
                    "label": _TEXT,
                    "description": _TEXT,
                    "parameters": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["parameters"],
            }
        ),
        "parameters": _entries(_hot_parameter(versions)),
        "conditions": _entries(reference("condition")),
        "resources": _entries(reference("resource")),
        "outputs": _entries(
            _closed(
                {"description": {}, "value": {}, "condition": reference("condition")},
                versions,
                "output_keys",
                ["value"],
            )
        ),
    }


def _hot_resource(registry: Registry, versions: list[Version]) -> Schema:
    return _closed(
        {
            "type": _type_name(registry),
            "properties": {"type": "object"},
            "metadata": {"type": ["object", "null"]},
            "depends_on": _NAMES,
            "deletion_policy": _one_of(_policies(versions)),
            "update_policy": {"type": ["object", "null"]},
            "description": _TEXT,
            "external_id": {"anyOf": [reference("string"), reference(FUNCTION)]},
            "condition": reference("condition"),
            "ignore_drift": _PATHS,
        },
        versions,
        "resource_keys",
        ["type"],
    )


def of_cfn(registry: Registry, short_tags: bool = False) -> Schema:
    """Return the schema of CloudFormation templates, with the properties of all resource types.

    `short_tags` is for editors that take a value with a short tag, such as `!Ref name`, for what follows the tag: any
    string and any list is then accepted in place of a value.
    """
    versions = _versions("cfn")
    call = _call(versions)
    return {
        "$schema": DRAFT,
        "title": "CloudFormation template",
        "type": "object",
        "properties": _cfn_sections(versions),
        "anyOf": [{"required": [key]} for key in (*(version.key for version in versions), "Resources")],
        "additionalProperties": False,
        "definitions": {
            **DEFINITIONS,
            FUNCTION: {"anyOf": [call, _UNTAGGED]} if short_tags else call,
            "condition": _condition(versions),
            "resource": {**_cfn_resource(registry, versions), "allOf": _by_type(registry, "Type", "Properties")},
            **_type_definitions(registry),
        },
    }


def _cfn_sections(versions: list[Version]) -> dict[str, Schema]:
    sections: dict[str, Schema] = {name: {} for version in versions for name in sorted(version.sections)}
    sections |= {version.key: _version_values(version.key) for version in versions}
    sections |= {
        "Description": _TEXT,
        "Parameters": _entries(_cfn_parameter(versions)),
        "Mappings": _entries({"type": "object"}),
        "Conditions": _entries(reference("condition")),
        "Resources": _entries(reference("resource")),
        "Outputs": _entries(
            {
                "type": "object",
                "properties": {
                    "Description": {},
                    "Value": {},
                    "Condition": reference("condition"),
                    "Export": {"type": "object", "properties": {"Name": {}}, "required": ["Name"]},
                },
                "required": ["Value"],
            }
        ),
    }
    return sections


def _cfn_resource(registry: Registry, versions: list[Version]) -> Schema:
    replaces = list(dict.fromkeys(name for version in versions for name in version.replace_policies))
    return {
        "type": "object",
        "properties": {
            "Type": _type_name(registry),
            "Properties": {"type": "object"},
            "Metadata": {"type": ["object", "null"]},
            "DependsOn": _NAMES,
            "DeletionPolicy": _one_of(_policies(versions)),
            "UpdateReplacePolicy": _one_of(replaces),
            "UpdatePolicy": {"type": ["object", "null"]},
            "CreationPolicy": {"type": ["object", "null"]},
            "Description": _TEXT,
            "Condition": reference("condition"),
            "IgnoreDrift": _PATHS,
        },
        "required": ["Type"],
    }


def _versions(dialect: str) -> list[Version]:
    """Return the versions of a dialect with the functions of their transforms, newest last."""
    return list(
        {version.name: version.extended for version in by_name().values() if version.dialect.name == dialect}.values()
    )


def _version_values(key: str) -> Schema:
    return {"enum": [value for name, value in by_name() if name == key]}


def _one_of(names: list[str]) -> Schema:
    return {"anyOf": [{"enum": [*names, None]}, reference(FUNCTION)]}


def _policies(versions: Iterable[Version]) -> list[str]:
    return list(dict.fromkeys(name for version in versions for name in version.deletion_policies))


def _list_of(item: Schema) -> Schema:
    return {"type": ["array", "null"], "items": item}


def _entries(entry: Schema) -> Schema:
    """Return the schema of a section: entries by name, and loops."""
    return {"type": ["object", "null"], "patternProperties": {LOOP: {"type": "array"}}, "additionalProperties": entry}


def _closed(keys: Mapping[str, Schema], versions: Iterable[Version], known: str, required: list[str]) -> Schema:
    """Return the schema of a map with these keys and those that plug-ins' versions add."""
    added: dict[str, Schema] = {name: {} for version in versions for name in sorted(getattr(version, known))}
    return {"type": "object", "properties": {**added, **keys}, "required": required, "additionalProperties": False}


def _call(versions: Iterable[Version]) -> Schema:
    """Return the schema of a call: a map whose only key is the name of a function."""
    called = {name: variant for version in versions for name, variant in version.functions.items()}
    return {
        "type": "object",
        "properties": {name: _function(called[name]) for name in sorted(called)},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _function(variant: str) -> Schema:
    return {"description": " ".join((functions()[variant].__doc__ or "").split())}


def _condition(versions: Iterable[Version]) -> Schema:
    called = {name: variant for version in versions for name, variant in version.condition_functions.items()}
    return {
        "anyOf": [
            {"type": ["boolean", "string", "null", "array"]},  # a list is a function with a short tag
            {
                "type": "object",
                "properties": {name: _function(called[name]) for name in sorted(called)},
                "additionalProperties": False,
                "maxProperties": 1,
            },
        ]
    }


# -- parameters --------------------------------------------------------------------------------------------------


def _parameter_types(versions: Iterable[Version]) -> Schema:
    return {"enum": list(dict.fromkeys(name for version in versions for name in version.parameter_types))}


def _hot_parameter(versions: list[Version]) -> Schema:
    bounds = {"anyOf": [reference("number"), {"type": "null"}]}
    kinds: dict[str, Schema] = {
        "length": _exact({"min": bounds, "max": bounds}),
        "range": _exact({"min": bounds, "max": bounds}),
        "modulo": {**_exact({"step": bounds, "offset": bounds}), "required": ["step", "offset"]},
        "allowed_values": {"type": "array"},
        "allowed_pattern": {"type": "string"},
        "custom_constraint": {"type": "string"},
    }
    constraint = {
        **_exact({**kinds, "description": _TEXT}),
        "anyOf": [{"required": [kind]} for kind in kinds],
    }
    return _closed(
        {
            "type": _parameter_types(versions),
            "label": _TEXT,
            "description": _TEXT,
            "default": {},
            "hidden": {},
            "constraints": _list_of(constraint),
            "immutable": {},
            "tags": _list_of({"type": "string"}),
        },
        versions,
        "parameter_keys",
        ["type"],
    )


def _exact(properties: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _cfn_parameter(versions: list[Version]) -> Schema:
    number = reference("number")
    return _closed(
        {
            "Type": _parameter_types(versions),
            "Description": _TEXT,
            "AllowedValues": {"type": "array"},
            "AllowedPattern": {"type": "string"},
            "NoEcho": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
            **dict.fromkeys(("MinLength", "MaxLength", "MinValue", "MaxValue"), number),
        },
        versions,
        "parameter_keys",
        ["Type"],
    )


# -- resource types ----------------------------------------------------------------------------------------------


def _type_name(registry: Registry) -> Schema:
    """Return the schema of a type: a known one, a template, or a name that an environment defines."""
    kinds = registry.types
    return {
        "anyOf": [
            {"enum": [name for name in sorted(kinds) if kinds[name].support.status != "HIDDEN"]},
            {"type": "string"},
        ]
    }


def _by_type(registry: Registry, type_key: str, properties_key: str) -> list[Schema]:
    return [
        {
            "if": {"properties": {type_key: {"const": name}}, "required": [type_key]},
            "then": _resource_of(kind, name, properties_key),
        }
        for name, kind in sorted(registry.types.items())
        if not kind.any_properties
    ]


def _resource_of(kind: ResourceType, name: str, properties_key: str) -> Schema:
    then: Schema = {"properties": {properties_key: unless_call(reference(name))}}
    external = {"required": ["external_id"]}
    if any(prop.required and not prop.replaces for prop in kind.properties.values()):
        then["anyOf"] = [{"required": [properties_key]}, external]
    return then


def _type_definitions(registry: Registry) -> dict[str, Schema]:
    return {
        name: {**of_map(kind.properties), **described(kind.description, kind.support)}
        for name, kind in sorted(registry.types.items())
        if not kind.any_properties
    }
