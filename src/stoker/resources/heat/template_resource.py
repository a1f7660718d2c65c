"""Resources that are templates: each template file makes a type of its own (facts: engine.yaml, template_resources)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from stoker.base.ids import arn
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ResourceType, Snapshot
from stoker.resources.base import dig
from stoker.resources.heat.nested import NestedStackResource, read_members
from stoker.template.nested import REFERENCE_OUTPUT, attributes_of, child_parameters, properties_of
from stoker.template.template import Template

_REFERENCE = "reference_id"


class TemplateResource(NestedStackResource):
    """A nested stack: properties become the template's parameters, its outputs are the attributes."""

    template: ClassVar[Template]

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest:
        return ChildRequest(self.template.data, self.type_name, child_parameters(properties))

    async def create(self, call: Call) -> Outcome:
        return await self._made(call, await call.child.run("CREATE", self.child_of(call.properties)))

    async def update(self, call: Call) -> Outcome:
        return await self._made(call, await call.child.run("UPDATE", self.child_of(call.properties)))

    async def adopt(self, call: Call) -> Outcome:
        return await self._made(call, await super().adopt(call))

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


def template_type(template: Template, name: str) -> ResourceType:
    """The type of the resources that are made from a template; `name` is the template's file name or URL.

    No property is required: whether a parameter needs a value also depends on the environment's defaults, which one
    type for all stacks cannot know, so the nested stack's own check says what is missing.
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
