"""OS::Heat::HARestarter"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stoker.plugins.capabilities import Signalable
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import AttributeKey, Call, NoActionRequired
from stoker.resources.base import value_at
from stoker.resources.heat.groups.scaling_policy import SIGNED_URL, SignedUrlResource
from stoker.schema.property import Support

_INSTANCE, _URL = "InstanceId", "AlarmUrl"
_NAME = "instance"
"""The key of the data that has the name of the resource to replace: its replacement has another reference ID."""


class HARestarter(SignedUrlResource, Signalable):
    """Replaces another resource of its stack whenever it is signalled, for templates of old releases.

    Heat has only a placeholder under this name, with any properties and attributes. `InstanceId` is the reference ID of
    the resource to replace, and the attribute `AlarmUrl` the signed URL for the action of an alarm, as in old releases.
    Without `InstanceId`, or where the operator disables it, this is a placeholder too.
    """

    type_name = "OS::Heat::HARestarter"
    description = "Replaces the resource InstanceId when an alarm signals AlarmUrl; a placeholder without InstanceId."
    support = Support("HIDDEN", "10.0.0", previous=Support("DEPRECATED", "2015.1"))
    any_properties = True
    any_attribute = True
    enabled = True

    def configure(self, options: Mapping[str, object]) -> None:
        self.enabled = bool(options.get("restart_on_signal", True))

    async def create(self, call: Call) -> Outcome:
        if not self.enabled or not call.properties.get(_INSTANCE):
            return Done(physical_id=call.resource.uuid)
        instance = await call.engine.neighbours.by_reference(call.properties[_INSTANCE])
        if instance is None:
            return Failed(f"InstanceId {call.properties[_INSTANCE]!r} is not a resource of this stack", "Error")
        call.data[_NAME] = instance.name
        return await super().create(call)

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Mark the resource unhealthy and begin an update that replaces it. Raises NoActionRequired."""
        if not self.enabled or "user_id" not in call.data:
            raise NoActionRequired(f"{call.resource.name} is a placeholder")
        return await call.engine.neighbours.replace(call.data[_NAME], f"{call.resource.name} has received a signal")

    async def delete(self, call: Call) -> Outcome:
        return await super().delete(call) if "password" in call.data else Done()

    async def suspend(self, call: Call) -> Outcome:
        return await super().suspend(call) if "user_id" in call.data else Done()

    async def resume(self, call: Call) -> Outcome:
        return await super().resume(call) if "user_id" in call.data else Done()

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        return {key: value_at(call.data.get(SIGNED_URL), key[1:]) if key[0] == _URL else None for key in keys}
