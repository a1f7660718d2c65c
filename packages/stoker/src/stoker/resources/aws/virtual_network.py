"""AWS::EC2::VPC and AWS::EC2::Subnet: a network with a router of the same name, and subnets behind that router."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.resources import charges
from stoker.resources.aws.routing import INTERFACE, add_interface, interfaces, remove_interface, router_of
from stoker.resources.aws.tags import unsupported_tags
from stoker.resources.declare import one_of
from stoker.resources.neutron.allowances import NETWORKS, ROUTERS, SUBNETS, counts
from stoker.resources.neutron.base import BUILT, NeutronResource, collection, users_among
from stoker.resources.neutron.router import Router
from stoker.schema.property import Attribute, Property, Type


class VPC(NeutronResource):
    """A network and its default router, which has the network's name. The physical ID is the network's."""

    type_name = "AWS::EC2::VPC"
    description = "A virtual network, with a router for its subnets."
    consumes = (*counts(NETWORKS), *counts(ROUTERS))
    charges = charges.ROUTER
    collection = collection("network")
    ports_by = "network_id={id}"
    waits = BUILT
    reference_id = ResourceType.reference_id

    properties = {
        "CidrBlock": Property(description="Has no effect: every subnet has its own range of addresses."),
        "InstanceTenancy": Property(
            description="Not supported.",
            default="default",
            constraints=one_of("default", "dedicated"),
            implemented=False,
        ),
        "Tags": unsupported_tags(),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {"name": call.physical_name}

    def needs_extras(self, call: Call) -> bool:
        return True

    async def add_extras(self, call: Call) -> None:
        if await _router_named(call) is None:
            await call.cloud.post("neutron", "/v2.0/routers", {"router": {"name": call.physical_name}})

    async def create(self, call: Call) -> Outcome:
        outcome = await super().create(call)
        if not isinstance(outcome, Done):
            return outcome
        router = await _router_named(call)
        if router is None:
            return Failed(f"the router {call.physical_name} of the VPC was deleted", "NotFound")
        return Router.waits.outcome(router["status"], elapsed=call.elapsed)

    async def remove(self, call: Call) -> None:
        router = await _router_named(call)
        if router is not None:
            await call.cloud.delete("neutron", f"/v2.0/routers/{router['id']}", ok=(404,))
        await super().remove(call)


class Subnet(NeutronResource):
    """A subnet with an interface on the default router of its VPC, if the VPC has one."""

    type_name = "AWS::EC2::Subnet"
    description = "A subnet of a VPC, behind the VPC's router."
    consumes = counts(SUBNETS)
    collection = collection("subnet")
    reference_id = ResourceType.reference_id

    properties = {
        "AvailabilityZone": Property(description="Has no effect; it is the value of the attribute."),
        "CidrBlock": Property(description="The subnet's range of addresses, as a CIDR.", required=True),
        "VpcId": Property(description="The VPC.", required=True),
        "Tags": unsupported_tags(),
    }
    attributes = {"AvailabilityZone": Attribute("The property of this name.", Type.STRING)}
    computed = frozenset({"AvailabilityZone"})

    async def create_body(self, call: Call) -> dict[str, object]:
        properties = call.properties
        return {
            "network_id": properties["VpcId"],
            "cidr": properties["CidrBlock"],
            "name": call.physical_name,
            "ip_version": 4,
        }

    def needs_extras(self, call: Call) -> bool:
        return True

    async def add_extras(self, call: Call) -> None:
        subnet = str(call.physical_id)
        router = await router_of(call, call.properties["VpcId"])
        if router is not None and not await interfaces(call, subnet):
            await add_interface(call, router, subnet)

    async def remove(self, call: Call) -> None:
        subnet = str(call.physical_id)
        router = await router_of(call, call.properties["VpcId"])
        holders = {port["device_id"] for port in await interfaces(call, subnet)}
        if router is not None and router in holders:
            await remove_interface(call, router, subnet)
        await super().remove(call)

    async def computed_attribute(self, call: Call, name: str) -> object:
        return call.properties["AvailabilityZone"]

    async def used_by(self, call: Call) -> Mapping[str, str]:
        """Return the ports in the subnet but for the router's own interface."""
        if call.physical_id is None:
            return {}
        router = await router_of(call, call.properties["VpcId"])
        params = {"fixed_ips": f"subnet_id={call.physical_id}"}
        ports = await call.cloud.list("neutron", "/v2.0/ports", "ports", params)
        others = [port for port in ports if (port["device_owner"], port["device_id"]) != (INTERFACE, router)]
        return users_among(call, others)


async def _router_named(call: Call) -> dict[str, Any] | None:
    """Return the router that was created with the VPC.

    It has the name of the network, which is that of another resource if the VPC was adopted.
    """
    path = f"/v2.0/networks/{call.physical_id}"
    shown = await call.cloud.get("neutron", path, ok=(404,)) if call.physical_id is not None else {}
    name = (shown.get("network") or {}).get("name") or call.physical_name
    listed = await call.cloud.list("neutron", "/v2.0/routers", "routers", {"name": name})
    return next(iter(listed), None)
