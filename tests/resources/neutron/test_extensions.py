"""The types of Neutron's extensions on the emulated network service: created, changed in place, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, CloudError
from stoker.cloud.session import Cloud
from stoker.plugins import capabilities
from stoker.plugins.resource import ResourceType
from stoker.resources.neutron import TYPES
from stoker.resources.neutron.rbac_policy import RBACPolicy
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import BadProperties, Bench, Resource

KINDS = {kind.type_name.removeprefix("OS::Neutron::"): kind for kind in TYPES}
MakeBench = Callable[[type[ResourceType]], Bench]


@pytest.fixture
def bench(admin: Cloud, clock: ManualClock, served: ServedCloud) -> MakeBench:
    """Creates a bench for a type, as the administrator."""
    return lambda kind: Bench(kind, admin, clock, served.advance)


class Scenario:
    """Creates what the tested types need, and shows objects."""

    def __init__(self, bench: MakeBench, cloud: Cloud) -> None:
        self.bench, self.cloud = bench, cloud

    async def make(self, kind: str, properties: dict[str, Any] | None = None, name: str = "other") -> str:
        made = await self.bench(KINDS[kind]).create(properties or {}, name)
        return str(made.physical_id)

    async def network(self) -> tuple[str, str]:
        network = await self.make("Net")
        return network, await self.make("Subnet", {"network": network, "cidr": "10.50.0.0/24"})

    async def shown(self, bench: Bench, resource: Resource) -> dict[str, Any]:
        kind: Any = bench.kind
        found: dict[str, Any] | None = await kind.show(bench.call(resource, "CHECK", resource.properties))
        assert found is not None, "the object does not exist"
        return found


@pytest.fixture
def rig(bench: MakeBench, admin: Cloud) -> Scenario:
    return Scenario(bench, admin)


async def life(
    rig: Scenario, kind: str, first: dict[str, Any], second: dict[str, Any], fields: dict[str, Any]
) -> Bench:
    """Create, update and delete one object; after the update it must have the values `fields`."""
    bench = rig.bench(KINDS[kind])
    made = await bench.create(first)
    before = made.physical_id
    await bench.update(made, second)
    assert made.physical_id == before
    found = await rig.shown(bench, made)
    assert {name: found[name] for name in fields} == fields
    await bench.delete(made)
    await bench.delete(made)
    path = bench.kind.member_path(bench.call(made, "CHECK", made.properties))  # type: ignore[attr-defined]
    with pytest.raises(CloudError, match="404"):
        await rig.cloud.get("neutron", path)
    return bench


PLAIN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "AddressScope": ({"ip_version": 6}, {"ip_version": 6, "name": "new", "shared": True}),
    "FirewallRule": (
        {"protocol": "tcp", "destination_port": "80"},
        {"protocol": "udp", "destination_port": "53", "action": "allow", "enabled": False},
    ),
    "FlowClassifier": ({"protocol": "tcp"}, {"protocol": "tcp", "name": "new", "description": "text"}),
    "IKEPolicy": ({}, {"name": "new", "ike_version": "v2", "auth_algorithm": "sha256", "pfs": "group14"}),
    "IPsecPolicy": ({}, {"name": "new", "description": "text"}),
    "QoSPolicy": ({"shared": True}, {"name": "new", "shared": False, "description": "text"}),
    "SubnetPool": (
        {"prefixes": ["10.70.0.0/16"], "min_prefixlen": 20},
        {"prefixes": ["10.70.0.0/15"], "min_prefixlen": 18, "default_prefixlen": 24, "name": "new"},
    ),
}


@pytest.mark.parametrize("kind", PLAIN)
async def test_an_object_of_its_own(rig: Scenario, kind: str) -> None:
    first, second = PLAIN[kind]
    await life(rig, kind, first, second, second)


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("QoSBandwidthLimitRule", {"max_kbps": 10}, {"max_kbps": 20, "max_burst_kbps": 5, "direction": "ingress"}),
        ("QoSDscpMarkingRule", {"dscp_mark": 8}, {"dscp_mark": 56}),
        ("QoSMinimumBandwidthRule", {"min_kbps": 10}, {"min_kbps": 20, "direction": "ingress"}),
        ("QoSMinimumPacketRateRule", {"min_kpps": 10}, {"min_kpps": 20, "direction": "any"}),
    ],
)
async def test_a_rule_of_a_qos_policy(rig: Scenario, kind: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    policy = await rig.make("QoSPolicy", {"name": "fast"})
    await life(rig, kind, {"policy": "fast", **first}, {"policy": policy, **second}, second)
    bench = rig.bench(KINDS["QoSPolicy"])
    rule = await rig.make(kind, {"policy": policy, **second})
    shown = await rig.cloud.get("neutron", f"/v2.0/qos/policies/{policy}")
    assert [entry["id"] for entry in shown["policy"]["rules"]] == [rule]
    assert bench.kind.attributes.keys() == {"rules"}


async def test_a_segment_of_a_network(rig: Scenario) -> None:
    network, _ = await rig.network()
    given = {"network": network, "network_type": "vlan", "physical_network": "extra", "segmentation_id": 7}
    await life(rig, "Segment", given, {**given, "name": "new"}, {"name": "new", "segmentation_id": 7})


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"network_type": "flat"}, "physical_network must be given"),
        ({"network_type": "vlan", "physical_network": "extra"}, "segmentation_id from 1 to 4094"),
        ({"network_type": "vlan", "physical_network": "extra", "segmentation_id": 5000}, "from 1 to 4094"),
        ({"network_type": "vxlan", "physical_network": "extra"}, "physical_network cannot be given"),
        ({"network_type": "local", "segmentation_id": 7}, "segmentation_id cannot be given"),
    ],
)
async def test_a_segment_that_cannot_exist(rig: Scenario, properties: dict[str, Any], why: str) -> None:
    with pytest.raises(BadProperties, match=why):
        await rig.bench(KINDS["Segment"]).finalized({"network": "public", **properties})


async def test_pool_prefixes_cannot_be_removed(rig: Scenario) -> None:
    bench = rig.bench(KINDS["SubnetPool"])
    made = await bench.create({"prefixes": ["10.70.0.0/16", "10.71.0.0/16"]})
    found = await rig.shown(bench, made)
    assert found["prefixes"] == ["10.70.0.0/15"]  # Neutron joins adjacent prefixes
    with pytest.raises(BadValue, match=r"10\.71\.0\.0/16 would be removed"):
        await bench.update(made, {"prefixes": ["10.70.0.0/16"]})
    with pytest.raises(BadProperties, match="min_prefixlen 28 is greater than default_prefixlen 24"):
        await bench.finalized({"prefixes": ["10.0.0.0/8"], "min_prefixlen": 28, "default_prefixlen": 24})


async def test_a_policy_shares_a_network_with_a_project(rig: Scenario, served: ServedCloud) -> None:
    await rig.make("Net", {"name": "lab"})
    given = {"object_type": "network", "object_id": "lab", "action": "access_as_shared"}
    bench = rig.bench(RBACPolicy)
    made = await bench.create({**given, "target_tenant": "*"})
    token = served.token("demo", "demo")

    def visible() -> bool:
        listed = served.call("GET", "/network/v2.0/networks?name=lab", token=token).json["networks"]
        return bool(listed)

    assert visible()
    await bench.update(made, {**given, "target_tenant": "5d1f0a6e8c1b4b7f9d3a2e6c4b8f7a90"})
    assert not visible()
    await bench.delete(made)
    with pytest.raises(BadProperties, match="only possible for object_type network"):
        await bench.finalized(
            {**given, "object_type": "subnetpool", "action": "access_as_external", "target_tenant": "*"}
        )


async def test_a_vpn_service_and_a_connection(rig: Scenario) -> None:
    _, subnet = await rig.network()
    router = await rig.make("Router", {"external_gateway_info": {"network": "public"}})
    await rig.make("RouterInterface", {"router": router, "subnet": subnet})
    place = {"router": router, "subnet": subnet}
    await life(rig, "VPNService", place, {**place, "name": "new", "admin_state_up": False}, {"name": "new"})
    given = {
        "vpnservice_id": await rig.make("VPNService", place),
        "ikepolicy_id": await rig.make("IKEPolicy"),
        "ipsecpolicy_id": await rig.make("IPsecPolicy"),
        "peer_address": "203.0.113.5",
        "peer_id": "203.0.113.5",
        "peer_cidrs": ["10.90.0.0/24"],
        "psk": "secret",
        "dpd": {"actions": "restart", "interval": 5},
    }
    body = {"description": "text", "dpd": {"action": "restart", "interval": 5, "timeout": 120}}
    await life(rig, "IPsecSiteConnection", given, {**given, "description": "text"}, body)
    assert KINDS["IPsecSiteConnection"].properties["psk"].secret


async def test_a_firewall_with_a_policy(rig: Scenario) -> None:
    rules = [await rig.make("FirewallRule", {"protocol": protocol}, protocol) for protocol in ("tcp", "any")]
    await life(
        rig, "FirewallPolicy", {"firewall_rules": rules[:1]}, {"firewall_rules": rules}, {"firewall_rules": rules}
    )
    policy, other = [await rig.make("FirewallPolicy", {"firewall_rules": []}, name) for name in ("a", "b")]
    changed = {"firewall_policy_id": other, "admin_state_up": False}
    await life(rig, "Firewall", {"firewall_policy_id": policy}, changed, changed)


async def test_a_chain_of_services(rig: Scenario) -> None:
    network, _ = await rig.network()
    ports = [await rig.make("Port", {"network": network}, name) for name in ("one", "two")]
    pair = {"ingress": ports[0], "egress": ports[1]}
    await life(rig, "PortPair", pair, {**pair, "name": "new"}, {"name": "new", **pair})
    one, two = [await rig.make("PortPair", pair, name) for name in ("a", "b")]
    await life(rig, "PortPairGroup", {"port_pairs": [one]}, {"port_pairs": [one, two]}, {"port_pairs": [one, two]})
    group = await rig.make("PortPairGroup", {"port_pairs": [one], "name": "servers"})
    classifier = await rig.make("FlowClassifier", {"protocol": "tcp"})
    body = {"port_pair_groups": [group], "flow_classifiers": [classifier]}
    await life(rig, "PortChain", {"port_pair_groups": ["servers"]}, {**body, "name": "new"}, body)


async def test_traffic_is_copied(rig: Scenario) -> None:
    network, _ = await rig.network()
    ports = [await rig.make("Port", {"network": network}, name) for name in ("one", "two")]
    await life(rig, "TaaS::TapService", {"port": ports[0]}, {"port": ports[0], "name": "new"}, {"name": "new"})
    service = await rig.make("TaaS::TapService", {"port": ports[0]})
    flow = {"port": ports[1], "tap_service": service, "direction": "IN", "vlan_filter": "1,5-8"}
    await life(
        rig, "TaaS::TapFlow", flow, {**flow, "description": "text"}, {"source_port": ports[1], "direction": "IN"}
    )


async def test_gateways_to_physical_networks(rig: Scenario) -> None:
    network, _ = await rig.network()
    devices = [{"device_name": "switch", "interfaces": [{"name": "eth1", "segmentation_id": [7]}]}]
    more = [*devices, {"device_name": "other", "interfaces": [{"name": "eth2"}]}]
    given = {"name": "rack", "devices": devices}
    await life(rig, "L2Gateway", given, {"name": "new", "devices": more}, {"name": "new", "devices": more})
    gateway = await rig.make("L2Gateway", given)
    bench = rig.bench(KINDS["L2GatewayConnection"])
    made = await bench.create({"l2_gateway_id": gateway, "network_id": network})
    await bench.delete(made)
    place = {"devices": [{"id": "one", "interface_name": "eth1"}]}
    vlan = {"network": network, "segmentation_type": "vlan", "segmentation_id": 7}
    await life(rig, "NetworkGateway", {**place, "connections": [vlan]}, {**place, "name": "new"}, {"name": "new"})
    gateways = rig.bench(KINDS["NetworkGateway"])
    with pytest.raises(BadProperties, match="segmentation_id must be given"):
        await gateways.finalized({**place, "connections": [{"network": network, "segmentation_type": "vlan"}]})
    moved = {"devices": [{"id": "two", "interface_name": "eth1"}]}
    assert isinstance(gateways.kind, capabilities.ConditionallyReplaced)
    assert gateways.kind.replacement_reason(place, moved, {"devices": moved["devices"]}) is not None


async def test_a_port_is_forwarded(rig: Scenario) -> None:
    network, subnet = await rig.network()
    router = await rig.make("Router", {"external_gateway_info": {"network": "public"}})
    await rig.make("RouterInterface", {"router": router, "subnet": subnet})
    port = await rig.make("Port", {"network": network, "fixed_ips": [{"ip_address": "10.50.0.9"}]})
    floating = await rig.make("FloatingIP", {"floating_network": "public"})
    given = {
        "floating_ip": floating,
        "internal_port": port,
        "internal_ip_address": "10.50.0.9",
        "internal_port_number": 22,
        "external_port": 2222,
        "protocol": "tcp",
    }
    bench = rig.bench(KINDS["FloatingIPPortForward"])
    made = await bench.create(given)
    await bench.run("check", made)
    await bench.update(made, {**given, "external_port": 2223, "internal_port_number": 23})
    found = await rig.shown(bench, made)
    assert (found["external_port"], found["internal_port"], found["internal_port_id"]) == (2223, 23, port)
    await bench.delete(made)
    with pytest.raises(BadProperties, match="internal_port_number must be given"):
        await bench.finalized({name: value for name, value in given.items() if name != "internal_port_number"})


async def test_metered_traffic(rig: Scenario) -> None:
    label = await rig.make("MeteringLabel", {"description": "text"})
    bench = rig.bench(KINDS["MeteringRule"])
    made = await bench.create({"metering_label_id": label, "remote_ip_prefix": "10.0.0.0/8"})
    assert await bench.attribute(made, "excluded") is False
    await bench.delete(made)


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_route_of_a_router(rig: Scenario, atomic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    _, subnet = await rig.network()
    router = await rig.make("Router", {"external_gateway_info": {"network": "public"}})
    await rig.make("RouterInterface", {"router": router, "subnet": subnet})

    async def offered(self: Cloud, service: str, alias: str) -> bool:
        return atomic

    monkeypatch.setattr(Cloud, "has_extension", offered)

    async def routes() -> list[str]:
        shown = await rig.cloud.get("neutron", f"/v2.0/routers/{router}")
        return sorted(route["destination"] for route in shown["router"]["routes"])

    bench = rig.bench(KINDS["ExtraRoute"])
    given = {"router_id": router, "nexthop": "10.50.0.7"}
    one = await bench.create({**given, "destination": "10.60.0.0/24"}, "one")
    await bench.create({**given, "destination": "10.61.0.0/24"}, "two")
    assert await routes() == ["10.60.0.0/24", "10.61.0.0/24"]
    await bench.delete(one)
    assert await routes() == ["10.61.0.0/24"]
