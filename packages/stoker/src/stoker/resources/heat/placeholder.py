"""Resource types that accept any properties and do nothing."""

from __future__ import annotations

from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.schema.property import Support


class Placeholder(ResourceType):
    """A resource without an object: every attribute is null, and the physical ID is the resource's own ID."""

    local = True
    any_properties = True
    any_attribute = True
    ignores_properties = True

    async def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.resource.uuid)


class NoResource(Placeholder):
    """OS::Heat::None, to which an environment maps a type whose resources should not be created."""

    type_name = "OS::Heat::None"
    description = "Does nothing: accepts any properties and ignores them."
    support = Support(version="5.0.0")
