"""OS::Neutron::RouterGateway"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from stoker.plugins.capabilities import ImplicitlyDependent, ReplacementReverter
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.base import unrecorded
from stoker.resources.declare import custom
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.implicit import ROUTER_INTERFACE, are_same, subnets_of
from stoker.resources.replacement import belongs_to_successor, conclusive
from stoker.schema.live import FETCHED
from stoker.schema.property import Property, Support

_NETWORK = custom("neutron.network")


class RouterGateway(NeutronResource, ImplicitlyDependent, ReplacementReverter):
    """A router's gateway as a resource of its own."""

    type_name = "OS::Neutron::RouterGateway"
    description = "Connects a router to an external network, like external_gateway_info of OS::Neutron::Router."
    collection = collection("router")
    id_is_new = False
    support = Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.1"))
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "The router's gateway is on the network, and no other resource has that gateway.",
    )
    live_otherwise = FETCHED

    properties = {
        "router_id": Property(description="ID of the router.", required=True, constraints=custom("neutron.router")),
        "network_id": Property(
            description="Older name of network.",
            constraints=_NETWORK,
            support=Support("HIDDEN", "9.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "network": Property(
            description="The external network, by name or ID.",
            reference="neutron.network",
            replaces="network_id",
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("network") is None:
            yield "network must be given"

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        router = node.properties.get("router_id")
        for interface in graph.of_type(ROUTER_INTERFACE):
            if are_same(interface.properties.get("router"), router):
                yield interface.name
        yield from subnets_of(partial(node.properties.get, "network"), graph)

    async def find(self, call: Call) -> str | None:
        if not await _has_gateway(call):
            return None
        return next(iter(await unrecorded(call, [_physical_id(call)])), None)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            await _set_gateway(call, {"network_id": call.properties["network"]})
        return Done(physical_id=_physical_id(call))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Set the gateway again; `prepare_for_replacement` does nothing, since the replacement changes the router's
        only gateway.
        """
        return await conclusive(self._restored(call))

    async def _restored(self, call: Call) -> Outcome:
        if not await _has_gateway(call):
            await _set_gateway(call, {"network_id": call.properties["network"]})
        return Done()

    async def remove(self, call: Call) -> None:
        # After a replacement the router already has another gateway, which must stay.
        if await _has_gateway(call) and not await belongs_to_successor(call, self.type_name):
            await _set_gateway(call, {})

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return None: Neutron has no object for a gateway."""
        return None

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await _has_gateway(call) else None

    async def adopt(self, call: Call) -> Outcome:
        if not await _has_gateway(call):
            return Failed("the router has another gateway, or none", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not await _has_gateway(call)


def _physical_id(call: Call) -> str:
    return f"{call.properties['router_id']}:{call.properties['network']}"


def _path(call: Call) -> str:
    return f"/v2.0/routers/{call.properties['router_id']}"


async def _set_gateway(call: Call, gateway: dict[str, object]) -> None:
    await call.cloud.put("neutron", _path(call), {"router": {"external_gateway_info": gateway}})


async def _has_gateway(call: Call) -> bool:
    answer = await call.cloud.get("neutron", _path(call), ok=(404,))
    gateway = (answer.get("router") or {}).get("external_gateway_info") or {}
    return bool(gateway.get("network_id") == call.properties["network"])
