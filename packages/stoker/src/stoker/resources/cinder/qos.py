"""OS::Cinder::QoSSpecs and OS::Cinder::QoSAssociation: limits of volumes, and the volume types that have them."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.capabilities import ReplacementPreparer, ReplacementReverter
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ResourceType
from stoker.resources.base import Collection, RestResource, unrecorded
from stoker.resources.declare import custom
from stoker.resources.replacement import conclusive
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED, Live, LiveSource, same
from stoker.schema.property import Change, Property, Support, Type

_CONSUMER = "consumer"
"""The spec that says who applies the limits; Cinder shows it beside the others."""


class QoSSpecs(RestResource):
    """Limits of volumes."""

    type_name = "OS::Cinder::QoSSpecs"
    description = "Quality of service limits of volumes. By default only administrators may create them."
    for_administrators = True
    collection = Collection("cinder", "/qos-specs", "qos_specs", "qos_specs", created_field=None, owner=None)
    kept_after_failure = True
    extension = "qos-specs"
    support = Support(version="7.0.0")
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names are unique; QoS specs with a name from the template must have the requested specs, and belong to no "
        "other resource.",
    )

    properties = {
        "name": Property(description="Name of the QoS specs."),
        "specs": Property(
            Type.MAP, "The specs, as keys and values.", required=True, change=Change.UPDATE, wire=NOT_SENT, live=LISTED
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {**await super().create_body(call), **call.properties["specs"]}

    async def find(self, call: Call) -> str | None:
        name = call.properties["name"] or call.physical_name
        listed = await call.cloud.list("cinder", "/qos-specs", "qos_specs")
        found = [item for item in listed if item["name"] == name and not _differs(call.properties["specs"], item)]
        return min(await unrecorded(call, [str(item["id"]) for item in found]), default=None)

    async def update(self, call: Call) -> Outcome:
        before, after = (call.previous or {}).get("specs") or {}, call.properties["specs"]
        changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
        if changed:
            await call.cloud.put("cinder", self.member_path(call), {"qos_specs": changed})
        dropped = sorted(before.keys() - after.keys())
        if dropped:
            await call.cloud.put("cinder", f"{self.member_path(call)}/delete_keys", {"keys": dropped})
        return Done()

    async def remove(self, call: Call) -> None:
        await call.cloud.get("cinder", f"{self.member_path(call)}/disassociate_all")
        await super().remove(call)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, shown)
        call.report.compared.add("specs")
        if _differs(call.properties["specs"], shown):
            found["specs"] = _specs(shown)
        return found


def _specs(shown: Mapping[str, Any]) -> dict[str, object]:
    return {**shown["specs"], _CONSUMER: shown[_CONSUMER]}


def _differs(declared: Mapping[str, object], shown: Mapping[str, Any]) -> bool:
    return not same({_CONSUMER: shown[_CONSUMER], **declared}, _specs(shown)) or bool(
        shown["specs"].keys() - declared.keys()
    )


class QoSAssociation(ResourceType, ReplacementPreparer, ReplacementReverter):
    """The volume types that have QoS specs."""

    type_name = "OS::Cinder::QoSAssociation"
    description = "Applies QoS specs to volume types. By default only administrators may do so."
    service = "cinder"
    extension = "qos-specs"
    for_administrators = True
    support = Support(version="8.0.0")
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "A volume type has one association; associating it again with the same QoS specs changes nothing.",
    )
    live_otherwise = Live(LiveSource.FETCHED, shared=True)

    properties = {
        "qos_specs": Property(description="The QoS specs, by name or ID.", required=True, reference="cinder.qos_specs"),
        "volume_types": Property(
            Type.LIST,
            "The volume types.",
            required=True,
            items=Property(
                Type.STRING,
                "A volume type, by name or ID.",
                constraints=custom("cinder.vtype"),
                resolve="cinder.volume_type",
            ),
            change=Change.UPDATE,
            resolve="cinder.volume_type",
        ),
    }

    async def create(self, call: Call) -> Outcome:
        await _request(call, "associate", call.properties["volume_types"])
        return Done(physical_id=call.resource.uuid)

    async def update(self, call: Call) -> Outcome:
        before, after = (call.previous or {}).get("volume_types") or [], call.properties["volume_types"]
        await _request(call, "disassociate", [kind for kind in before if kind not in after])
        await _request(call, "associate", [kind for kind in after if kind not in before])
        return Done()

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Disassociate the volume types, each of which can have only one association."""
        return await conclusive(self.delete(call))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Associate the volume types again."""
        return await conclusive(self.create(call))

    async def delete(self, call: Call) -> Outcome:
        held = await _associated(call)
        await _request(call, "disassociate", [kind for kind in call.properties["volume_types"] if kind in held])
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        held = await _associated(call)
        found = [kind for kind in call.properties["volume_types"] if kind in held]
        return {} if len(found) == len(call.properties["volume_types"]) else {"volume_types": found}

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return False


async def _associated(call: Call) -> Several[str]:
    """Return the IDs of the volume types that have the QoS specs; none when these do not exist."""
    path = f"/qos-specs/{call.properties['qos_specs']}/associations"
    answer = await call.cloud.get("cinder", path, ok=(404,))
    return {str(item["id"]) for item in answer.get("qos_associations") or []}


async def _request(call: Call, verb: str, volume_types: Iterable[str]) -> None:
    for volume_type in volume_types:
        path = f"/qos-specs/{call.properties['qos_specs']}/{verb}"
        await call.cloud.get("cinder", path, params={"vol_type_id": volume_type})
