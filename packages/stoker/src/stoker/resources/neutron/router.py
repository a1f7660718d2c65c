"""OS::Neutron::Router"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from stoker.plugins.capabilities import ImplicitlyDependent
from stoker.plugins.resource import Call, Graph, Node, Waiter
from stoker.resources import charges
from stoker.resources.neutron.allowances import ROUTERS, counts
from stoker.resources.neutron.base import TAGS, TENANT_ID, VALUE_SPECS, NeutronResource, agents, collection, ip_address
from stoker.resources.neutron.implicit import gateway_network, subnets_of
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import FETCHED
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_EXTERNAL_ADDRESS = {
    "ip_address": ip_address("The IP address."),
    "subnet": Property(
        description="The subnet of the address, by name or ID.",
        wire="subnet_id",
        reference="neutron.subnet",
    ),
}
_GATEWAY = {
    "network": Property(
        description="The external network, by name or ID.",
        required=True,
        change=Change.UPDATE,
        wire="network_id",
        resolve="neutron.network",
    ),
    "enable_snat": Property(Type.BOOLEAN, "Whether source NAT is enabled on the gateway.", change=Change.UPDATE),
    "external_fixed_ips": Property(
        Type.LIST,
        "The router's addresses on the external network.",
        items=Property(Type.MAP, "An address.", schema=_EXTERNAL_ADDRESS),
        change=Change.UPDATE,
        support=Support(version="6.0.0"),
    ),
}


async def _agent(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> str | None:
    hosting = await agents(kind, call, "l3-agents", [call.properties["l3_agent_id"]])
    return next(iter(hosting), None)


async def _hosting(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> list[str]:
    return await agents(kind, call, "l3-agents", call.properties["l3_agent_ids"])


class Router(NeutronResource, ImplicitlyDependent):
    """A router between subnets and an external network."""

    type_name = "OS::Neutron::Router"
    addresses_at = ("external_gateway_info.external_fixed_ips.*.ip_address",)
    description = "A router between subnets, with an optional gateway to an external network."
    consumes = counts(ROUTERS)
    charges = charges.ROUTER
    collection = collection("router")
    ports_by = "device_id={id}"
    extension = "router"
    readers = {**NeutronResource.readers, "l3_agent_id": _agent, "l3_agent_ids": _hosting}
    # A highly available router is shown as ALLOCATING while its instances are placed.
    waits = Waiter.until("ACTIVE", "DOWN", pending=("BUILD", "ALLOCATING"), failed=("ERROR", "DEGRADED"))

    properties = {
        "name": Property(description="Name of the router.", change=Change.UPDATE),
        "external_gateway_info": Property(
            Type.MAP, "The router's gateway to an external network.", schema=_GATEWAY, change=Change.UPDATE
        ),
        "value_specs": VALUE_SPECS,
        "admin_state_up": Property(
            Type.BOOLEAN, "Whether the router forwards packets.", default=True, change=Change.UPDATE
        ),
        "l3_agent_id": Property(
            description="Older form of l3_agent_ids, for one agent.",
            change=Change.UPDATE,
            support=Support(
                "HIDDEN", "6.0.0", previous=Support("DEPRECATED", "2015.1", previous=Support(version="2014.1"))
            ),
            wire=NOT_SENT,
            live=FETCHED,
        ),
        "l3_agent_ids": Property(
            Type.LIST,
            "IDs of the L3 agents that host the router; for administrators.",
            items=Property(Type.STRING, "ID of an agent."),
            change=Change.UPDATE,
            support=Support(version="2015.1"),
            wire=NOT_SENT,
            live=FETCHED,
        ),
        "distributed": Property(
            Type.BOOLEAN, "Whether the router is distributed; for administrators.", support=Support(version="2015.1")
        ),
        "ha": Property(
            Type.BOOLEAN,
            "Whether the router is highly available; for administrators.",
            support=Support(version="2015.1"),
        ),
        "availability_zone_hints": Property(
            Type.LIST,
            "Availability zones to prefer for the router.",
            strings=True,
            change=Change.UPDATE,
            support=Support(version="19.0.0"),
        ),
        "tags": TAGS,
        "tenant_id": replace(TENANT_ID, support=Support(version="24.0.0")),
    }

    attributes = {
        "status": Attribute("Status of the router.", Type.STRING),
        "external_gateway_info": Attribute("The router's gateway to an external network.", Type.MAP),
        "name": Attribute("Name of the router.", Type.STRING),
        "admin_state_up": Attribute("Whether the router forwards packets.", Type.STRING),
        "tenant_id": Attribute("The project that owns the router.", Type.STRING),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        yield from super().validate(properties)
        if properties.get("l3_agent_id") is not None and properties.get("l3_agent_ids"):
            yield "l3_agent_id is an older form of l3_agent_ids; only one of them can be given"
        agents = _agents(properties)
        highly_available = properties.get("ha")
        if properties.get("distributed") is True:
            if agents:
                yield "a distributed router runs on all agents: l3_agent_ids cannot be given"
            if highly_available is True:
                yield "distributed and ha cannot both be true"
        several = not is_unknown(agents) and len(agents) > 1
        if several and not highly_available:
            yield "more than one agent in l3_agent_ids requires ha"

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return subnets_of(partial(gateway_network, node.properties), graph)

    def needs_extras(self, call: Call) -> bool:
        return bool(_agents(call.properties)) or super().needs_extras(call)

    async def add_extras(self, call: Call) -> None:
        if _agents(call.properties):
            await self._run_on(call, _agents(call.properties))
        await super().add_extras(call)

    async def change_extras(self, call: Call) -> None:
        if call.changed.keys() & {"l3_agent_id", "l3_agent_ids"}:
            await self._run_on(call, _agents(call.properties))
        await super().change_extras(call)

    async def _run_on(self, call: Call, declared: list[str]) -> None:
        """Assign the router to these L3 agents only; remove it from others first, as most routers need one agent."""
        cloud, router = call.cloud, call.physical_id
        listed = await cloud.list("neutron", f"{self.member_path(call)}/l3-agents", "agents")
        running = {agent["id"] for agent in listed}
        for agent in sorted(running - set(declared)):
            await cloud.delete("neutron", f"/v2.0/agents/{quote(agent, safe='')}/l3-routers/{router}", ok=(404, 409))
        for agent in sorted(set(declared) - running):
            await cloud.post("neutron", f"/v2.0/agents/{quote(agent, safe='')}/l3-routers", {"router_id": router})


def _agents(properties: Mapping[str, object]) -> Any:
    """Return the requested agents, given in either property."""
    older = properties.get("l3_agent_id")
    return properties.get("l3_agent_ids") or ([] if older is None else [older])
