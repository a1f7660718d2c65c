"""AWS::EC2::EIPAssociation: the association of a floating IP with an instance or a network interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import ConditionallyReplaced
from stoker.plugins.resource import Call
from stoker.resources.aws.routing import gateway_of, router_of, set_gateway
from stoker.resources.declare import custom
from stoker.resources.nova.address_association import AddressAssociation, AssociationEnds
from stoker.resources.nova.interfaces import required_interface
from stoker.schema.property import Change, Property

_ADDRESSES = frozenset({"EIP", "AllocationId"})
_PLACES = frozenset({"InstanceId", "NetworkInterfaceId"})


class EIPAssociation(AddressAssociation, ConditionallyReplaced):
    """The association of an address with a port. The physical ID is the address or its allocation ID, as given."""

    type_name = "AWS::EC2::EIPAssociation"
    description = "Associates an address with an instance or a network interface."

    properties = {
        "AllocationId": Property(description="ID of the floating IP.", change=Change.UPDATE),
        "EIP": Property(description="The floating address.", constraints=custom("ip_addr"), change=Change.UPDATE),
        "InstanceId": Property(
            description="The instance, of which the first interface is used.",
            constraints=custom("nova.server"),
            change=Change.UPDATE,
        ),
        "NetworkInterfaceId": Property(description="ID of the port, with AllocationId.", change=Change.UPDATE),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        names = {name for name in properties if properties[name] is not None}
        if len(names & _ADDRESSES) != 1:
            yield "exactly one of EIP and AllocationId must be given"
        if "EIP" in names and "InstanceId" not in names:
            yield "EIP requires InstanceId"
        elif not names & _PLACES:
            yield "InstanceId or NetworkInterfaceId must be given"

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        if changed.keys() & _ADDRESSES and changed.keys() & _PLACES:
            return "the address and what it is associated with change together"
        return None

    def identifier(self, call: Call) -> str:
        return str(call.properties["EIP"] or call.properties["AllocationId"])

    async def ends(self, call: Call) -> AssociationEnds:
        properties = call.properties
        floating_ip = properties["AllocationId"] or await _floating_ip_with(call, properties["EIP"])
        if properties["EIP"] is None and properties["NetworkInterfaceId"] is not None:
            return AssociationEnds(floating_ip, properties["NetworkInterfaceId"])
        interface = await required_interface(call, properties["InstanceId"])
        return AssociationEnds(floating_ip, interface.port, interface.address)

    async def prepare(self, call: Call, floating_ip: Mapping[str, Any], port: str) -> None:
        """With an allocation ID, connect the default router of the VPC to the floating IP's network."""
        if call.properties["AllocationId"] is None:
            return
        shown = (await call.cloud.get("neutron", f"/v2.0/ports/{port}"))["port"]
        router = await router_of(call, shown["network_id"])
        if router is not None and await gateway_of(call, router) is None:
            await set_gateway(call, router, floating_ip["floating_network_id"])


async def _floating_ip_with(call: Call, address: str) -> str:
    listed = await call.cloud.list("neutron", "/v2.0/floatingips", "floatingips", {"floating_ip_address": address})
    if not listed:
        raise CloudError("neutron", 404, f"there is no floating IP with the address {address}")
    return str(listed[0]["id"])
