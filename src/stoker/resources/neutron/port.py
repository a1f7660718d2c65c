"""OS::Neutron::Port"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.base import BUILT, TAGS, VALUE_SPECS, NeutronResource, collection, ip_address
from stoker.resources.neutron.implicit import subnets_of
from stoker.resources.replacing import conclusive, is_named_alike, is_recorded
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Attribute, Change, Property, Support, Type

_NETWORK = custom("neutron.network")
_SUBNET = custom("neutron.subnet")
_VNIC_TYPES = one_of(
    "normal", "direct", "macvtap", "direct-physical", "baremetal", "virtio-forwarder", "smart-nic"
)  # fmt: skip
_PROFILE = "binding:profile"
_VNIC_TYPE = "binding:vnic_type"
_ALWAYS = "REPLACE_ALWAYS"
_GIVEN_UP = "given_up_addresses"
"""In `call.data`: the addresses of a port that has made way."""

_FIXED_IP = {
    "subnet_id": Property(
        description="Older name of subnet.",
        constraints=_SUBNET,
        support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
    ),
    "subnet": Property(
        description="The subnet that the address is from, by name or id.",
        support=Support(version="2014.2"),
        wire="subnet_id",
        reference="neutron.subnet",
        replaces="subnet_id",
    ),
    "ip_address": ip_address("The address; if not given, any free one of the subnet."),
}
_ADDRESS_PAIR = {
    "mac_address": Property(description="The MAC address, if not the port's own.", constraints=custom("mac_addr")),
    "ip_address": Property(
        description="The address, or a range of them.", required=True, constraints=custom("ip_or_cidr")
    ),
}


class Port(NeutronResource):
    """A place on a network that a device plugs into."""

    type_name = "OS::Neutron::Port"
    description = "A place on a network, with addresses, that a server or another device plugs into."
    collection = collection("port")
    waits = BUILT
    computed = frozenset({"subnets", "network"})

    properties = {
        "name": Property(description="Name of the port.", change=Change.UPDATE),
        "network_id": Property(
            description="Older name of network.",
            constraints=_NETWORK,
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "network": Property(
            description="The network, by name or id.",
            required=True,
            support=Support(version="2014.2"),
            wire="network_id",
            reference="neutron.network",
            replaces="network_id",
        ),
        "device_id": Property(description="Id of the device in the port.", default="", change=Change.UPDATE),
        "device_owner": Property(
            description="What kind of device is in the port, and whose.", default="", change=Change.UPDATE
        ),
        "fixed_ips": Property(
            Type.LIST,
            "The port's addresses; if not given, one of each IP version that the network has.",
            items=Property(Type.MAP, "An address.", schema=_FIXED_IP),
            change=Change.UPDATE,
        ),
        "no_fixed_ips": Property(
            Type.BOOLEAN,
            "Whether the port has no address at all.",
            default=False,
            change=Change.UPDATE,
            support=Support(version="16.0.0"),
            wire=NOT_SENT,
        ),
        "security_groups": Property(
            Type.LIST,
            "Security groups, by name or id; if not given, the project's default group.",
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
            "Further addresses that traffic may come from.",
            items=Property(Type.MAP, "Addresses.", schema=_ADDRESS_PAIR),
            change=Change.UPDATE,
        ),
        "mac_address": Property(description="The port's MAC address.", constraints=custom("mac_addr")),
        _VNIC_TYPE: Property(
            description="How the port is realized on the host.",
            default="normal",
            constraints=_VNIC_TYPES,
            change=Change.UPDATE,
            support=Support(version="2015.1"),
        ),
        "port_security_enabled": Property(
            Type.BOOLEAN,
            "Whether the port is protected; if not given, as its network says.",
            change=Change.UPDATE,
            support=Support(version="5.0.0"),
        ),
        "qos_policy": Property(
            description="The policy of quality of service, by name or id.",
            change=Change.UPDATE,
            support=Support(version="6.0.0"),
            wire="qos_policy_id",
            reference="neutron.qos_policy",
        ),
        "dns_name": Property(
            description="Name of the port in the DNS.",
            constraints=custom("dns_name"),
            change=Change.UPDATE,
            support=Support(version="7.0.0"),
        ),
        "propagate_uplink_status": Property(
            Type.BOOLEAN,
            "Whether the guest sees the status of the host's uplink.",
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
        ),
    }

    attributes = {
        "name": Attribute("Name of the port.", Type.STRING),
        "network_id": Attribute("Id of the network.", Type.STRING),
        "admin_state_up": Attribute("Whether the port forwards packets.", Type.STRING),
        "status": Attribute("Status of the port.", Type.STRING),
        "mac_address": Attribute("The port's MAC address.", Type.STRING),
        "device_id": Attribute("Id of the device in the port.", Type.STRING),
        "device_owner": Attribute("What kind of device is in the port.", Type.STRING),
        "fixed_ips": Attribute("The port's addresses.", Type.LIST),
        "security_groups": Attribute("Ids of the security groups.", Type.LIST),
        "tenant_id": Attribute("The project that owns the port.", Type.STRING),
        "allowed_address_pairs": Attribute("Further addresses that traffic may come from.", Type.LIST),
        "subnets": Attribute("The subnets of the port's addresses, in full.", Type.LIST),
        "network": Attribute("The network, in full.", Type.MAP, support=Support(version="11.0.0")),
        "port_security_enabled": Attribute(
            "Whether the port is protected.", Type.BOOLEAN, support=Support(version="5.0.0")
        ),
        "qos_policy_id": Attribute(
            "Id of the policy of quality of service.", Type.STRING, support=Support(version="6.0.0")
        ),
        "dns_assignment": Attribute("The port's names in the DNS.", Type.MAP, support=Support(version="7.0.0")),
        "propagate_uplink_status": Attribute(
            "Whether the guest sees the status of the uplink.", Type.BOOLEAN, support=Support(version="15.0.0")
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        yield from super().validate(properties)
        if properties.get("fixed_ips") and properties.get("no_fixed_ips") is True:
            yield "fixed_ips cannot be given together with no_fixed_ips"

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return subnets_of(node.properties.get("network"), graph)

    def replacement_reason(
        self, before: Mapping[str, Any], after: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> str | None:
        return f"replacement_policy is {_ALWAYS}" if after.get("replacement_policy") == _ALWAYS else None

    async def create_body(self, call: Call) -> dict[str, Any]:
        return _with_addresses(call.properties, await super().create_body(call))

    async def update_body(self, call: Call) -> dict[str, Any]:
        body = _with_addresses(call.changed, await super().update_body(call))
        if "security_groups" in body and body["security_groups"] is None:
            body["security_groups"] = [await call.cloud.find("neutron.security_group", "default")]
        if _PROFILE in body:
            body[_PROFILE] = await self._merged_profile(call, body[_PROFILE])
        return body

    async def _merged_profile(self, call: Call, wanted: Mapping[str, Any] | None) -> dict[str, Any]:
        """The binding profile with our changes on top: others (nova) keep things of theirs in it."""
        before = ((call.previous or {}).get("value_specs") or {}).get(_PROFILE) or {}
        after = wanted or {}
        profile = dict((await self.show(call) or {}).get(_PROFILE) or {})
        for key in before.keys() | after.keys():
            if before.get(key) != after.get(key):
                profile[key] = after.get(key)
        return {key: value for key, value in profile.items() if value is not None}

    async def make_way(self, call: Call) -> Outcome:
        """Without addresses, for the replacement may ask for the same (facts: neutron.yaml, prepare_for_replace)."""
        if _GIVEN_UP not in call.data:
            call.data[_GIVEN_UP] = (await self.show(call) or {}).get("fixed_ips") or []
            return Again(after=0.0)
        return await conclusive(_address(call, str(call.physical_id), []))

    async def take_back(self, call: Call) -> Outcome:
        """The same addresses again; the replacement, if it has them, loses its own."""
        return await conclusive(self._restored(call))

    async def _restored(self, call: Call) -> Outcome:
        addresses = call.data.get(_GIVEN_UP) or []
        for address in addresses:
            for holder in await _holders(call, address["ip_address"]):
                if not (is_named_alike(call, holder["name"]) and await is_recorded(call, holder["id"])):
                    return Failed(
                        f"port {call.physical_id} cannot have {address['ip_address']} back: port {holder['id']} has "
                        "it. Free it, then update the stack again.",
                        "IpAddressInUse",
                    )
                await _address(call, holder["id"], [])
        if addresses:
            await _address(call, str(call.physical_id), addresses)
        call.data.pop(_GIVEN_UP, None)
        return Done()

    def created(self, call: Call, shown: Mapping[str, Any]) -> None:
        for name in ("port_security_enabled", _VNIC_TYPE):
            call.data[name] = shown.get(name)

    async def computed_attribute(self, call: Call, name: str) -> Any:
        try:
            return await (self._network(call) if name == "network" else self._subnets(call))
        except CloudError:
            return None

    async def _network(self, call: Call) -> Any:
        answer = await call.cloud.get("neutron", f"/v2.0/networks/{call.properties['network']}")
        return answer["network"]

    async def _subnets(self, call: Call) -> list[Any] | None:
        port = await self.show(call)
        if port is None:
            return None
        identifiers = [address["subnet_id"] for address in port["fixed_ips"]]
        if not identifiers:
            return []
        listed = await call.cloud.list("neutron", "/v2.0/subnets", "subnets", {"id": sorted(set(identifiers))})
        subnets = {subnet["id"]: subnet for subnet in listed}
        return [subnets[identifier] for identifier in identifiers if identifier in subnets]


async def _holders(call: Call, ip_address: str) -> list[dict[str, Any]]:
    """The other ports of the network that have an address; one at most."""
    params = {"network_id": call.properties["network"], "fixed_ips": f"ip_address={ip_address}"}
    listed: list[dict[str, Any]] = await call.cloud.list("neutron", "/v2.0/ports", "ports", params)
    return [port for port in listed if port["id"] != call.physical_id]


async def _address(call: Call, port: str, addresses: list[Any]) -> Outcome:
    """Give a port exactly these addresses; one that is gone has none."""
    body = {"port": {"fixed_ips": addresses}}
    await call.cloud.put("neutron", f"/v2.0/ports/{port}", body, ok=() if addresses else (404,))
    return Done()


def _with_addresses(properties: Mapping[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """A port without addresses says so; no addresses asked for leaves the choice to Neutron, or things as they are."""
    if not body.get("fixed_ips"):
        body.pop("fixed_ips", None)
    return {**body, "fixed_ips": []} if properties.get("no_fixed_ips") else body
