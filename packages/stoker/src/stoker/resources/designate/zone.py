"""OS::Designate::Zone"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import Conflict
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection
from stoker.resources.declare import length, one_of
from stoker.resources.designate.allowances import ZONE
from stoker.resources.designate.base import DESCRIPTION, DesignateResource, is_same_name, ttl
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

PRIMARY, SECONDARY = "PRIMARY", "SECONDARY"
_ONLY_FOR = {"email": PRIMARY, "ttl": PRIMARY, "masters": SECONDARY}
"""Fields that zones of one type have only."""
_DNS_PORT = ":53"


def _have_same_name(properties: Mapping[str, Any], replacement: Mapping[str, Any]) -> bool:
    """Return whether both have the same name."""
    name = replacement["name"]
    return not is_unknown(name) and is_same_name(properties["name"], name)


async def _exclude_replacement(kind: Zone, call: Call) -> bool:
    """Return whether both have the same name. Raises Conflict if that name would cost the zone's record sets."""
    if not _have_same_name(call.properties, call.resource.replacement or {}):
        return False
    shown = await kind.show(call)
    if shown is not None and (shown["status"], shown["action"]) not in _UNUSED:
        raise Conflict(
            f"the zone {shown['name']} cannot be replaced by one with the same name, since its record sets would be "
            "lost: use another name, or delete the zone first"
        )
    return True


class Zone(DesignateResource):
    """A zone: a part of the domain name space."""

    type_name = "OS::Designate::Zone"
    description = "A DNS zone, with record sets of its own (PRIMARY) or as a copy of another name server's (SECONDARY)."
    consumes = ZONE
    collection = Collection("designate", "/v2/zones", members="zones", update="PATCH", owner=None)
    exclusion = Exclusion(_have_same_name, _exclude_replacement)
    support = Support(version="8.0.0")
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names of zones are unique. The zone must also have been created since the action began, have the requested "
        "properties, and belong to no other resource.",
    )

    properties = {
        "name": Property(
            description="Name of the zone, with a dot at the end.", required=True, constraints=length(high=255)
        ),
        "ttl": ttl("Seconds for which answers may be cached; for zones of type PRIMARY."),
        "description": DESCRIPTION,
        "email": Property(
            description="Address of the person who is responsible for the zone; for zones of type PRIMARY.",
            change=Change.UPDATE,
        ),
        "type": Property(
            description="Whether the zone is kept here, or copied from other name servers.",
            default=PRIMARY,
            constraints=one_of(PRIMARY, SECONDARY),
        ),
        "masters": Property(
            Type.LIST,
            "Older name of primaries.",
            change=Change.UPDATE,
            support=Support("DEPRECATED", "15.0.0"),
        ),
        "primaries": Property(
            Type.LIST,
            "Addresses of the name servers from which the zone is copied; for zones of type SECONDARY.",
            change=Change.UPDATE,
            wire="masters",
            replaces="masters",
        ),
        "attributes": Property(
            Type.MAP,
            "Attributes by which Designate chooses the pool of name servers.",
            support=Support(version="24.0.0"),
        ),
    }
    attributes = {"serial": Attribute("Serial number of the zone.", Type.STRING)}

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        kind = properties.get("type")
        if kind == PRIMARY and not _given(properties, "email"):
            yield "email must be given for a zone of type PRIMARY"
        if kind == SECONDARY and not _given(properties, "primaries") and not _given(properties, "masters"):
            yield "primaries must be given for a zone of type SECONDARY"

    async def create_body(self, call: Call) -> dict[str, object]:
        return _fitting(await super().create_body(call), call)

    async def update_body(self, call: Call) -> dict[str, object]:
        return _fitting(await super().update_body(call), call)

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        return super().made_by(call, _normalized(body), _normalized(item))

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, _normalized(shown))
        declared = _normalized({"masters": call.properties.get("primaries") or []})["masters"]
        if declared == _normalized(shown).get("masters"):
            found.pop("primaries", None)
        kind = call.properties["type"]
        return {name: value for name, value in found.items() if _ONLY_FOR.get(name, kind) == kind}

    async def conflicting_objects(self, call: Call) -> list[dict[str, object]]:
        name = call.properties["name"]
        listed = await call.cloud.list("designate", self.collection.path, "zones", {"name": name})
        return [item for item in listed if is_same_name(item["name"], name)]


_UNUSED = {("ERROR", "CREATE"), ("PENDING", "DELETE"), ("ERROR", "DELETE")}
"""Statuses and actions of zones that have nothing to lose."""


def _given(properties: Mapping[str, object], name: str) -> bool:
    """Return whether a property has a value, or will have one."""
    return properties.get(name) not in (None, "", [])


def _fitting(body: Mapping[str, object], call: Call) -> dict[str, object]:
    """Return the fields that zones of the type have."""
    kind = call.properties["type"]
    return {name: value for name, value in body.items() if _ONLY_FOR.get(name, kind) == kind}


def _normalized(fields: Mapping[str, object]) -> dict[str, object]:
    """Return a zone's fields with masters as Designate shows them: without the usual port."""
    masters = fields.get("masters")
    if not isinstance(masters, list):
        return dict(fields)
    return {**fields, "masters": [str(one).removesuffix(_DNS_PORT) if "." in str(one) else one for one in masters]}
