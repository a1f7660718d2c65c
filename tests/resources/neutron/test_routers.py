"""OS::Neutron::Router, RouterInterface and RouterGateway on the emulated network service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_gateway import RouterGateway
from stoker.resources.neutron.router_interface import RouterInterface
from stoker.schema.unknown import Unknown
from tests.resources.neutron.neutron_graphs import Definition
from tests.resources.resource_harness import BadProperties, Bench


async def router_of(cloud: Cloud, identifier: str | None) -> dict[str, Any]:
    body: dict[str, Any] = (await cloud.get("neutron", f"/v2.0/routers/{identifier}"))["router"]
    return body


class TestRouter:
    async def test_lifecycle(self, bench: Any, cloud: Cloud, calls: list[str]) -> None:
        routers: Bench = bench(Router)
        await cloud.find("neutron.network", "public")
        calls.clear()
        router = await routers.create({"external_gateway_info": {"network": "public"}})
        assert [call.split()[0] for call in calls] == ["POST"]
        made = await router_of(cloud, router.physical_id)
        assert made["name"].startswith("web-thing-")
        public = await cloud.find("neutron.network", "public")
        assert made["external_gateway_info"]["network_id"] == public
        assert await routers.attribute(router, "external_gateway_info", "network_id") == public
        await routers.update(router, {"name": "edge", "tags": ["x"], "admin_state_up": False})
        made = await router_of(cloud, router.physical_id)
        assert (made["name"], made["tags"], made["admin_state_up"]) == ("edge", ["x"], False)
        assert made["external_gateway_info"] is None
        await routers.delete(router)
        with pytest.raises(CloudError, match="404"):
            await router_of(cloud, router.physical_id)

    async def test_external_addresses_are_for_administrators(self, admin: Cloud, clock: Any) -> None:
        routers = Bench(Router, admin, clock)
        gateway = {"network": "public", "external_fixed_ips": [{"ip_address": "172.24.4.99"}], "enable_snat": False}
        router = await routers.create({"external_gateway_info": gateway})
        made = (await router_of(admin, router.physical_id))["external_gateway_info"]
        assert made["external_fixed_ips"][0]["ip_address"] == "172.24.4.99"
        assert made["enable_snat"] is False

    async def test_an_interrupted_creation_is_found(self, bench: Any) -> None:
        assert (await bench(Router).crash_after_create({})).physical_id is not None

    async def test_l3_agents_of_router(self, admin: Cloud, clock: Any) -> None:
        routers = Bench(Router, admin, clock)
        agents = await admin.list("neutron", "/v2.0/agents", "agents", {"agent_type": "L3 agent"})
        agent = agents[0]["id"]
        router = await routers.create({"l3_agent_ids": [agent]})
        path = f"/v2.0/routers/{router.physical_id}/l3-agents"
        assert [running["id"] for running in await admin.list("neutron", path, "agents")] == [agent]
        await routers.update(router, {})
        assert await admin.list("neutron", path, "agents") == []
        await routers.update(router, {"l3_agent_id": agent})
        assert [running["id"] for running in await admin.list("neutron", path, "agents")] == [agent]

    @pytest.mark.parametrize(
        ("properties", "problem"),
        [
            ({"l3_agent_id": "a", "l3_agent_ids": ["b"]}, "older form"),
            ({"distributed": True, "l3_agent_ids": ["b"]}, "distributed"),
            ({"distributed": True, "ha": True}, "cannot both be true"),
            ({"l3_agent_ids": ["a", "b"]}, "requires ha"),
            ({"external_gateway_info": {}}, "network"),
        ],
    )
    async def test_rules(self, bench: Any, properties: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadProperties, match=problem):
            await bench(Router).finalized(properties)

    def test_subnets_of_the_external_network_come_first(self) -> None:
        net = Unknown.of("net")
        definition = Definition(
            outside=("OS::Neutron::Subnet", {"network": net}),
            inside=("OS::Neutron::Subnet", {"network": "other"}),
            router=("OS::Neutron::Router", {"external_gateway_info": {"network": net}}),
            closed=("OS::Neutron::Router", {}),
        )
        assert definition.requirements(Router, "router") == {"outside"}
        assert definition.requirements(Router, "closed") == set()


class TestRouterInterface:
    async def test_on_a_subnet(self, bench: Any, router_path: Any, site: Any, cloud: Cloud, calls: list[str]) -> None:
        interfaces: Bench = bench(RouterInterface)
        assert router_path.interface.physical_id == f"{router_path.router}:subnet_id={site.subnet}"
        assert interfaces.reference(router_path.interface) == router_path.interface.physical_id
        ports = await cloud.list(
            "neutron", "/v2.0/ports", "ports", {"device_id": router_path.router, "network_id": site.network}
        )
        assert ports[0]["fixed_ips"] == [{"subnet_id": site.subnet, "ip_address": "10.1.0.1"}]
        assert await interfaces.attribute(router_path.interface, "show") is None
        calls.clear()
        await interfaces.delete(router_path.interface)
        await interfaces.delete(router_path.interface)
        assert [call.split()[0] for call in calls] == ["PUT", "PUT"]
        filters = {"device_id": router_path.router, "network_id": site.network}
        assert await cloud.list("neutron", "/v2.0/ports", "ports", filters) == []

    async def test_a_physical_id_of_old_stacks_is_accepted(
        self, bench: Any, router_path: Any, site: Any, cloud: Cloud
    ) -> None:
        router_path.interface.physical_id = f"{router_path.router}:{site.subnet}"
        await bench(RouterInterface).delete(router_path.interface)
        filters = {"device_id": router_path.router, "network_id": site.network}
        assert await cloud.list("neutron", "/v2.0/ports", "ports", filters) == []

    async def test_with_a_port(self, bench: Any, site: Any, cloud: Cloud) -> None:
        interfaces: Bench = bench(RouterInterface)
        router = (await cloud.post("neutron", "/v2.0/routers", {"router": {"name": "r"}}))["router"]["id"]
        body = {"port": {"network_id": site.network, "name": "foot", "fixed_ips": [{"ip_address": "10.1.0.200"}]}}
        port = (await cloud.post("neutron", "/v2.0/ports", body))["port"]["id"]
        found = await interfaces.crash_after_create({"router_id": "r", "port_id": "foot"})
        assert found.physical_id == f"{router}:port_id={port}"
        await interfaces.delete(found)
        assert await cloud.list("neutron", "/v2.0/ports", "ports", {"id": port}) == []

    async def test_an_interrupted_creation_is_found(
        self, bench: Any, site: Any, cloud: Cloud, router_path: Any
    ) -> None:
        interfaces: Bench = bench(RouterInterface)
        await interfaces.delete(router_path.interface)
        properties = {"router": router_path.router, "subnet": site.subnet}
        call = interfaces.call(interfaces.resource(), "CREATE", await interfaces.finalized(properties))
        assert await RouterInterface().find(call) is None
        found = await interfaces.crash_after_create(properties)
        assert found.physical_id == f"{router_path.router}:subnet_id={site.subnet}"
        call = interfaces.call(found, "UPDATE", found.properties)
        assert not await RouterInterface().needs_replacement_after_failure(call)
        interfaces.recorded.add(found.physical_id)
        assert await RouterInterface().find(call) is None

    async def test_an_older_interface_is_not_taken(self, bench: Any, site: Any, router_path: Any) -> None:
        interfaces: Bench = bench(RouterInterface)
        interfaces.advance(600)
        call = interfaces.call(router_path.interface, "CREATE", router_path.interface.properties)
        assert await RouterInterface().find(call) is None

    async def test_router_interface_in_use_by_floating_ip_is_kept(
        self, bench: Any, router_path: Any, site: Any, cloud: Cloud
    ) -> None:
        body = {"floatingip": {"floating_network_id": site.public, "port_id": router_path.port}}
        floating = (await cloud.post("neutron", "/v2.0/floatingips", body))["floatingip"]["id"]
        with pytest.raises(CloudError) as caught:
            await bench(RouterInterface).delete(router_path.interface)
        assert caught.value.conflict
        await cloud.delete("neutron", f"/v2.0/floatingips/{floating}")
        await bench(RouterInterface).delete(router_path.interface)

    @pytest.mark.parametrize("properties", [{}, {"subnet": "s", "port": "p"}])
    async def test_subnet_or_port(self, bench: Any, properties: dict[str, str]) -> None:
        with pytest.raises(BadProperties, match="exactly one"):
            await bench(RouterInterface).finalized({"router": "r", **properties})


class TestRouterGateway:
    async def test_lifecycle(self, bench: Any, site: Any, cloud: Cloud) -> None:
        gateways: Bench = bench(RouterGateway)
        router = (await cloud.post("neutron", "/v2.0/routers", {"router": {"name": "r"}}))["router"]["id"]
        gateway = await gateways.create({"router_id": router, "network_id": "public"})
        assert gateways.entries == [Done(physical_id=f"{router}:{site.public}")]
        assert (await router_of(cloud, router))["external_gateway_info"]["network_id"] == site.public
        await gateways.delete(gateway)
        assert (await router_of(cloud, router))["external_gateway_info"] is None
        await gateways.delete(gateway)
        found = await bench(RouterGateway).crash_after_create({"router_id": router, "network": "public"})
        assert found.physical_id == gateway.physical_id

    async def test_a_gateway_set_elsewhere_is_left_alone(
        self, bench: Any, site: Any, cloud: Cloud, admin: Cloud
    ) -> None:
        gateways: Bench = bench(RouterGateway)
        router = (await cloud.post("neutron", "/v2.0/routers", {"router": {"name": "r"}}))["router"]["id"]
        gateway = await gateways.create({"router_id": router, "network": site.public})
        body = {"network": {"name": "public2", "router:external": True}}
        other = (await admin.post("neutron", "/v2.0/networks", body))["network"]["id"]
        subnet = {"subnet": {"network_id": other, "ip_version": 4, "cidr": "172.30.0.0/24"}}
        await admin.post("neutron", "/v2.0/subnets", subnet)
        await gateways.create({"router_id": router, "network": other})
        await gateways.delete(gateway)
        assert (await router_of(cloud, router))["external_gateway_info"]["network_id"] == other

    def test_interfaces_and_subnets_come_first(self) -> None:
        definition = Definition(
            inside=("OS::Neutron::RouterInterface", {"router": "r", "subnet": "s"}),
            outside=("OS::Neutron::Subnet", {"network": "public", "cidr": "172.30.0.0/24"}),
            elsewhere=("OS::Neutron::RouterInterface", {"router": "q", "subnet": "s"}),
            gateway=("OS::Neutron::RouterGateway", {"router_id": "r", "network": "public"}),
        )
        assert definition.requirements(RouterGateway, "gateway") == {"inside", "outside"}
