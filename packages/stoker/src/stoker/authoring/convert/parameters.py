"""Convert declarations of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from stoker.authoring.constraint_words import accepted, in_words
from stoker.schema.constraints import AllowedPattern, AllowedValues, Constraint, CustomConstraint, Length, Range
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BY_AWS_NAME, STRING

MAPPING_TAG = "mapping"
"""Tag of a HOT parameter that was converted from a mapping, so that it can be converted back."""

Note = Callable[[str], None]
"""Called with each part of a declaration that cannot be converted."""


def hot_parameter(schema: ParameterSchema, note: Note) -> dict[str, object]:
    """Return a declaration in HOT."""
    declared: dict[str, object] = {"type": schema.type.hot, **_common(schema, "description", "label", "default")}
    if schema.hidden:
        declared["hidden"] = True
    description = schema.constraint_description
    constraints = [{**item.to_schema(), **_described(item.description or description)} for item in schema.constraints]
    if schema.type.names:
        constraints.append({"custom_constraint": schema.type.names, **_described(description)})
    if constraints:
        declared["constraints"] = constraints
    return declared


def _described(text: str) -> dict[str, str]:
    return {"description": text} if text else {}


def _common(schema: ParameterSchema, *keys: str) -> dict[str, object]:
    values = (schema.description, schema.label, schema.default)
    return {key: value for key, value in zip(keys, values, strict=True) if value not in ("", None)} | (
        {keys[2]: ""} if schema.default == "" else {}
    )


def cfn_parameter(schema: ParameterSchema, note: Note) -> dict[str, object]:
    """Return a declaration for CloudFormation."""
    named = _aws_type(schema)
    declared: dict[str, object] = {
        "Type": named or schema.type.cfn,
        **_common(schema, "Description", "Label", "Default"),
    }
    if schema.hidden:
        declared["NoEcho"] = True
    if schema.immutable:
        note("parameters of CloudFormation cannot be immutable")
    if schema.tags:
        note("parameters of CloudFormation have no tags")
    for constraint in schema.constraints:
        if named and isinstance(constraint, CustomConstraint):
            continue
        keys = _cfn_constraint(constraint)
        if not keys or keys.keys() & declared.keys():
            rule = next(key for key in constraint.to_schema() if key != "description")
            limit = in_words(replace(constraint, description=""), str, accepted)
            note(f"CloudFormation has no equivalent of {rule}: {limit}" + (" as well" if keys else ""))
        else:
            declared |= keys
    descriptions = dict.fromkeys(item.description for item in schema.constraints)
    if len(descriptions) > 1:
        note("CloudFormation has one description for all constraints of a parameter")
    elif any(descriptions):
        declared["ConstraintDescription"] = next(iter(descriptions))
    return declared


def _aws_type(schema: ParameterSchema) -> str | None:
    """Return AWS's parameter type for the parameter's only custom constraint."""
    constraint_names = [item.name for item in schema.constraints if isinstance(item, CustomConstraint)]
    if len(constraint_names) != 1 or schema.type.hot != STRING.hot:
        return None
    return next(
        (kind.cfn for kind in BY_AWS_NAME.values() if kind.names == constraint_names[0] and kind.hot == STRING.hot),
        None,
    )


def _cfn_constraint(constraint: Constraint) -> Mapping[str, object]:
    """Return the equivalent keys; none if there are none."""
    match constraint:
        case Length(min=low, max=high):
            return _bounds("MinLength", low, "MaxLength", high)
        case Range(min=low, max=high):
            return _bounds("MinValue", low, "MaxValue", high)
        case AllowedValues(values=values):
            return {"AllowedValues": list(values)}
        case AllowedPattern(pattern=pattern):
            return {"AllowedPattern": pattern}
    return {}


def _bounds(low_key: str, low: object, high_key: str, high: object) -> dict[str, object]:
    return {key: value for key, value in ((low_key, low), (high_key, high)) if value is not None}
