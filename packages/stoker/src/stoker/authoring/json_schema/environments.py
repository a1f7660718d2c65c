"""The JSON Schema of environments."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.authoring.json_schema.templates import DRAFT
from stoker.authoring.json_schema.values import Schema, reference
from stoker.plugins.registry import Registry
from stoker.template.environment import HOOKS, RESTRICTED_ACTIONS, STRATEGIES


def of_environment(registry: Registry) -> Schema:
    """Return the schema of environments, with the names of all resource types."""
    any_map: Schema = {"type": "object"}
    target: Schema = {"anyOf": [{"enum": sorted(registry.types)}, {"type": ["string", "null"]}]}
    return {
        "$schema": DRAFT,
        "title": "Environment of a stack",
        "type": "object",
        "properties": {
            "parameters": {**any_map, "description": "Values of the template's parameters, by name."},
            "parameter_defaults": {
                **any_map,
                "description": "Values of parameters of the template and of all nested templates, by name; each "
                "replaces the parameter's default where no value is given.",
            },
            "resource_registry": {
                "type": "object",
                "description": "What types stand for: another type, or a template. A name may end with *.",
                "properties": {
                    "base_url": {"type": "string", "description": "Where the relative names of templates begin."},
                    "resources": {
                        "type": "object",
                        "description": "Mappings, hooks and restricted actions for single resources, by name.",
                        "additionalProperties": reference("resource"),
                    },
                },
                "additionalProperties": target,
            },
            "parameter_merge_strategies": {
                "type": "object",
                "description": "How values of the same parameter in several environments are combined.",
                "additionalProperties": {"enum": sorted(STRATEGIES)},
            },
            "event_sinks": {
                "type": "array",
                "description": "Where events of the stack are sent.",
                "items": {"type": "object", "required": ["type"]},
            },
            "encrypted_param_names": {"type": "array", "items": {"type": "string"}},
            "imports": {
                "type": "array",
                "description": "Existing objects that belong to resources of the template from now on.",
                "items": {
                    "type": "object",
                    "properties": {
                        "to": _name("The name of the resource in the template."),
                        "id": _name("The ID of the object."),
                        "identity": {
                            "type": "object",
                            "description": "Fields by which its service lists the object: only one object may have "
                            "these values.",
                            "minProperties": 1,
                            "additionalProperties": {"type": ["string", "number", "boolean"]},
                        },
                    },
                    "required": ["to"],
                    "oneOf": [{"required": ["id"]}, {"required": ["identity"]}],
                    "additionalProperties": False,
                },
            },
            "moved": {
                "type": "array",
                "description": "Resources that have another path, or another stack, now; each keeps its object.",
                "items": {
                    "anyOf": [
                        _entry({"from": _name("The former name, or path: group.0."), "to": _name("The present one.")}),
                        _entry({"from": _location("it was in"), "to": _location("it is in now")}),
                    ]
                },
            },
            "removed": {
                "type": "array",
                "description": "Resources that are not in the template any more, and whose objects stay.",
                "items": _entry({"from": _name("The name of the resource."), "destroy": {"const": False}}),
            },
        },
        "additionalProperties": False,
        "definitions": {
            "resource": {
                "type": "object",
                "properties": {
                    "hooks": _choice(HOOKS, "Where operations on the resource wait for a signal."),
                    "restricted_actions": _choice(RESTRICTED_ACTIONS, "What updates must not do to the resource."),
                },
                "additionalProperties": {"anyOf": [target, reference("resource")]},
            }
        },
    }


def _location(which: str) -> Schema:
    return _entry({"stack": _name(f"The stack that {which}."), "resource": _name("Its name there.")})


def _entry(keys: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(keys), "required": list(keys), "additionalProperties": False}


def _name(description: str) -> Schema:
    return {"type": "string", "description": description}


def _choice(names: frozenset[str], description: str) -> Schema:
    choice: Schema = {"enum": sorted(names)}
    return {"description": description, "anyOf": [choice, {"type": "array", "items": choice}]}
