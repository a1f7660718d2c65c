"""OS::Neutron::Net"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call
from stoker.resources.declare import custom
from stoker.resources.neutron.allowances import NETWORKS, counts
from stoker.resources.neutron.base import (
    BUILT,
    TAGS,
    TENANT_ID,
    VALUE_SPECS,
    NeutronResource,
    agents,
    collection,
    shared,
)
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import FETCHED
from stoker.schema.property import Attribute, Change, Property, Support, Type


async def _serving(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> list[str]:
    return await agents(kind, call, "dhcp-agents", call.properties["dhcp_agent_ids"])


class Net(NeutronResource):
    """A virtual network."""

    type_name = "OS::Neutron::Net"
    description = "A virtual network, to which subnets and ports belong."
    consumes = counts(NETWORKS)
    collection = collection("network")
    ports_by = "network_id={id}"
    waits = BUILT
    strict_value_specs = True
    computed = frozenset({"segments"})
    readers = {**NeutronResource.readers, "shared": shared, "dhcp_agent_ids": _serving}

    properties = {
        "name": Property(description="Name of the network.", change=Change.UPDATE),
        "value_specs": VALUE_SPECS,
        "admin_state_up": Property(
            Type.BOOLEAN, "Whether the network forwards packets.", default=True, change=Change.UPDATE
        ),
        "tenant_id": TENANT_ID,
        "shared": Property(
            Type.BOOLEAN,
            "Whether every project may use the network.",
            default=False,
            change=Change.UPDATE,
            live=FETCHED,
        ),
        "dhcp_agent_ids": Property(
            Type.LIST,
            "The DHCP agents that serve the network; for administrators.",
            strings=True,
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=FETCHED,
        ),
        "port_security_enabled": Property(
            Type.BOOLEAN,
            "Default of the ports' port_security_enabled.",
            change=Change.UPDATE,
            support=Support(version="5.0.0"),
        ),
        "qos_policy": Property(
            description="The QoS policy of the network's ports, by name or ID.",
            change=Change.UPDATE,
            support=Support(version="6.0.0"),
            wire="qos_policy_id",
            reference="neutron.qos_policy",
        ),
        "dns_domain": Property(
            description="The DNS domain of the network's ports, with a trailing dot.",
            constraints=custom("dns_domain"),
            change=Change.UPDATE,
            support=Support(version="7.0.0"),
        ),
        "availability_zone_hints": Property(
            Type.LIST, "Availability zones to prefer for the network.", strings=True, support=Support(version="19.0.0")
        ),
        "tags": TAGS,
    }

    attributes = {
        "status": Attribute("Status of the network.", Type.STRING),
        "name": Attribute("Name of the network.", Type.STRING),
        "subnets": Attribute("IDs of the network's subnets.", Type.LIST),
        "admin_state_up": Attribute("Whether the network forwards packets.", Type.STRING),
        "tenant_id": Attribute("The project that owns the network.", Type.STRING),
        "port_security_enabled": Attribute(
            "Default of the ports' port_security_enabled.", Type.BOOLEAN, support=Support(version="5.0.0")
        ),
        "mtu": Attribute("The MTU, in bytes.", Type.INTEGER, support=Support(version="5.0.0")),
        "qos_policy_id": Attribute("ID of the QoS policy.", Type.STRING, support=Support(version="6.0.0")),
        "l2_adjacency": Attribute(
            "Whether all ports are on one layer 2 network.", Type.BOOLEAN, support=Support(version="9.0.0")
        ),
        "segments": Attribute("The network's segments.", Type.LIST, support=Support(version="11.0.0")),
    }

    def created(self, call: Call, shown: Any) -> None:
        call.data["port_security_enabled"] = shown.get("port_security_enabled")

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties.get("dhcp_agent_ids")) or super().needs_extras(call)

    async def add_extras(self, call: Call) -> None:
        if call.properties.get("dhcp_agent_ids"):
            await self._serve_with(call, call.properties["dhcp_agent_ids"])
        await super().add_extras(call)

    async def change_extras(self, call: Call) -> None:
        if "dhcp_agent_ids" in call.changed:
            await self._serve_with(call, call.changed["dhcp_agent_ids"] or [])
        await super().change_extras(call)

    async def _serve_with(self, call: Call, declared: list[str]) -> None:
        """Assign the network to these DHCP agents, and to no others."""
        cloud, network = call.cloud, call.physical_id
        serving = {
            agent["id"] for agent in await cloud.list("neutron", f"{self.member_path(call)}/dhcp-agents", "agents")
        }
        for agent in set(declared) - serving:
            path = f"/v2.0/agents/{quote(agent, safe='')}/dhcp-networks"
            await cloud.request("POST", "neutron", path, json={"network_id": network}, ok=(409,))
        for agent in serving - set(declared):
            await cloud.delete(
                "neutron", f"/v2.0/agents/{quote(agent, safe='')}/dhcp-networks/{network}", ok=(404, 409)
            )

    async def computed_attribute(self, call: Call, name: str) -> object:
        return await network_segments(call)


async def network_segments(call: Call) -> list[dict[str, object]] | None:
    """Return the segments of the network, unnamed ones first; None when Neutron does not show them."""
    if not await call.cloud.has_extension("neutron", "segment"):
        return None
    try:
        segments = await call.cloud.list("neutron", "/v2.0/segments", "segments", {"network_id": call.physical_id})
    except CloudError as error:
        if error.status == 403:
            return None
        raise
    return sorted(segments, key=lambda segment: segment.get("name") or "")


def is_same_segment(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Return whether two networks or segments need the same segment of the physical network: its flat network, or the
    same VLAN or tunnel ID. Neutron chooses an ID that is not given.
    """
    if one["physical_network" if one["network_type"] == "flat" else "segmentation_id"] is None:
        return False
    return all(one[name] == other[name] for name in ("network_type", "physical_network", "segmentation_id"))
