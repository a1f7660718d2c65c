"""Template resources: each template file defines a resource type of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

from stoker.base.ids import arn
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ResourceType, Snapshot
from stoker.resources.base import value_at
from stoker.resources.heat.nested_stacks.nested import NestedStackResource, read_members
from stoker.template.nested import REFERENCE_OUTPUT, attributes_of, child_parameters, properties_of
from stoker.template.template import Template

_REFERENCE = "reference_id"


class TemplateResource(NestedStackResource):
    """A nested stack: properties become the template's parameters, and its outputs become the attributes."""

    template: ClassVar[Template]
    missing_attribute_is_null = True

    def child_of(self, properties: Mapping[str, object]) -> ChildRequest:
        return ChildRequest(self.template.data, self.type_name, child_parameters(properties))

    async def create(self, call: Call) -> Outcome:
        return await self._made(call, await call.engine.child.run("CREATE", self.child_of(call.properties)))

    async def update(self, call: Call) -> Outcome:
        return await self._made(call, await call.engine.child.run("UPDATE", self.child_of(call.properties)))

    async def adopt(self, call: Call) -> Outcome:
        return await self._made(call, await super().adopt(call))

    async def _made(self, call: Call, outcome: Outcome) -> Outcome:
        """Record the reference ID of a complete child, since it may come from an output."""
        if isinstance(outcome, Done):
            reference = None
            if REFERENCE_OUTPUT in self.template.outputs:
                reference = (await call.engine.child.outputs()).get(REFERENCE_OUTPUT)
            if reference is None:
                child = outcome.physical_id or call.physical_id or ""
                reference = arn(call.stack.project_id, call.physical_name, child)
            call.data[_REFERENCE] = reference
        return outcome

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get(_REFERENCE, resource.name)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        found = await read_members(call, keys)
        if all(key in found for key in keys):
            return found
        outputs = await call.engine.child.outputs()
        return {key: found[key] if key in found else value_at(outputs.get(str(key[0])), key[1:]) for key in keys}


def template_type(template: Template, name: str) -> ResourceType:
    """Return the resource type of a template; `name` is the template's file name or URL.

    No property is required: whether a parameter needs a value also depends on the environment's defaults, which the
    type, shared by all stacks, cannot know. The nested stack's own validation reports missing values.
    """
    optional = {key: replace(prop, required=False) for key, prop in properties_of(template).items()}
    kind = type(
        "TemplateResource",
        (TemplateResource,),
        {
            "type_name": name,
            "template": template,
            "description": template.description,
            "properties": optional,
            "attributes": attributes_of(template),
        },
    )
    made: ResourceType = kind()
    return made
