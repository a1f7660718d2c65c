"""AWS::EC2::NetworkInterface: a port with CloudFormation's properties."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.plugins.resource import AttributeKey, Call
from stoker.resources.aws.tags import unsupported_tags
from stoker.resources.aws.translated import Translated
from stoker.resources.base import value_at
from stoker.resources.declare import custom
from stoker.resources.neutron.allowances import PORTS, counts
from stoker.resources.neutron.port import Port
from stoker.schema.live import managed
from stoker.schema.property import Attribute, Change, Property, Type

_NETWORKS = "networks"
"""In `call.data`: the networks of subnets."""


class NetworkInterface(Translated):
    """A port in a subnet."""

    type_name = "AWS::EC2::NetworkInterface"
    description = "A port in a subnet, which an instance can use."
    consumes = counts(PORTS)
    target = Port
    spelled = {"GroupSet": "security_groups", "PrivateIpAddress": "fixed_ips", "SubnetId": "fixed_ips"}

    properties = {
        "Description": Property(description="Has no effect.", live=managed("it has no effect")),
        "GroupSet": Property(
            Type.LIST, "IDs of security groups; the project's default group if not given.", change=Change.UPDATE
        ),
        "PrivateIpAddress": Property(description="The address of the port; if not given, a free one of the subnet."),
        "SourceDestCheck": Property(Type.BOOLEAN, "Not supported.", implemented=False),
        "SubnetId": Property(description="The subnet.", required=True, constraints=custom("neutron.subnet")),
        "Tags": unsupported_tags(),
    }
    attributes = {"PrivateIpAddress": Attribute("The first address of the port.", Type.STRING)}

    async def translated(self, call: Call, properties: Mapping[str, Any]) -> Mapping[str, object]:
        subnet, address = properties["SubnetId"], properties["PrivateIpAddress"]
        fixed = {"subnet": subnet} | ({"ip_address": address} if address else {})
        translated = {"name": call.physical_name, "network": await _network(call, subnet), "fixed_ips": [fixed]}
        return (
            translated if properties["GroupSet"] is None else {**translated, "security_groups": properties["GroupSet"]}
        )

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        if call.physical_id is None:
            return dict.fromkeys(keys)
        shown = await self.shown(call)
        addresses = (shown or {}).get("fixed_ips") or [{}]
        values = {"PrivateIpAddress": addresses[0].get("ip_address"), "show": shown}
        return {key: value_at(values, key) for key in keys}


async def _network(call: Call, subnet: str) -> str:
    """Return the network of the subnet, which does not change."""
    networks = call.data.setdefault(_NETWORKS, {})
    if subnet not in networks:
        networks[subnet] = (await call.cloud.get("neutron", f"/v2.0/subnets/{subnet}"))["subnet"]["network_id"]
    return str(networks[subnet])
