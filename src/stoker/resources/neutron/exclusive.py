"""Objects that Neutron allows only once: the old one is deleted before its replacement is created."""

from __future__ import annotations

from abc import abstractmethod

from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.neutron.base import NeutronResource
from stoker.resources.replacing import conclusive

_GIVEN_UP = "given_up"
"""In `call.data`: the object has been deleted in favor of its replacement."""


class ExclusiveResource(NeutronResource):
    """A type whose objects are deleted before their replacement is created, and created again in a rollback."""

    @abstractmethod
    def excludes_replacement(self, call: Call) -> bool:
        """Return whether Neutron would refuse the replacement while this object exists."""

    @abstractmethod
    async def alike(self, call: Call) -> list[str]:
        """Return the IDs of the objects because of which Neutron would refuse such an object."""

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        if not self.excludes_replacement(call):
            return Done()
        if _GIVEN_UP not in call.data:
            call.data[_GIVEN_UP] = True
            return Again(after=0.0)
        await call.cloud.delete("neutron", self.member_path(call), ok=(404,))
        return Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        """Create an identical object in place of the replacement."""
        return await conclusive(self._restored(call)) if _GIVEN_UP in call.data else Done()

    async def _restored(self, call: Call) -> Outcome:
        alike = await self.alike(call)
        if call.physical_id not in alike:
            for identifier in alike:
                await call.cloud.delete("neutron", f"{self.collection.path}/{identifier}", ok=(404,))
            made = await self.begin(call)
            return Again(after=0.0, physical_id=str(made["id"]))
        del call.data[_GIVEN_UP]
        return Done()
