"""OS::Cinder::EncryptedVolumeType"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, unrecorded
from stoker.resources.declare import custom, one_of
from stoker.schema.live import LISTED, same
from stoker.schema.property import Change, Property, Support, Type


async def _own_type(kind: EncryptedVolumeType, call: Call, shown: Mapping[str, object]) -> object:
    """Return the volume type, which contains the encryption: one that exists is that of its volume type."""
    return call.properties["volume_type"]


class EncryptedVolumeType(RestResource):
    """The encryption of a volume type; for administrators. Its physical ID is the volume type's."""

    type_name = "OS::Cinder::EncryptedVolumeType"
    description = "The encryption of a volume type. By default only administrators may create one."
    for_administrators = True
    collection = Collection("cinder", "/types/{volume_type}/encryption", "encryption", created_field=None, owner=None)
    identity = None
    exclusion = Exclusion.by(("volume_type",))
    readers = {"volume_type": _own_type}
    part_of = "OS::Cinder::VolumeType"
    id_is_new = False
    support = Support(version="5.0.0")
    extension = "encryption"
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A volume type has one encryption: it must have the requested properties, and belong to no other resource.",
    )

    properties = {
        "provider": Property(
            description="The encryption provider: `luks`, `plain`, or a class of the compute service.",
            required=True,
            change=Change.UPDATE,
        ),
        "control_location": Property(
            description="Where volumes are encrypted: `front-end` is the compute service, `back-end` the storage.",
            default="front-end",
            constraints=one_of("front-end", "back-end"),
            change=Change.UPDATE,
        ),
        "cipher": Property(
            description="Encryption algorithm and mode.",
            constraints=one_of("aes-xts-plain64", "aes-cbc-essiv"),
            change=Change.UPDATE,
        ),
        "key_size": Property(Type.INTEGER, "Size of the encryption key in bits.", change=Change.UPDATE),
        "volume_type": Property(
            description="The volume type, by name or ID.",
            required=True,
            constraints=custom("cinder.vtype"),
            live=LISTED,
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {name: call.properties[name] for name in ("provider", "cipher", "key_size", "control_location")}

    async def find(self, call: Call) -> str | None:
        volume_type = await _volume_type(call)
        declared, shown = await self.create_body(call), await _encryption(call, volume_type)
        if shown is None or not all(same(value, shown.get(key)) for key, value in declared.items()):
            return None
        return next(iter(await unrecorded(call, [volume_type])), None)

    async def create(self, call: Call) -> Outcome:
        volume_type = call.physical_id or await _volume_type(call)
        if call.physical_id is None:
            body = self.collection.wrap(await self.create_body(call))
            await call.cloud.post("cinder", f"/types/{volume_type}/encryption", body)
        return Done(physical_id=volume_type)

    async def update_body(self, call: Call) -> dict[str, object]:
        return dict(call.changed)

    def member_path(self, call: Call) -> str:
        return f"/types/{quote(str(call.physical_id), safe='')}/encryption/provider"

    async def show(self, call: Call) -> dict[str, Any] | None:
        return await _encryption(call, str(call.physical_id))


async def _volume_type(call: Call) -> str:
    return str(await call.cloud.find("cinder.volume_type", call.properties["volume_type"]))


async def _encryption(call: Call, volume_type: str) -> dict[str, object] | None:
    """Return a volume type's encryption; None if there is none, or no such type."""
    path = f"/types/{quote(volume_type, safe='')}/encryption"
    answer = await call.cloud.request("GET", "cinder", path, ok=(404,))
    found: Mapping[str, object] = answer.body if answer.status != 404 else {}
    return dict(found) or None
