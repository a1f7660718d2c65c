"""OS::Neutron::Trunk"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.declare import between, one_of
from stoker.resources.neutron.base import BUILT, collection
from stoker.resources.neutron.exclusive import ExclusiveResource
from stoker.schema.property import Attribute, Change, Property, Support, Type

_SUB_PORT = {
    "port": Property(
        description="The port, by name or id.",
        required=True,
        wire="port_id",
        reference="neutron.port",
    ),
    "segmentation_type": Property(
        description="How its traffic is marked on the parent port.", required=True, constraints=one_of("vlan")
    ),
    "segmentation_id": Property(Type.INTEGER, "The mark, a VLAN id.", required=True, constraints=between(1, 4094)),
}


class Trunk(ExclusiveResource):
    """A port that carries the traffic of others, each with a mark of its own.

    A port is the parent of one trunk at most.
    """

    type_name = "OS::Neutron::Trunk"
    description = "A port of a server that carries the traffic of several networks, told apart by VLAN ids."
    collection = collection("trunk")
    extension = "trunk"
    support = Support(version="9.0.0")
    waits = BUILT
    unobserved = ExclusiveResource.unobserved | {"sub_ports"}

    properties = {
        "name": Property(description="Name of the trunk.", change=Change.UPDATE),
        "port": Property(
            description="The parent port, by name or id.",
            required=True,
            change=Change.REFUSE,
            wire="port_id",
            reference="neutron.port",
        ),
        "sub_ports": Property(
            Type.LIST,
            "The ports whose traffic goes through the parent port.",
            items=Property(Type.MAP, "A port.", schema=_SUB_PORT),
            change=Change.UPDATE,
        ),
        "description": Property(description="What the trunk is for.", change=Change.UPDATE),
        "admin_state_up": Property(
            Type.BOOLEAN,
            "Whether the trunk is in use; a trunk that is not takes no change of its sub ports.",
            change=Change.UPDATE,
        ),
    }
    attributes = {"port_id": Attribute("Id of the parent port, known once the trunk is there.", Type.STRING)}

    async def update_body(self, call: Call) -> dict[str, Any]:
        body = await super().update_body(call)
        return {name: value for name, value in body.items() if name != "sub_ports"}

    async def send_update(self, call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
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
        wanted = {_key(sub): sub for sub in _on_the_wire(call.properties)}
        # What somebody else has added stays, unless its port or its mark is wanted otherwise.
        gone = [sub for key, sub in present.items() if key in former - wanted.keys()]
        new = [sub for key, sub in wanted.items() if key not in present]
        if gone:
            await self._change(call, "remove_subports", [{"port_id": sub["port_id"]} for sub in gone])
        if new:
            await self._change(call, "add_subports", new)

    async def _change(self, call: Call, verb: str, sub_ports: list[dict[str, Any]]) -> None:
        await call.cloud.put("neutron", f"{self.member_path(call)}/{verb}", {"sub_ports": sub_ports})

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, Any]:
        """As ever; of the sub ports, those that are there, if any is missing."""
        found = super().differences(call, shown)
        present = {_key(sub) for sub in shown["sub_ports"]}
        wanted = call.properties["sub_ports"] or []
        there = [sub for sub, sent in zip(wanted, _on_the_wire(call.properties), strict=True) if _key(sent) in present]
        return found if len(there) == len(wanted) else {**found, "sub_ports": there}

    def excludes_replacement(self, call: Call) -> bool:
        return call.replacement is not None

    async def alike(self, call: Call) -> list[str]:
        wanted = {"port_id": call.properties["port"]}
        return [trunk["id"] for trunk in await call.cloud.list("neutron", "/v2.0/trunks", "trunks", wanted)]


def _on_the_wire(properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sub ports as Neutron writes them."""
    sub_ports = properties.get("sub_ports") or []
    return [{"port_id" if name == "port" else name: value for name, value in sub.items()} for sub in sub_ports]


def _key(sub_port: Mapping[str, Any]) -> tuple[Any, ...]:
    return sub_port["port_id"], sub_port["segmentation_type"], sub_port["segmentation_id"]
