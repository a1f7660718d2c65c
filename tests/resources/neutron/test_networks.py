"""OS::Neutron::Net, ProviderNet and Subnet on the emulated network service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import CloudError, ResourceActionNotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.provider_net import ProviderNet
from stoker.resources.neutron.subnet import Subnet
from tests.resources.resource_harness import BadProperties, Bench


async def shown(cloud: Cloud, plural: str, identifier: str | None) -> dict[str, Any]:
    body: dict[str, Any] = await cloud.get("neutron", f"/v2.0/{plural}/{identifier}")
    return dict(body[plural[:-1]])


class TestNet:
    async def test_lifecycle(self, bench: Any, cloud: Cloud) -> None:
        nets: Bench = bench(Net)
        net = await nets.create({"tags": ["a"], "value_specs": {"description": "one"}})
        made = await shown(cloud, "networks", net.physical_id)
        assert made["name"].startswith("web-thing-")
        assert (made["tags"], made["description"], made["status"]) == (["a"], "one", "ACTIVE")
        assert net.data == {"port_security_enabled": True}
        await nets.update(net, {"name": "new", "value_specs": {"description": "two"}})
        made = await shown(cloud, "networks", net.physical_id)
        assert (made["name"], made["tags"], made["description"]) == ("new", [], "two")
        assert await nets.attribute(net, "subnets") == []
        assert await nets.attribute(net, "segments") == []  # Neutron shows segments to administrators only
        await nets.delete(net)
        with pytest.raises(CloudError, match="404"):
            await shown(cloud, "networks", net.physical_id)

    async def test_a_dns_domain_removed_from_the_template_is_cleared(self, bench: Any, cloud: Cloud) -> None:
        nets: Bench = bench(Net)
        net = await nets.create({"dns_domain": "example.org."})
        assert (await shown(cloud, "networks", net.physical_id))["dns_domain"] == "example.org."
        await nets.update(net, {})
        assert (await shown(cloud, "networks", net.physical_id))["dns_domain"] == ""

    async def test_one_request_if_it_is_ready_immediately(self, bench: Any, calls: list[str]) -> None:
        nets: Bench = bench(Net)
        net = await nets.create({})
        assert len(calls) == 1
        assert nets.entries == [Done(physical_id=net.physical_id)]

    async def test_an_interrupted_creation_is_found(self, bench: Any) -> None:
        nets: Bench = bench(Net)
        assert (await nets.crash_after_create({})).physical_id is not None

    async def test_value_specs_may_not_hide_properties(self, bench: Any) -> None:
        with pytest.raises(BadProperties, match="shared"):
            await bench(Net).finalized({"value_specs": {"shared": True}})

    async def test_dhcp_agents_of_network(self, admin: Cloud, clock: Any, served: Any) -> None:
        nets = Bench(Net, admin, clock, served.advance)
        agents = [a["id"] for a in await admin.list("neutron", "/v2.0/agents", "agents", {"agent_type": "DHCP agent"})]
        net = await nets.create({"dhcp_agent_ids": agents[:1]})
        path = f"/v2.0/networks/{net.physical_id}/dhcp-agents"
        assert [agent["id"] for agent in await admin.list("neutron", path, "agents")] == agents[:1]
        await nets.update(net, {"dhcp_agent_ids": []})
        assert await admin.list("neutron", path, "agents") == []


class TestProviderNet:
    @pytest.fixture
    def nets(self, admin: Cloud, clock: Any, served: Any) -> Bench:
        return Bench(ProviderNet, admin, clock, served.advance)

    async def test_lifecycle(self, nets: Bench) -> None:
        properties = {"network_type": "vlan", "physical_network": "public", "segmentation_id": "101"}
        net = await nets.create({**properties, "router_external": True})
        made = await shown(nets.cloud, "networks", net.physical_id)
        assert made["provider:network_type"] == "vlan"
        assert made["provider:segmentation_id"] == 101
        assert made["shared"] is True
        assert made["router:external"] is True
        await nets.update(net, {**properties, "name": "lab", "shared": False, "tags": ["x"]})
        made = await shown(nets.cloud, "networks", net.physical_id)
        assert (made["name"], made["shared"], made["router:external"], made["tags"]) == ("lab", False, False, ["x"])
        assert await nets.attribute(net, "status") == "ACTIVE"
        assert (await nets.crash_after_create({"network_type": "flat", "physical_network": "extra"})).physical_id
        await nets.delete(net)
        with pytest.raises(CloudError, match="404"):
            await shown(nets.cloud, "networks", net.physical_id)

    @pytest.mark.parametrize(
        ("properties", "problem"),
        [
            ({"network_type": "flat", "segmentation_id": "1"}, "segmentation_id"),
            ({"network_type": "vxlan", "physical_network": "public"}, "physical_network"),
            ({"network_type": "token-ring"}, "not one of"),
        ],
    )
    async def test_rules(self, nets: Bench, properties: dict[str, str], problem: str) -> None:
        with pytest.raises(BadProperties, match=problem):
            await nets.finalized(properties)


class TestSubnet:
    async def test_lifecycle(self, bench: Any, site: Any, cloud: Cloud, calls: list[str]) -> None:
        subnets: Bench = bench(Subnet)
        calls.clear()
        pools = [{"start": "10.2.0.10", "end": "10.2.0.99"}]
        ranges = {"network": site.network, "cidr": "10.2.0.0/24", "allocation_pools": pools}
        subnet = await subnets.create({**ranges, "gateway_ip": ""})
        assert len(calls) == 1
        made = await shown(cloud, "subnets", subnet.physical_id)
        assert (made["gateway_ip"], made["enable_dhcp"], made["cidr"]) == (None, True, "10.2.0.0/24")
        assert (
            await subnets.update(
                subnet,
                {
                    **ranges,
                    "gateway_ip": "10.2.0.254",
                    "host_routes": [{"destination": "10.3.0.0/24", "nexthop": "10.2.0.9"}],
                    "enable_dhcp": False,
                    "tags": ["x"],
                },
            )
            == Done()
        )
        made = await shown(cloud, "subnets", subnet.physical_id)
        assert (made["gateway_ip"], made["enable_dhcp"], made["tags"]) == ("10.2.0.254", False, ["x"])
        assert made["host_routes"] == [{"destination": "10.3.0.0/24", "nexthop": "10.2.0.9"}]
        assert await subnets.attribute(subnet, "allocation_pools", 0, "start") == "10.2.0.10"
        await subnets.delete(subnet)
        with pytest.raises(CloudError, match="404"):
            await shown(cloud, "subnets", subnet.physical_id)

    async def test_an_interrupted_creation_is_found(self, bench: Any, site: Any) -> None:
        found = await bench(Subnet).crash_after_create({"network": site.network, "cidr": "10.2.0.0/24"})
        assert found.physical_id is not None

    async def test_the_gateway_is_chosen_only_once(self, bench: Any, site: Any) -> None:
        subnets: Bench = bench(Subnet)
        properties = {"network": site.network, "cidr": "10.2.0.0/24"}
        subnet = await subnets.create({**properties, "gateway_ip": "10.2.0.7"})
        with pytest.raises(ResourceActionNotSupported):
            await subnets.update(subnet, {**properties, "gateway_ip": "auto"})

    @pytest.mark.parametrize(
        ("properties", "problem"),
        [
            ({}, "cidr and subnetpool"),
            ({"cidr": "10.0.0.0/8", "subnetpool": "p"}, "cidr and subnetpool"),
            ({"cidr": "10.0.0.0/8", "prefixlen": 24}, "prefixlen"),
            ({"cidr": "10.0.0.0/8", "ipv6_ra_mode": "slaac"}, "ip_version 6"),
            ({"cidr": "10.0.0.0/8", "gateway_ip": "first"}, "gateway_ip"),
        ],
    )
    async def test_rules(self, bench: Any, properties: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadProperties, match=problem):
            await bench(Subnet).finalized({"network": "n", **properties})
