"""OS::Cinder::VolumeAttachment"""

from __future__ import annotations

from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call, ResourceType
from stoker.resources.declare import custom
from stoker.resources.nova.volume_attachments import (
    ATTACHED,
    attach,
    attach_completely,
    attached,
    attachment_of,
    detach_completely,
)
from stoker.resources.replacing import conclusive
from stoker.resources.steps import in_turn
from stoker.schema.property import Change, Property

_BUSY = 2.0
_GIVEN_UP = "given_up"
"""In `call.data`: the volume has been detached in favor of the replacement."""


class VolumeAttachment(ResourceType):
    """A volume's attachment to a server."""

    type_name = "OS::Cinder::VolumeAttachment"
    description = "The attachment of a volume to a server."
    service = "cinder"
    recovery = Recovery(
        FoundBy.LIKENESS,
        "Server and volume identify it: Nova has at most one attachment of a volume to a server.",
    )

    properties = {
        "instance_uuid": Property(description="ID of the server.", required=True, change=Change.UPDATE),
        "volume_id": Property(
            description="ID of the volume.", required=True, constraints=custom("cinder.volume"), change=Change.UPDATE
        ),
        "mountpoint": Property(
            description="Device name in the server; chosen by the hypervisor if empty or not given.",
            change=Change.UPDATE,
        ),
    }

    async def find(self, call: Call) -> str | None:
        return await attachment_of(call, call.properties["instance_uuid"], call.properties["volume_id"])

    async def create(self, call: Call) -> Outcome:
        wanted = call.properties
        if call.physical_id is None:
            made = await attach(call, wanted["instance_uuid"], wanted["volume_id"], wanted.get("mountpoint"))
            return Again(after=_BUSY if made is None else ATTACHED.pause(call.elapsed), physical_id=made)
        return await attached(call, wanted["instance_uuid"], wanted["volume_id"])

    async def update(self, call: Call) -> Outcome:
        return await in_turn(call, (self._detach_previous, self._attach))

    async def _detach_previous(self, call: Call) -> Outcome:
        before = call.previous or {}
        return await detach_completely(call, before["instance_uuid"], str(call.physical_id), before["volume_id"])

    async def _attach(self, call: Call) -> Outcome:
        wanted = call.properties
        outcome = await attach_completely(
            call, wanted["instance_uuid"], wanted["volume_id"], wanted.get("mountpoint") or None
        )
        return Done(physical_id=wanted["volume_id"]) if isinstance(outcome, Done) else outcome

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Detach the volume, also from the server of an interrupted update, so that it can be attached again."""
        call.data[_GIVEN_UP] = True
        return await conclusive(
            in_turn(call, (self._detach_previous, self._detach) if call.previous else (self._detach,))
        )

    async def revert_replacement(self, call: Call) -> Outcome:
        """Attach the volume to the server again."""
        outcome = await conclusive(self._attach(call)) if _GIVEN_UP in call.data else Done()
        if isinstance(outcome, Done):
            call.data.pop(_GIVEN_UP, None)
        return outcome

    async def _detach(self, call: Call) -> Outcome:
        given = call.properties
        return await detach_completely(call, given["instance_uuid"], str(call.physical_id), given["volume_id"])

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None or _GIVEN_UP in call.data:
            return Done()
        return await self._detach(call)
