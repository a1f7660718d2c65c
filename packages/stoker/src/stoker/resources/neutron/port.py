"""OS::Neutron::Port"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import (
    ConditionallyReplaced,
    ImplicitlyDependent,
    ReplacementPreparer,
    ReplacementReverter,
)
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.allowances import PORTS, counts
from stoker.resources.neutron.base import BUILT, TAGS, VALUE_SPECS, NeutronResource, collection, ip_address
from stoker.resources.neutron.conflicts import ADDRESSES
from stoker.resources.neutron.implicit import subnets_of
from stoker.resources.replacement import conclusive, has_same_name, is_recorded
from stoker.resources.wire import NOT_SENT, wire_value
from stoker.schema.live import LISTED, managed, same
from stoker.schema.property import Attribute, Change, Property, Support, Type

_NETWORK = custom("neutron.network")
_SUBNET = custom("neutron.subnet")
_VNIC_TYPES = one_of(
    "normal", "direct", "macvtap", "direct-physical", "baremetal", "virtio-forwarder", "smart-nic"
)  # fmt: skip
_PROFILE = "binding:profile"
_VNIC_TYPE = "binding:vnic_type"
_ALWAYS = "REPLACE_ALWAYS"
_DEVICE = frozenset({"device_id", "device_owner"})
_GIVEN_UP = "given_up_addresses"
"""In `call.data`: the addresses that a port has released for its replacement."""

_FIXED_IP = {
    "subnet_id": Property(
        description="Older name of subnet.",
        constraints=_SUBNET,
        support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
    ),
    "subnet": Property(
        description="The subnet of the address, by name or ID.",
        support=Support(version="2014.2"),
        wire="subnet_id",
        reference="neutron.subnet",
        replaces="subnet_id",
    ),
    "ip_address": ip_address("The IP address; if not given, a free one of the subnet."),
}
_ADDRESS_PAIR = {
    "mac_address": Property(
        description="The MAC address; the port's own if not given.", constraints=custom("mac_addr")
    ),
    "ip_address": Property(
        description="The IP address, or a range as a CIDR.", required=True, constraints=custom("ip_or_cidr")
    ),
}


async def _has_no_addresses(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> bool:
    """Return whether the port has no address; the addresses that the template leaves to Neutron do not count."""
    return not shown["fixed_ips"] if call.properties["no_fixed_ips"] else False


class Port(NeutronResource, ImplicitlyDependent, ReplacementPreparer, ConditionallyReplaced, ReplacementReverter):
    """A port of a network, which connects a device."""

    type_name = "OS::Neutron::Port"
    addresses_at = ("fixed_ips.*.ip_address",)
    description = "A port of a network, with addresses, which connects a server or another device."
    consumes = counts(PORTS)
    conflicts = (ADDRESSES,)
    collection = collection("port")
    waits = BUILT
    computed = frozenset({"subnets", "network"})
    readers = {**NeutronResource.readers, "no_fixed_ips": _has_no_addresses}

    properties = {
        "name": Property(description="Name of the port.", change=Change.UPDATE),
        "network_id": Property(
            description="Older name of network.",
            constraints=_NETWORK,
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "network": Property(
            description="The network, by name or ID.",
            required=True,
            support=Support(version="2014.2"),
            wire="network_id",
            reference="neutron.network",
            replaces="network_id",
        ),
        "device_id": Property(description="ID of the device that uses the port.", default="", change=Change.UPDATE),
        "device_owner": Property(
            description="Kind and owner of the device that uses the port.", default="", change=Change.UPDATE
        ),
        "fixed_ips": Property(
            Type.LIST,
            "The port's fixed addresses; if not given, one of each IP version that the network has.",
            items=Property(Type.MAP, "An address.", schema=_FIXED_IP),
            change=Change.UPDATE,
        ),
        "no_fixed_ips": Property(
            Type.BOOLEAN,
            "Whether the port has no fixed address.",
            default=False,
            change=Change.UPDATE,
            support=Support(version="16.0.0"),
            wire=NOT_SENT,
            live=LISTED,
        ),
        "security_groups": Property(
            Type.LIST,
            "Security groups, by name or ID; if not given, the project's default group.",
            strings=True,
            change=Change.UPDATE,
            resolve="neutron.security_group",
        ),
        "tags": TAGS,
        "value_specs": VALUE_SPECS,
        "admin_state_up": Property(
            Type.BOOLEAN, "Whether the port forwards packets.", default=True, change=Change.UPDATE
        ),
        "allowed_address_pairs": Property(
            Type.LIST,
            "Pairs of addresses that may pass through the port besides its own.",
            items=Property(Type.MAP, "Addresses.", schema=_ADDRESS_PAIR),
            change=Change.UPDATE,
        ),
        "mac_address": Property(description="The port's MAC address.", constraints=custom("mac_addr")),
        _VNIC_TYPE: Property(
            description="Type of the virtual network interface.",
            default="normal",
            constraints=_VNIC_TYPES,
            change=Change.UPDATE,
            support=Support(version="2015.1"),
        ),
        "port_security_enabled": Property(
            Type.BOOLEAN,
            "Whether security groups and anti-spoofing rules apply to the port; if not given, the network's default.",
            change=Change.UPDATE,
            support=Support(version="5.0.0"),
        ),
        "qos_policy": Property(
            description="The QoS policy, by name or ID.",
            change=Change.UPDATE,
            support=Support(version="6.0.0"),
            wire="qos_policy_id",
            reference="neutron.qos_policy",
        ),
        "dns_name": Property(
            description="DNS name of the port.",
            constraints=custom("dns_name"),
            change=Change.UPDATE,
            support=Support(version="7.0.0"),
        ),
        "propagate_uplink_status": Property(
            Type.BOOLEAN,
            "Whether the guest sees the link status of the host's uplink.",
            change=Change.UPDATE,
            support=Support(version="15.0.0"),
        ),
        "replacement_policy": Property(
            description="Whether every change replaces the port.",
            default="AUTO",
            constraints=one_of(_ALWAYS, "AUTO"),
            change=Change.UPDATE,
            support=Support(
                "HIDDEN", "9.0.0", previous=Support("DEPRECATED", "6.0.0", previous=Support(version="2014.2"))
            ),
            wire=NOT_SENT,
            live=managed("it tells Stoker when to replace the port"),
        ),
    }

    attributes = {
        "name": Attribute("Name of the port.", Type.STRING),
        "network_id": Attribute("ID of the network.", Type.STRING),
        "admin_state_up": Attribute("Whether the port forwards packets.", Type.STRING),
        "status": Attribute("Status of the port.", Type.STRING),
        "mac_address": Attribute("The port's MAC address.", Type.STRING),
        "device_id": Attribute("ID of the device that uses the port.", Type.STRING),
        "device_owner": Attribute("Kind of the device that uses the port.", Type.STRING),
        "fixed_ips": Attribute("The port's fixed addresses.", Type.LIST),
        "security_groups": Attribute("IDs of the security groups.", Type.LIST),
        "tenant_id": Attribute("The project that owns the port.", Type.STRING),
        "allowed_address_pairs": Attribute(
            "Pairs of addresses that may pass through the port besides its own.", Type.LIST
        ),
        "subnets": Attribute("The subnets of the port's addresses, as Neutron shows them.", Type.LIST),
        "network": Attribute("The network, as Neutron shows it.", Type.MAP, support=Support(version="11.0.0")),
        "port_security_enabled": Attribute(
            "Whether security groups and anti-spoofing rules apply to the port.",
            Type.BOOLEAN,
            support=Support(version="5.0.0"),
        ),
        "qos_policy_id": Attribute("ID of the QoS policy.", Type.STRING, support=Support(version="6.0.0")),
        "dns_assignment": Attribute("The port's DNS names.", Type.MAP, support=Support(version="7.0.0")),
        "propagate_uplink_status": Attribute(
            "Whether the guest sees the link status of the uplink.", Type.BOOLEAN, support=Support(version="15.0.0")
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        yield from super().validate(properties)
        if properties.get("fixed_ips") and properties.get("no_fixed_ips") is True:
            yield "fixed_ips cannot be given together with no_fixed_ips"

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return subnets_of(partial(node.properties.get, "network"), graph)

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        return f"replacement_policy is {_ALWAYS}" if after.get("replacement_policy") == _ALWAYS else None

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        return super().made_by(call, body, _without_automatic(item, body.get("fixed_ips")))

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        sent = wire_value(self.properties["fixed_ips"], call.properties.get("fixed_ips"))
        found = super().differences(call, _without_automatic(shown, sent))
        # Whoever attaches the port fills these in; without a value, the template leaves that to them.
        return {name: value for name, value in found.items() if name not in _DEVICE or call.properties.get(name)}

    async def create_body(self, call: Call) -> dict[str, object]:
        return _with_addresses(call.properties, await super().create_body(call))

    async def update_body(self, call: Call) -> dict[str, object]:
        body = _with_addresses(call.changed, await super().update_body(call))
        if "security_groups" in body and body["security_groups"] is None:
            body["security_groups"] = [await call.cloud.find("neutron.security_group", "default")]
        if _PROFILE in body:
            body[_PROFILE] = await _merged_profile(self, call, body[_PROFILE])
        return body

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Release the addresses, since the replacement may request the same."""
        if _GIVEN_UP not in call.data:
            call.data[_GIVEN_UP] = (await self.show(call) or {}).get("fixed_ips") or []
            return InProgress(after=0.0)
        return await conclusive(_set_addresses(call, str(call.physical_id), []))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Assign the same addresses again, taking them from the replacement if it has them.

        Those of deleted subnets cannot come back: the update that follows assigns others.
        """
        return await conclusive(_restored(call))

    def created(self, call: Call, shown: Mapping[str, object]) -> None:
        for name in ("port_security_enabled", _VNIC_TYPE):
            call.data[name] = shown.get(name)

    async def computed_attribute(self, call: Call, name: str) -> object:
        try:
            return await (_network(call) if name == "network" else _subnets(self, call))
        except CloudError:
            return None


async def _merged_profile(kind: Port, call: Call, declared: Mapping[str, object] | None) -> dict[str, Any]:
    """Merge the changes into the binding profile, in which others (Nova) store data too."""
    before = ((call.previous or {}).get("value_specs") or {}).get(_PROFILE) or {}
    after = declared or {}
    profile = dict((await kind.show(call) or {}).get(_PROFILE) or {})
    for key in before.keys() | after.keys():
        if before.get(key) != after.get(key):
            profile[key] = after.get(key)
    return {key: value for key, value in profile.items() if value is not None}


async def _restored(call: Call) -> Outcome:
    addresses = await _with_subnets(call, call.data.get(_GIVEN_UP) or [])
    for address in addresses:
        for holder in await _holders(call, address["ip_address"]):
            if not (has_same_name(call, holder["name"]) and await is_recorded(call, holder["id"])):
                return Failed(
                    f"port {call.physical_id} cannot get {address['ip_address']} back: port {holder['id']} uses "
                    "it. Free it, then update the stack again.",
                    "IpAddressInUse",
                )
            await _set_addresses(call, holder["id"], [])
    if addresses:
        await _set_addresses(call, str(call.physical_id), addresses)
    call.data.pop(_GIVEN_UP, None)
    return Done()


async def _network(call: Call) -> object:
    answer = await call.cloud.get("neutron", f"/v2.0/networks/{call.properties['network']}")
    return answer["network"]


async def _subnets(kind: Port, call: Call) -> list[object] | None:
    port = await kind.show(call)
    if port is None:
        return None
    identifiers = [address["subnet_id"] for address in port["fixed_ips"]]
    if not identifiers:
        return []
    listed = await call.cloud.list("neutron", "/v2.0/subnets", "subnets", {"id": sorted(set(identifiers))})
    subnets = {subnet["id"]: subnet for subnet in listed}
    return [subnets[identifier] for identifier in identifiers if identifier in subnets]


async def _with_subnets(call: Call, addresses: list[Any]) -> list[Any]:
    """Return those of the addresses whose subnets exist."""
    if not addresses:
        return []
    subnet_ids = sorted({address["subnet_id"] for address in addresses})
    listed = await call.cloud.list("neutron", "/v2.0/subnets", "subnets", {"id": subnet_ids})
    present = {subnet["id"] for subnet in listed}
    return [address for address in addresses if address["subnet_id"] in present]


async def _holders(call: Call, ip_address: str) -> list[dict[str, Any]]:
    """Return the other ports of the network that have an address; one at most."""
    params = {"network_id": call.properties["network"], "fixed_ips": f"ip_address={ip_address}"}
    listed: list[dict[str, object]] = await call.cloud.list("neutron", "/v2.0/ports", "ports", params)
    return [port for port in listed if port["id"] != call.physical_id]


async def _set_addresses(call: Call, port: str, addresses: list[object]) -> Outcome:
    """Set a port's addresses; accept that the port does not exist if there are none."""
    body = {"port": {"fixed_ips": addresses}}
    await call.cloud.put("neutron", f"/v2.0/ports/{port}", body, ok=() if addresses else (404,))
    return Done()


def _without_automatic(port: Mapping[str, Any], sent: Any) -> dict[str, object]:
    """Return a port without the addresses of SLAAC subnets that are not among the requested ones.

    Neutron gives each port an address of each such subnet of its network: the prefix, and the interface identifier that
    follows from the MAC address (RFC 4291, appendix A).
    """
    first, *rest = bytes.fromhex(port["mac_address"].replace(":", ""))
    identifier = bytes([first ^ 2, *rest[:2], 0xFF, 0xFE, *rest[2:]])
    addresses = [
        fixed
        for fixed in port["fixed_ips"]
        if ipaddress.ip_address(fixed["ip_address"]).packed[8:] != identifier
        or any(same(item, fixed) for item in sent or ())
    ]
    return {**port, "fixed_ips": addresses}


def _with_addresses(properties: Mapping[str, object], body: dict[str, object]) -> dict[str, Any]:
    """Send an empty list only for no_fixed_ips; no addresses leave the choice to Neutron, or the port unchanged."""
    if not body.get("fixed_ips"):
        body.pop("fixed_ips", None)
    return {**body, "fixed_ips": []} if properties.get("no_fixed_ips") else body
