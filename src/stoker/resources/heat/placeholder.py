"""Types that take any properties and do nothing."""

from __future__ import annotations

from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.schema.property import Support


class Placeholder(ResourceType):
    """Stands for nothing: every attribute is null, and the id is the resource's own."""

    local = True
    any_properties = True
    ignores_properties = True

    async def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.uuid)


class NoResource(Placeholder):
    """OS::Heat::None, to which an environment maps a type that shall not be made."""

    type_name = "OS::Heat::None"
    description = "Nothing: takes any properties, and does not do anything with them."
    support = Support(version="5.0.0")


class HARestarter(Placeholder):
    """OS::Heat::HARestarter, which has no effect any more."""

    type_name = "OS::Heat::HARestarter"
    description = "Once restarted failed instances; has no effect."
    support = Support("HIDDEN", "10.0.0", previous=Support("DEPRECATED", "2015.1"))
