"""The response of the Orchestration API's template validation (`POST /validate`) for a valid template.

The API reference describes its keys: https://docs.openstack.org/api-ref/orchestration/v1/#validate-template
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.base.redaction import REDACTED
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from stoker.schema.unknown import has_unknown
from stoker.template.definition import Definition
from stoker.template.parameter import ParameterSchema
from stoker.template.registry import is_template_name


def describe_parameters(definition: Definition) -> dict[str, object]:
    """Return the template's description, its parameters with given values, and its parameter groups if it has any.

    Hidden values of the operator's environment are redacted.
    """
    template = definition.template
    parameters = {name: value for name, value in definition.parameters.stored().items() if not has_unknown(value)}
    defaults, hidden = definition.environment.parameter_defaults, definition.parameters.hidden
    own = definition.environment.to_data()["parameter_defaults"]
    defaults = {name: REDACTED if name in hidden - own.keys() else value for name, value in defaults.items()}
    answer: dict[str, object] = {
        "Description": template.description,
        "Parameters": {
            name: _described(schema, parameters.get(name), defaults.get(name))
            for name, schema in template.parameters.items()
        },
    }
    if template.parameter_groups:
        answer["ParameterGroups"] = list(template.parameter_groups)
    return answer


def describe_environment(definition: Definition) -> dict[str, object]:
    """Return the effective environment, in which templates that are used as types are mapped to themselves."""
    data, redacted = definition.environment.to_data(), definition.parameters.redacted
    named = {resource.type for resource in definition.resources.values()}
    templates = {name: name for name in sorted(named) if is_template_name(name)}
    return {
        "parameters": redacted(data["parameters"]),
        "parameter_defaults": redacted(data["parameter_defaults"]),
        "resource_registry": {"resources": {}, **templates, **data["resource_registry"]},
        "event_sinks": data["event_sinks"],
    }


def _described(schema: ParameterSchema, value: object, default: object) -> dict[str, Any]:
    """Describe one parameter; `default` is that of the environment, which overrides the template's. A hidden one's
    default is included: it is in the inputs that the client sent.
    """
    default = schema.default if default is None else default
    described: dict[str, object] = {
        "Type": schema.type.cfn,
        "Description": schema.description,
        "NoEcho": "true" if schema.hidden else "false",
        "Label": schema.label or schema.name,
    }
    if default is not None:
        described["Default"] = default
    if value is not None:
        described["Value"] = REDACTED if schema.hidden else value
    if schema.tags:
        described["Tags"] = list(schema.tags)
    for constraint in schema.constraints:
        described.update(_constraint(constraint))
    descriptions = [constraint.description for constraint in schema.constraints if constraint.description]
    if descriptions:
        described["ConstraintDescription"] = " ".join(dict.fromkeys(descriptions))
    return described


def _constraint(constraint: Constraint) -> Mapping[str, object]:
    match constraint:
        case Length(min=low, max=high):
            return _present(MinLength=low, MaxLength=high)
        case Range(min=low, max=high):
            return _present(MinValue=low, MaxValue=high)
        case Modulo(step=step, offset=offset):
            return {"Step": step, "Offset": offset}
        case AllowedValues(values=values):
            return {"AllowedValues": list(values)}
        case AllowedPattern(pattern=pattern):
            return {"AllowedPattern": pattern}
        case CustomConstraint(name=name):
            return {"CustomConstraint": name}
        case _:
            return {}


def _present(**bounds: object) -> dict[str, object]:
    return {name: bound for name, bound in bounds.items() if bound is not None}
