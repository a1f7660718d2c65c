"""OS::Blazar::Host"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, unrecorded
from stoker.resources.blazar.base import ReservationResource
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import Live, LiveSource, same
from stoker.schema.property import Attribute, Property, Support, Type

_OWN = {
    "hypervisor_hostname": Attribute("Name of the hypervisor.", Type.STRING),
    "hypervisor_type": Attribute("Type of the hypervisor.", Type.STRING),
    "hypervisor_version": Attribute("Version of the hypervisor.", Type.INTEGER),
    "vcpus": Attribute("Number of processors.", Type.INTEGER),
    "cpu_info": Attribute("What the hypervisor reports about the processors.", Type.MAP),
    "memory_mb": Attribute("Memory in MiB.", Type.INTEGER),
    "local_gb": Attribute("Size of the local disks in GiB.", Type.INTEGER),
    "service_name": Attribute("Name of the host's compute service.", Type.STRING),
    "reservable": Attribute("Whether the host can be reserved.", Type.BOOLEAN),
    "status": Attribute("Status of the host.", Type.STRING),
    "trust_id": Attribute("Trust by which Blazar acts for the user who added the host.", Type.STRING),
    "created_at": Attribute("When the host was added.", Type.STRING),
    "updated_at": Attribute("When the host was last changed.", Type.STRING),
}
_NOT_CAPABILITIES = frozenset({*_OWN, "id", "availability_zone", "disabled"})
"""Fields of a host that Blazar sets itself."""


class Host(ReservationResource):
    """A hypervisor that is added to Blazar's pool; for administrators.

    Blazar identifies hosts by the hypervisor, which can be in the pool once. Therefore a host is removed before its
    replacement adds the same hypervisor, with the same ID, again.
    """

    type_name = "OS::Blazar::Host"
    description = "A compute host that can be reserved. By default only administrators may add one."
    for_administrators = True
    collection = Collection("blazar", "/os-hosts", "host", "hosts", owner=None)
    identity = None
    exclusion = Exclusion.by(("name",))
    id_is_new = False
    object_ids = ObjectIds()
    support = Support(version="12.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A hypervisor can be added once. The host with its name must have been added since the action began, have the "
        "requested capabilities, and belong to no other resource.",
    )
    computed = frozenset({"extra_capability", "cpu_info"})

    properties = {
        "name": Property(description="Name of the hypervisor.", required=True),
        "extra_capability": Property(
            Type.MAP,
            "Capabilities, as names and values, that leases can require. A capability with the name `name` is ignored.",
            wire=NOT_SENT,
            live=Live(LiveSource.LISTED, shared=True),
        ),
    }
    attributes = {**_OWN, "extra_capability": Attribute("The capabilities of the host.", Type.MAP)}

    async def create_body(self, call: Call) -> dict[str, object]:
        return {**_capabilities(call.properties), "name": call.properties["name"]}

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        listed = await call.cloud.list("blazar", "/os-hosts", "hosts")
        found = [str(item["id"]) for item in listed if _has(body, item) and self.made_by(call, {}, item)]
        return min(await unrecorded(call, found), default=None)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found: dict[str, object] = {}
        call.report.compared.update(("name", "extra_capability"))
        if shown["hypervisor_hostname"] != call.properties["name"]:
            found["name"] = shown["hypervisor_hostname"]
        declared, live = _capabilities(call.properties), _shown_capabilities(shown)
        if not same(declared, live):
            found["extra_capability"] = live
        return found

    async def computed_attribute(self, call: Call, name: str) -> object:
        shown = await self.show(call) or {}
        return _shown_capabilities(shown) if name == "extra_capability" else _parsed(shown.get(name))


def _capabilities(properties: Mapping[str, Any]) -> dict[str, object]:
    given = properties.get("extra_capability") or {}
    return {name: value for name, value in given.items() if name != "name"}


def _shown_capabilities(shown: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in shown.items() if name not in _NOT_CAPABILITIES}


def _has(body: Mapping[str, object], shown: Mapping[str, object]) -> bool:
    """Return whether a host is the hypervisor of a request, with its capabilities."""
    capabilities = {name: value for name, value in body.items() if name != "name"}
    return bool(shown.get("hypervisor_hostname") == body["name"] and same(capabilities, shown))


def _parsed(value: Any) -> object:
    """Return the value that a string of JSON stands for; other values as they are."""
    try:
        return json.loads(value)
    except (TypeError, ValueError):
        return value
