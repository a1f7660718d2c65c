"""OS::Neutron::Trunk"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.exclusion import ALWAYS
from stoker.plugins.resource import Call
from stoker.resources.declare import between, one_of
from stoker.resources.neutron.allowances import TRUNKS, counts
from stoker.resources.neutron.base import BUILT, NeutronResource, collection
from stoker.schema.live import Live, LiveSource
from stoker.schema.property import Attribute, Change, Property, Support, Type

_SUB_PORT = {
    "port": Property(
        description="The port, by name or ID.",
        required=True,
        wire="port_id",
        reference="neutron.port",
    ),
    "segmentation_type": Property(
        description="How its traffic is tagged on the parent port.", required=True, constraints=one_of("vlan")
    ),
    "segmentation_id": Property(Type.INTEGER, "The VLAN ID.", required=True, constraints=between(1, 4094)),
}


class Trunk(NeutronResource):
    """A port that carries the traffic of others, each with its own VLAN ID.

    A port is the parent of at most one trunk.
    """

    type_name = "OS::Neutron::Trunk"
    description = "A port of a server that carries the traffic of several networks, distinguished by VLAN IDs."
    consumes = counts(TRUNKS)
    collection = collection("trunk")
    extension = "trunk"
    exclusion = ALWAYS  # a port belongs to one trunk, as its parent port or as a sub port
    support = Support(version="9.0.0")
    waits = BUILT

    properties = {
        "name": Property(description="Name of the trunk.", change=Change.UPDATE),
        "port": Property(
            description="The parent port, by name or ID.",
            required=True,
            change=Change.REFUSE,
            wire="port_id",
            reference="neutron.port",
        ),
        "sub_ports": Property(
            Type.LIST,
            "The ports whose traffic the parent port carries.",
            items=Property(Type.MAP, "A port.", schema=_SUB_PORT),
            change=Change.UPDATE,
            live=Live(LiveSource.LISTED, shared=True),
        ),
        "description": Property(description="Description of the trunk.", change=Change.UPDATE),
        "admin_state_up": Property(
            Type.BOOLEAN,
            "Whether the trunk is enabled; the sub ports of a disabled trunk cannot be changed.",
            change=Change.UPDATE,
        ),
    }
    attributes = {"port_id": Attribute("ID of the parent port.", Type.STRING)}

    async def update_body(self, call: Call) -> dict[str, object]:
        body = await super().update_body(call)
        return {name: value for name, value in body.items() if name != "sub_ports"}

    async def send_update(self, call: Call, body: Mapping[str, object]) -> dict[str, object]:
        if body.get("admin_state_up") is False:
            await self.change_extras(call)
        return await super().send_update(call, body)

    async def change_extras(self, call: Call) -> None:
        await super().change_extras(call)
        if "sub_ports" not in call.changed:
            return
        shown = await self.show(call) or {}
        present = {_key(sub): sub for sub in shown.get("sub_ports") or []}
        former = {_key(sub) for sub in _on_the_wire(call.previous or {})}
        declared = {_key(sub): sub for sub in _on_the_wire(call.properties)}
        # Sub ports added elsewhere stay, unless their port or VLAN ID conflicts with a declared one.
        gone = [sub for key, sub in present.items() if key in former - declared.keys()]
        new = [sub for key, sub in declared.items() if key not in present]
        if gone:
            await self._change(call, "remove_subports", [{"port_id": sub["port_id"]} for sub in gone])
        if new:
            await self._change(call, "add_subports", new)

    async def _change(self, call: Call, verb: str, sub_ports: list[dict[str, object]]) -> None:
        await call.cloud.put("neutron", f"{self.member_path(call)}/{verb}", {"sub_ports": sub_ports})

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        """Return also the existing sub ports, if a declared one is missing."""
        found = super().differences(call, shown)
        call.report.compared.add("sub_ports")
        present = {_key(sub) for sub in shown["sub_ports"]}
        declared = call.properties["sub_ports"] or []
        there = [
            sub for sub, sent in zip(declared, _on_the_wire(call.properties), strict=True) if _key(sent) in present
        ]
        return found if len(there) == len(declared) else {**found, "sub_ports": there}


def _on_the_wire(properties: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return the sub ports with Neutron's field names."""
    sub_ports = properties.get("sub_ports") or []
    return [{"port_id" if name == "port" else name: value for name, value in sub.items()} for sub in sub_ports]


def _key(sub_port: Mapping[str, object]) -> tuple[object, ...]:
    return sub_port["port_id"], sub_port["segmentation_type"], sub_port["segmentation_id"]
