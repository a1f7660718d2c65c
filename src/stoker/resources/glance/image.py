"""OS::Glance::Image"""

from __future__ import annotations

from stoker.base.ids import new_id
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.schema.property import Support


class Image(ResourceType):
    """Stands for an image of a way of making images that Glance no longer has."""

    type_name = "OS::Glance::Image"
    description = "Has no effect any more: Glance's older way of copying an image is gone. Use OS::Glance::WebImage."
    service = "glance"
    local = True
    any_properties = True
    support = Support("HIDDEN", "22.0.0", previous=Support("DEPRECATED", "8.0.0", previous=Support(version="2014.2")))

    async def create(self, call: Call) -> Outcome:
        call.data["is_placeholder"] = "True"
        return Done(physical_id=call.physical_id or new_id())
