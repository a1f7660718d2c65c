"""A template as a resource type: its parameters are the type's properties, its outputs the attributes.

The functions here build the schema of the type, and tell where to report the problems of nested stacks.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from stoker.base.diagnostics import Diagnostic
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.schema.unknown import Unknown, combine, has_unknown
from stoker.template.definition import Definition
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BOOLEAN, COMMA_DELIMITED_LIST, JSON, NUMBER, STRING, ParameterType
from stoker.template.problems import suggestion
from stoker.template.properties import key_path
from stoker.template.template import Template

REFERENCE_OUTPUT = "OS::stack_id"
"""The output whose value, if there is one, is the reference ID of a resource of the type."""

_PROPERTY_TYPES: Mapping[str, Type] = {
    STRING.hot: Type.STRING,
    NUMBER.hot: Type.NUMBER,
    COMMA_DELIMITED_LIST.hot: Type.LIST,
    JSON.hot: Type.MAP,
    BOOLEAN.hot: Type.BOOLEAN,
}
_PARAMETER_TYPES: Mapping[Type, ParameterType] = {
    Type.STRING: STRING,
    Type.ANY: STRING,
    Type.INTEGER: NUMBER,
    Type.NUMBER: NUMBER,
    Type.LIST: COMMA_DELIMITED_LIST,
    Type.MAP: JSON,
    Type.BOOLEAN: BOOLEAN,
}


def properties_of(template: Template, defaults: Mapping[str, object] | None = None) -> dict[str, Property]:
    """Return the type's properties; `defaults` are the environment's parameter defaults, which make one optional."""
    return {name: _property(schema, defaults or {}) for name, schema in template.parameters.items()}


def _property(schema: ParameterSchema, defaults: Mapping[str, object]) -> Property:
    return Property(
        type=_PROPERTY_TYPES[schema.type.hot],
        description=schema.description,
        required=schema.required and defaults.get(schema.name) is None,
        constraints=schema.constraints,
        change=Change.UPDATE,
        lenient=True,
        secret=schema.hidden,
    )


def attributes_of(template: Template) -> dict[str, Attribute]:
    """Return the attributes of the type."""
    return {key: Attribute(output.description) for key, output in template.outputs.items()}


def child_parameters(values: Mapping[str, object]) -> dict[str, object]:
    """Return property values as parameter values of the nested stack, without nulls."""
    return {name: _parameter_value(value) for name, value in values.items() if value is not None}


def _parameter_value(value: object) -> object:
    if not isinstance(value, list):
        return value
    if any(isinstance(item, Unknown) for item in value):
        return combine(value)
    if any(isinstance(item, Mapping) for item in value):
        return combine(value) if has_unknown(value) else ",".join(_members(value))
    return ",".join("" if item is None else str(item) for item in value)


def _members(items: Iterable[object]) -> Iterator[str]:
    """Yield the members of a list of maps as CloudFormation's query interface writes them."""
    for number, item in enumerate(items):
        if isinstance(item, Mapping):
            for key, value in item.items():
                yield f".member.{number}.{key}={value}"
        else:
            yield "" if item is None else str(item)


def facade_problems(template: Template, facade: ResourceType) -> Iterator[str]:
    """Yield the reasons why the template cannot replace the type `facade`, which an environment maps to it."""
    for name, prop in facade.properties.items():
        schema = template.parameters.get(name)
        if schema is None:
            if prop.required:
                yield f"the template has no parameter for the required property {name!r} of {facade.type_name}"
            continue
        expected = _PARAMETER_TYPES[prop.type]
        if schema.type.hot != expected.hot:
            yield f"the parameter {name!r} must be a {expected.hot}, as the property of {facade.type_name}"
    for name, schema in template.parameters.items():
        if schema.required and name not in facade.properties:
            hint = suggestion(name, facade.properties)
            yield f"the template requires {name!r}, which {facade.type_name} does not have; {hint}".rstrip("; ")
    for name in facade.attributes:
        if name != "show" and name not in template.outputs:
            yield f"the template has no output for the attribute {name!r} of {facade.type_name}"


def seen_from_parent(
    parent: Definition, resource: ResourceDefinition, found: Iterable[Diagnostic]
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Divide the problems of binding the nested stack of a resource: those of the parent, and those inside.

    A parameter without a value is a property that the resource of the parent lacks.
    """
    path, document = key_path(parent, resource, "properties"), parent.template.document
    own: list[Diagnostic] = []
    inner: list[Diagnostic] = []
    for item in found:
        if item.rule == "parameter-missing":
            message = f"property {str(item.path[-1])!r} is required"
            own.append(
                Diagnostic("required-property", message, path, document.source, document.locate(path), kind=item.kind)
            )
        else:
            inner.append(item)
    return own, inner


def inside(
    visible: Container[str], parent: Definition, resource: ResourceDefinition, diagnostic: Diagnostic
) -> Diagnostic:
    """Return a diagnostic about the nested stack of a resource. If its template is none of the `visible` files, it has
    the position of the resource.
    """
    if diagnostic.source in visible:
        return diagnostic
    document = parent.template.document
    place = (parent.template.written("resources"), resource.name)
    return replace(diagnostic, source=document.source, path=(*place, *diagnostic.path), position=document.locate(place))
