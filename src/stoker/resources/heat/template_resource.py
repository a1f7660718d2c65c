"""Resources that are templates: each template file makes a type of its own (facts: engine.yaml, template_resources)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from stoker.base.ids import arn
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ResourceType, Snapshot
from stoker.resources.base import dig
from stoker.resources.heat.nested import NestedStackResource, read_members
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.schema.unknown import combine, has_unknown
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BOOLEAN, COMMA_DELIMITED_LIST, JSON, NUMBER, STRING, ParameterType
from stoker.template.template import Template

REFERENCE_OUTPUT = "OS::stack_id"
"""The output that, where a template has it, is the reference id of resources made from it."""

_REFERENCE = "reference_id"

# Lists come as lists or as texts with commas, and JSON as anything: the child's parameter decides what fits.
_PROPERTY_TYPES: Mapping[ParameterType, Type] = {
    STRING: Type.STRING,
    NUMBER: Type.NUMBER,
    BOOLEAN: Type.BOOLEAN,
    COMMA_DELIMITED_LIST: Type.ANY,
    JSON: Type.ANY,
}

_FACADE_TYPES: Mapping[Type, frozenset[ParameterType]] = {
    Type.STRING: frozenset({STRING}),
    Type.ANY: frozenset({STRING}),
    Type.INTEGER: frozenset({NUMBER}),
    Type.NUMBER: frozenset({NUMBER}),
    Type.BOOLEAN: frozenset({BOOLEAN}),
    Type.LIST: frozenset({COMMA_DELIMITED_LIST}),
    Type.MAP: frozenset({JSON}),
}


class TemplateResource(NestedStackResource):
    """A nested stack: properties become the template's parameters, its outputs are the attributes.

    No property is required or has a default of its own: whether a parameter needs a value also depends on the
    environment's defaults, so the nested stack's own check says what is missing.
    """

    template: ClassVar[Template]

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest:
        declared = self.template.parameters
        given = {
            name: to_parameter(declared[name], value)
            for name, value in properties.items()
            if value is not None and name in declared
        }
        return ChildRequest(self.template.data, self.type_name, given)

    async def create(self, call: Call) -> Outcome:
        return await self._made(call, await call.child.run("CREATE", self.child_of(call.properties)))

    async def update(self, call: Call) -> Outcome:
        return await self._made(call, await call.child.run("UPDATE", self.child_of(call.properties)))

    async def _made(self, call: Call, outcome: Outcome) -> Outcome:
        """Remember the reference id of a child that is complete, for it may come from an output."""
        if isinstance(outcome, Done):
            reference = None
            if REFERENCE_OUTPUT in self.template.outputs:
                reference = (await call.child.outputs()).get(REFERENCE_OUTPUT)
            if reference is None:
                child = outcome.physical_id or call.physical_id or ""
                reference = arn(call.stack.project_id, call.physical_name, child)
            call.data[_REFERENCE] = reference
        return outcome

    def reference_id(self, resource: Snapshot) -> Any:
        return resource.data.get(_REFERENCE, resource.name)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        found = await read_members(call, keys)
        if all(key in found for key in keys):
            return found
        outputs = await call.child.outputs()
        return {key: found[key] if key in found else dig(outputs.get(str(key[0])), key[1:]) for key in keys}

    def facade_problems(self, facade: ResourceType) -> Iterator[str]:
        """What keeps the template from standing in for the type `facade` that an environment maps to it."""
        declared = self.template.parameters
        for name, prop in facade.properties.items():
            schema = declared.get(name)
            if schema is None:
                if prop.required:
                    yield f"{facade.type_name} requires the property {name!r}, and the template has no such parameter"
            elif schema.type not in _FACADE_TYPES[prop.type]:
                yield f"the parameter {name!r} must be of the type {_expected(prop)}, as in {facade.type_name}"
        for name, schema in declared.items():
            if name not in facade.properties and schema.required:
                yield f"the parameter {name!r} requires a value, and {facade.type_name} has no such property"
        for name in facade.attributes:
            if name not in self.template.outputs:
                yield f"{facade.type_name} has the attribute {name!r}, and the template has no such output"


def template_type(template: Template, name: str) -> ResourceType:
    """The type of the resources that are made from a template; `name` is the template's file name or URL."""
    kind = type(
        "TemplateResource",
        (TemplateResource,),
        {
            "type_name": name,
            "template": template,
            "description": template.description,
            "properties": {key: _property(schema) for key, schema in template.parameters.items()},
            "attributes": {key: Attribute(output.description or "") for key, output in template.outputs.items()},
        },
    )
    made: ResourceType = kind()
    return made


def _property(schema: ParameterSchema) -> Property:
    return Property(_PROPERTY_TYPES[schema.type], schema.description, change=Change.UPDATE)


def _expected(prop: Property) -> str:
    return " or ".join(sorted(kind.hot for kind in _FACADE_TYPES[prop.type]))


def to_parameter(schema: ParameterSchema, value: Any) -> Any:
    """A property's value as the nested template's parameter gets it (facts: template_resources.parameter_mapping)."""
    if not isinstance(value, list):
        return value
    if has_unknown(value):
        return combine(value)
    if schema.type is JSON:
        return json.dumps(value)
    return ",".join(_items(value))


def _items(values: list[Any]) -> Iterator[str]:
    """List items as texts; maps one key at a time, as CloudFormation's queries spell them."""
    for index, value in enumerate(values):
        if isinstance(value, Mapping):
            yield from (f".member.{index}.{key}={inner}" for key, inner in value.items())
        else:
            yield "" if value is None else str(value)
