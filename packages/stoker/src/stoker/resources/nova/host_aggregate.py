"""OS::Nova::HostAggregate"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, unrecorded
from stoker.resources.declare import custom
from stoker.resources.unique_names import UniquelyNamed
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED
from stoker.schema.property import Change, Property, Support, Type

_ZONE = "availability_zone"
"""The key of an aggregate's metadata that has the availability zone."""


class HostAggregate(UniquelyNamed):
    """A group of hosts."""

    type_name = "OS::Nova::HostAggregate"
    description = "A group of hosts with metadata. By default only administrators may create one."
    for_administrators = True
    collection = Collection("nova", "/os-aggregates", "aggregate", "aggregates", owner=None)
    support = Support(version="6.0.0")
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names are unique; an aggregate with the name must have been created since the action began, have the "
        "requested availability zone, and belong to no other resource.",
    )

    properties = {
        "name": Property(description="Name of the aggregate.", required=True, change=Change.UPDATE),
        "availability_zone": Property(description="Availability zone of the hosts.", change=Change.UPDATE),
        "hosts": Property(
            Type.LIST,
            "Hosts in the aggregate.",
            items=Property(Type.STRING, "A host.", constraints=custom("nova.host")),
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=LISTED,
        ),
        "metadata": Property(
            Type.MAP, "Metadata of the aggregate.", default={}, change=Change.UPDATE, wire=NOT_SENT, live=LISTED
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {name: call.properties[name] for name in ("name", "availability_zone")}

    async def find(self, call: Call) -> str | None:
        """Search all aggregates: Nova cannot filter them."""
        body = await self.create_body(call)
        listed = await call.cloud.list("nova", "/os-aggregates", "aggregates")
        found = [item for item in listed if self.made_by(call, body, item)]
        return min(await unrecorded(call, [str(item["id"]) for item in found]), default=None)

    async def rename(self, call: Call, identifier: str, name: str) -> None:
        body = self.collection.wrap({"name": name})
        await call.cloud.request("PUT", "nova", f"/os-aggregates/{identifier}", json=body, ok=(404,))

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["hosts"] or call.properties["metadata"])

    async def add_extras(self, call: Call) -> None:
        await self._set_metadata(call)
        await self._set_hosts(call)

    async def change_extras(self, call: Call) -> None:
        if "metadata" in call.changed:
            await self._set_metadata(call)
        if "hosts" in call.changed:
            await self._set_hosts(call)

    async def _set_metadata(self, call: Call) -> None:
        """Set the metadata, and remove keys that the template no longer has."""
        declared = call.properties["metadata"] or {}
        dropped = ((call.previous or {}).get("metadata") or {}).keys() - declared.keys()
        metadata = {**{key: str(value) for key, value in declared.items()}, **dict.fromkeys(dropped)}
        if metadata:
            await self._act(call, "set_metadata", {"metadata": metadata})

    async def _set_hosts(self, call: Call) -> None:
        shown = await self.show(call) or {}
        held, declared = set(shown.get("hosts") or ()), set(call.properties["hosts"] or ())
        for host in sorted(declared - held):
            await self._act(call, "add_host", {"host": host})
        for host in sorted(held - declared):
            await self._act(call, "remove_host", {"host": host})

    async def _act(self, call: Call, verb: str, body: Mapping[str, object]) -> None:
        await call.cloud.post("nova", f"{self.member_path(call)}/action", {verb: body})

    async def remove(self, call: Call) -> None:
        """Remove the hosts first: Nova does not delete an aggregate that has some."""
        for host in (await self.show(call) or {}).get("hosts") or ():
            await self._act(call, "remove_host", {"host": host})
        await super().remove(call)

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        found = super().differences(call, shown)
        call.report.compared.update(("hosts", "metadata"))
        hosts, metadata = call.properties["hosts"], call.properties["metadata"]
        if hosts is not None and sorted(hosts) != sorted(shown["hosts"]):
            found["hosts"] = shown["hosts"]
        held = {key: value for key, value in shown["metadata"].items() if key != _ZONE}
        if (
            metadata is not None
            and call.gives("metadata")
            and {key: str(value) for key, value in metadata.items()} != held
        ):
            found["metadata"] = held
        return found
