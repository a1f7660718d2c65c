"""OS::Cinder::VolumeAttachment"""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.exclusion import ALWAYS
from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ResourceType
from stoker.resources.declare import custom
from stoker.resources.nova.volume_attachments import (
    ATTACHED,
    attach,
    attach_completely,
    attached,
    attachment_of,
    attachment_shown,
    detach_completely,
)
from stoker.resources.steps import in_turn
from stoker.schema.live import FETCHED
from stoker.schema.property import Change, Property

_BUSY = 2.0
_CHOSEN = "the server has it as {}, which its hypervisor may have chosen instead"


class VolumeAttachment(ResourceType):
    """A volume's attachment to a server."""

    type_name = "OS::Cinder::VolumeAttachment"
    description = "The attachment of a volume to a server."
    service = "cinder"
    exclusion = ALWAYS  # a replaced attachment could not be changed, and may be the old or the new one
    connects = True
    live_otherwise = FETCHED
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
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

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        """See ResourceType. Another device is no change: most hypervisors ignore the name that Nova is asked for."""
        server, volume, device = (call.properties[name] for name in ("instance_uuid", "volume_id", "mountpoint"))
        shown = await attachment_shown(call, server, volume)
        if shown is None:
            return None
        call.report.compared.update(call.properties)
        if device and shown.get("device") != device:
            call.report.compared.remove("mountpoint")
            call.report.unread["mountpoint"] = _CHOSEN.format(shown.get("device"))
        return {}

    async def find(self, call: Call) -> str | None:
        return await attachment_of(call, call.properties["instance_uuid"], call.properties["volume_id"])

    async def create(self, call: Call) -> Outcome:
        properties = call.properties
        if call.physical_id is None:
            made = await attach(
                call, properties["instance_uuid"], properties["volume_id"], properties.get("mountpoint")
            )
            return InProgress(after=_BUSY if made is None else ATTACHED.pause(call.elapsed), physical_id=made)
        return await attached(call, properties["instance_uuid"], properties["volume_id"])

    async def update(self, call: Call) -> Outcome:
        return await in_turn(call, (self._detach_previous, self._attach))

    async def _detach_previous(self, call: Call) -> Outcome:
        before = call.previous or {}
        return await detach_completely(call, before["instance_uuid"], str(call.physical_id), before["volume_id"])

    async def _attach(self, call: Call) -> Outcome:
        properties = call.properties
        outcome = await attach_completely(
            call, properties["instance_uuid"], properties["volume_id"], properties.get("mountpoint") or None
        )
        return Done(physical_id=properties["volume_id"]) if isinstance(outcome, Done) else outcome

    async def _detach(self, call: Call) -> Outcome:
        given = call.properties
        return await detach_completely(call, given["instance_uuid"], str(call.physical_id), given["volume_id"])

    async def delete(self, call: Call) -> Outcome:
        """Detach the volume, also from the server of an interrupted update."""
        if call.physical_id is None:
            return Done()
        return await in_turn(call, (self._detach_previous, self._detach) if call.previous else (self._detach,))
