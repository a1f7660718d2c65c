"""AWS::EC2::EIP: a floating IP, which may be associated with an instance."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.plugins.resource import AttributeKey, Call, Snapshot
from stoker.resources import charges
from stoker.resources.aws.translated import Translated
from stoker.resources.base import value_at
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.allowances import FLOATING_IPS, counts
from stoker.resources.neutron.external_network import external_network
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.nova.interfaces import first_interface, required_interface
from stoker.schema.live import managed
from stoker.schema.property import Attribute, Change, Property, Support, Type

_ADDRESS = "address"
_NETWORK = "external_network"
_SETTING = ("CREATE", "UPDATE")
"""Actions that need the network and the instance; to find or delete an address, neither has to exist."""


class _Address(FloatingIP):
    """A floating IP that records its address, which is the reference ID."""

    def created(self, call: Call, shown: Any) -> None:
        call.data[_ADDRESS] = shown["floating_ip_address"]


class EIP(Translated):
    """An address of the external network."""

    type_name = "AWS::EC2::EIP"
    description = "An address of the external network, which can be associated with an instance."
    consumes = counts(FLOATING_IPS)
    charges = charges.FLOATING_IP
    target = _Address
    service = "nova"
    spelled = {"InstanceId": "port_id"}

    properties = {
        "Domain": Property(
            description="Has no effect.",
            constraints=one_of("vpc"),
            support=Support("DEPRECATED", "9.0.0"),
            live=managed("it has no effect"),
        ),
        "InstanceId": Property(
            description="The instance to associate the address with, at its first interface.",
            constraints=custom("nova.server"),
            change=Change.UPDATE,
        ),
    }
    attributes = {"AllocationId": Attribute("ID of the floating IP.", Type.STRING)}

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get(_ADDRESS, resource.name)

    async def translated(self, call: Call, properties: Mapping[str, Any]) -> Mapping[str, object]:
        if _NETWORK not in call.data and call.action in _SETTING:
            call.data[_NETWORK] = await external_network(call)
        translated = {"floating_network": call.data.get(_NETWORK)}
        server = properties["InstanceId"]
        if server is None:
            return translated
        # The instance of an earlier version of the properties need not exist any more.
        is_set = properties is call.properties and call.action in _SETTING
        interface = await (required_interface if is_set else first_interface)(call, server)
        if interface is None:
            return translated
        return translated | {"port_id": interface.port, "fixed_ip_address": interface.address}

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values: dict[str, object] = {"AllocationId": call.physical_id}
        if any(key[0] == "show" for key in keys):
            values["show"] = None if call.physical_id is None else await self.shown(call)
        return {key: value_at(values, key) for key in keys}
