"""AWS::EC2::RouteTable and AWS::EC2::SubnetRouteTableAssociation: routers that subnets use instead of their VPC's."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.capabilities import ReplacementReverter
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ResourceType, Snapshot
from stoker.resources import charges
from stoker.resources.aws.routing import (
    add_interface,
    gateway_of,
    interfaces,
    network_of,
    remove_interface,
    router_of,
    set_gateway,
)
from stoker.resources.aws.tags import unsupported_tags
from stoker.resources.declare import custom
from stoker.resources.neutron.allowances import ROUTERS, counts
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.router import Router
from stoker.resources.replacement import conclusive, is_recorded
from stoker.schema.live import FETCHED
from stoker.schema.property import Property, Support

ROUTE_TABLE = "AWS::EC2::RouteTable"


class RouteTable(NeutronResource):
    """A router, with the same external network as the default router of its VPC."""

    type_name = ROUTE_TABLE
    description = "A router for subnets of a VPC."
    consumes = counts(ROUTERS)
    charges = charges.ROUTER
    collection = collection("router")
    ports_by = "device_id={id}"
    waits = Router.waits
    support = Support(version="2014.1")
    reference_id = ResourceType.reference_id

    properties = {
        "VpcId": Property(description="The VPC.", required=True),
        "Tags": unsupported_tags(),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {"name": call.physical_name}

    def needs_extras(self, call: Call) -> bool:
        return True

    async def add_extras(self, call: Call) -> None:
        default = await router_of(call, call.properties["VpcId"])
        network = None if default is None else await gateway_of(call, default)
        if network is not None:
            await set_gateway(call, str(call.physical_id), network)


class SubnetRouteTableAssociation(ResourceType, ReplacementReverter):
    """The interface of a route table's router in a subnet, in place of the default router's."""

    type_name = "AWS::EC2::SubnetRouteTableAssociation"
    description = "Connects a subnet to a route table, instead of to the router of its VPC."
    service = "neutron"
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "A subnet has one interface of a router; adding it again has no effect.",
    )
    live_otherwise = FETCHED

    properties = {
        "RouteTableId": Property(description="The route table.", required=True),
        "SubnetId": Property(description="The subnet.", required=True, constraints=custom("neutron.subnet")),
    }

    def reference_id(self, resource: Snapshot) -> object:
        return resource.name

    async def create(self, call: Call) -> Outcome:
        await _connect(call)
        return Done(physical_id=f"{call.properties['RouteTableId']}:subnet_id={call.properties['SubnetId']}")

    async def revert_replacement(self, call: Call) -> Outcome:
        """Connect the subnet again, since a replacement has connected it to another route table."""
        return await conclusive(self.create(call))

    async def delete(self, call: Call) -> Outcome:
        """Connect the subnet to the default router again, unless another association has moved it."""
        subnet, router = call.properties["SubnetId"], call.properties["RouteTableId"]
        if not await _is_connected(call) or await _is_passed_on(call):
            return Done()
        await remove_interface(call, router, subnet)
        network = await network_of(call, subnet)
        default = None if network is None else await router_of(call, network)
        if default is not None and default != router:
            await add_interface(call, default, subnet)
        return Done()

    async def check(self, call: Call) -> Outcome:
        if not await _is_connected(call):
            return Failed("the route table has no interface in the subnet", "NotFound")
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await _is_connected(call) else None

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not await _is_connected(call)


async def _connect(call: Call) -> None:
    """Move the subnet's interface to the route table, from the default router or another router of the stack.

    An interface of any other router stays, and Neutron refuses a second one.
    """
    subnet, router = call.properties["SubnetId"], call.properties["RouteTableId"]
    holders = {port["device_id"] for port in await interfaces(call, subnet)}
    if router in holders:
        return
    network = await network_of(call, subnet)
    default = None if network is None else await router_of(call, network)
    for holder in holders:
        if holder == default or await is_recorded(call, holder):
            await remove_interface(call, holder, subnet)
    await add_interface(call, router, subnet)


async def _is_connected(call: Call) -> bool:
    router = call.properties["RouteTableId"]
    return any(port["device_id"] == router for port in await interfaces(call, call.properties["SubnetId"]))


async def _is_passed_on(call: Call) -> bool:
    """Return whether another association of the stack connects the same subnet to the same route table."""
    others = await call.engine.neighbours.of_type(call.resource.type)
    return any(other.data is not call.data and dict(other.properties) == dict(call.properties) for other in others)
