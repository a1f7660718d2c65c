"""AWS::EC2::InternetGateway and AWS::EC2::VPCGatewayAttachment: routes from a VPC to the external network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stoker.plugins.capabilities import ImplicitlyDependent
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node, ResourceType, Snapshot
from stoker.resources.aws.route_table import ROUTE_TABLE
from stoker.resources.aws.routing import gateway_of, set_gateway
from stoker.resources.aws.tags import unsupported_tags
from stoker.resources.neutron.external_network import external_network
from stoker.resources.neutron.implicit import are_same
from stoker.schema.live import FETCHED, managed
from stoker.schema.property import Property


class InternetGateway(ResourceType):
    """A name for the external network, which exists in any case; it creates no object."""

    type_name = "AWS::EC2::InternetGateway"
    description = "Stands for the cloud's external network; see AWS::EC2::VPCGatewayAttachment."
    local = True
    properties = {"Tags": unsupported_tags()}

    async def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.physical_name)


class VPCGatewayAttachment(ResourceType, ImplicitlyDependent):
    """The gateways of a VPC's route tables to the external network."""

    type_name = "AWS::EC2::VPCGatewayAttachment"
    description = "Connects the route tables of a VPC to the external network."
    service = "neutron"
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "A router has one gateway; setting it again has no effect.",
    )

    properties = {
        "InternetGatewayId": Property(
            description="The internet gateway; has no effect.", live=managed("it has no effect")
        ),
        "VpcId": Property(description="The VPC.", required=True, live=FETCHED),
        "VpnGatewayId": Property(description="Not supported.", implemented=False),
    }

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        for table in graph.of_type(ROUTE_TABLE):
            if are_same(table.properties.get("VpcId"), node.properties.get("VpcId")):
                yield table.name

    def reference_id(self, resource: Snapshot) -> object:
        return resource.name

    async def create(self, call: Call) -> Outcome:
        routers = await _routers(call)
        if routers:
            network = await external_network(call)
            await asyncio.gather(*(set_gateway(call, router, network) for router in routers))
        return Done(physical_id=f"{call.properties['VpcId']}:gateway")

    async def delete(self, call: Call) -> Outcome:
        """Remove the gateways, unless another attachment of the stack needs them."""
        others = await call.engine.neighbours.of_type(call.resource.type)
        if not any(o.data is not call.data and o.properties["VpcId"] == call.properties["VpcId"] for o in others):
            await asyncio.gather(*(set_gateway(call, router, None) for router in await _routers(call)))
        return Done()

    async def check(self, call: Call) -> Outcome:
        if not await _all_attached(call):
            return Failed("a route table of the VPC has no gateway", "NotFound")
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await _all_attached(call) else None


async def _routers(call: Call) -> list[str]:
    """Return the IDs of the stack's route tables in the VPC."""
    tables = await call.engine.neighbours.of_type(ROUTE_TABLE)
    return [
        table.physical_id
        for table in tables
        if table.physical_id is not None and table.properties["VpcId"] == call.properties["VpcId"]
    ]


async def _all_attached(call: Call) -> bool:
    gateways = await asyncio.gather(*(gateway_of(call, router) for router in await _routers(call)))
    return all(gateway is not None for gateway in gateways)
