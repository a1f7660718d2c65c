"""OS::Designate::RecordSet"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection
from stoker.resources.declare import length, one_of
from stoker.resources.designate.base import DESCRIPTION, DesignateResource, is_same_name, ttl
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Change, Property, Support, Type

CNAME = "CNAME"
_LONGEST_LABEL = 63


def _are_spelled_equally(properties: Mapping[str, Any], replacement: Mapping[str, Any]) -> bool:
    """Return whether both exclude each other, and their names are written alike."""
    alike = all(properties[name] is not None and properties[name] == replacement[name] for name in ("zone", "name"))
    return alike and _exclude_each_other(properties["type"], replacement["type"])


async def _exclude_replacement(kind: object, call: Call) -> bool:
    """Return whether both have the same name and type, or the same name, which a CNAME record cannot share."""
    before, replacement = call.properties, call.resource.replacement or {}
    if before["zone"] != replacement["zone"] or before["name"] is None or replacement["name"] is None:
        return False
    names = [await _full_name(call, name) for name in (before["name"], replacement["name"])]
    return is_same_name(*names) and _exclude_each_other(before["type"], replacement["type"])


class RecordSet(DesignateResource):
    """The records of one type that a name has."""

    type_name = "OS::Designate::RecordSet"
    description = "A DNS record set: the records of one type that a name in a zone has."
    collection = Collection("designate", "/v2/zones/{zone}/recordsets", members="recordsets", owner=None)
    exclusion = Exclusion(_are_spelled_equally, _exclude_replacement)
    clearable = frozenset({"description", "ttl"})
    physical_name_limit = _LONGEST_LABEL
    support = Support(version="8.0.0")
    recovery = Recovery(
        RecoveryMethod.NAME,
        "A zone has one record set with a name and type. If the template gives the name, the record set must also have "
        "been created since the action began, have the requested properties, and belong to no other resource.",
    )

    properties = {
        "zone": Property(
            description="The zone, by name or ID.", required=True, wire=NOT_SENT, reference="designate.zone"
        ),
        "name": Property(
            description="The name; without a dot at the end, the name of the zone is appended. "
            "If not given, a unique name is generated.",
            constraints=length(high=255),
        ),
        "description": DESCRIPTION,
        "ttl": ttl("Seconds for which answers may be cached; by default those of the zone."),
        "type": Property(
            description="The type of the records.",
            required=True,
            constraints=one_of(
                "A", "AAAA", "CNAME", "MX", "SRV", "TXT", "SPF", "NS", "PTR", "SSHFP", "SOA", "CAA", "CERT", "NAPTR"
            ),
        ),
        "records": Property(
            Type.LIST,
            "The data of the records, in the form of zone files; names in them end with a dot.",
            required=True,
            change=Change.UPDATE,
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return {**body, "name": await _full_name(call, str(body["name"]))}

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        found = super().differences(call, shown)
        if "name" in found and is_same_name(shown["name"], f"{call.properties['name']}.{shown['zone_name']}"):
            del found["name"]
        return found

    async def conflicting_objects(self, call: Call) -> list[dict[str, object]]:
        body = await self.create_body(call)
        name, kind = str(body["name"]), str(body["type"])
        listed = await call.cloud.list(
            "designate", self.collection.path_for(call), self.collection.members, {"name": name}
        )
        return [item for item in listed if is_same_name(item["name"], name) and _exclude_each_other(item["type"], kind)]


def _exclude_each_other(one: str, other: str) -> bool:
    """Return whether record sets of these types cannot have the same name."""
    return one == other or CNAME in (one, other)


async def _full_name(call: Call, name: str) -> str:
    if name.endswith("."):
        return name
    zone = await call.cloud.get("designate", f"/v2/zones/{call.properties['zone']}")
    return f"{name}.{zone['name']}"
