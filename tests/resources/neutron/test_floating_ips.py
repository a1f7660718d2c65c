"""OS::Neutron::FloatingIP and FloatingIPAssociation on the emulated network service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.neutron.floating_ip_association import FloatingIPAssociation
from stoker.resources.neutron.port import Port
from stoker.schema.unknown import Unknown
from tests.resources.neutron.neutron_graphs import Definition
from tests.resources.resource_harness import BadProperties, Bench

SUBNET, PORT, INTERFACE = "OS::Neutron::Subnet", "OS::Neutron::Port", "OS::Neutron::RouterInterface"
FLOATING = "OS::Neutron::FloatingIP"


async def floating_ip(cloud: Cloud, identifier: Any) -> dict[str, Any]:
    body: dict[str, Any] = (await cloud.get("neutron", f"/v2.0/floatingips/{identifier}"))["floatingip"]
    return body


class TestFloatingIP:
    async def test_lifecycle(self, bench: Any, router_path: Any, site: Any, cloud: Cloud, calls: list[str]) -> None:
        floating: Bench = bench(FloatingIP)
        calls.clear()
        address = await floating.create({"floating_network": site.public, "port_id": router_path.port})
        assert [call.split()[0] for call in calls] == ["GET", "POST"]  # what looks like an id may be a name
        made = await floating_ip(cloud, address.physical_id)
        assert (made["port_id"], made["router_id"]) == (router_path.port, router_path.router)
        assert made["description"].startswith("web-thing-")
        assert str(await floating.attribute(address, "floating_ip_address")).startswith("172.24.4.")
        assert await floating.attribute(address, "port_id") == router_path.port
        await floating.update(address, {"floating_network": site.public})
        assert (await floating_ip(cloud, address.physical_id))["port_id"] is None
        await floating.update(address, {"floating_network": site.public, "port_id": router_path.port})
        assert (await floating_ip(cloud, address.physical_id))["port_id"] == router_path.port
        await floating.delete(address)
        await floating.delete(address)
        with pytest.raises(CloudError, match="404"):
            await floating_ip(cloud, address.physical_id)

    async def test_one_of_several_addresses(self, bench: Any, router_path: Any, site: Any, cloud: Cloud) -> None:
        fixed_ips = [{"ip_address": "10.1.0.50"}, {"ip_address": "10.1.0.51"}]
        port = (await bench(Port).create({"network": site.network, "fixed_ips": fixed_ips}, "port2")).physical_id
        floating: Bench = bench(FloatingIP)
        properties = {"floating_network": "public", "port_id": port}
        address = await floating.create({**properties, "fixed_ip_address": "10.1.0.51"})
        assert (await floating_ip(cloud, address.physical_id))["fixed_ip_address"] == "10.1.0.51"
        await floating.update(address, {**properties, "fixed_ip_address": "10.1.0.50"})
        assert await floating.attribute(address, "fixed_ip_address") == "10.1.0.50"
        with pytest.raises(BadProperties, match="port_id"):
            await floating.finalized({"floating_network": "public", "fixed_ip_address": "10.1.0.51"})

    async def test_a_changed_dns_name_is_reported_as_unchanged(self, bench: Any, site: Any, calls: list[str]) -> None:
        floating: Bench = bench(FloatingIP)
        address = await floating.create({"floating_network": site.public, "dns_name": "one"})
        calls.clear()
        outcome = await floating.update(address, {"floating_network": site.public, "dns_name": "two"})
        assert isinstance(outcome, Done)
        assert "dns_name" in outcome.note
        assert calls == []

    async def test_an_interrupted_creation_is_found(self, bench: Any, site: Any) -> None:
        floating: Bench = bench(FloatingIP)
        await floating.create({"floating_network": site.public})
        found = await floating.crash_after_create({"floating_network": site.public})
        assert found.physical_id not in (None, *floating.recorded)
        described = {"floating_network": site.public, "value_specs": {"description": "mine"}}
        await floating.create(described)
        found = await floating.crash_after_create(described)
        assert found.physical_id not in (None, *floating.recorded)

    def test_the_gateway_to_its_network_comes_first(self) -> None:
        net = Unknown.of("net")
        definition = Definition(
            gateway=("OS::Neutron::RouterGateway", {"router_id": "r", "network": net}),
            router=("OS::Neutron::Router", {"external_gateway_info": {"network": net}}),
            other=("OS::Neutron::Router", {"external_gateway_info": {"network": "other"}}),
            closed=("OS::Neutron::Router", {}),
            address=(FLOATING, {"floating_network": net}),
        )
        assert definition.requirements(FloatingIP, "address") == {"gateway", "router"}

    def test_the_interface_on_its_ports_subnet_comes_first(self) -> None:
        subnet, far, net, port = (Unknown.of(name) for name in ("subnet", "far", "net", "port"))
        definition = Definition(
            near=(INTERFACE, {"router": "r", "subnet": subnet}),
            away=(INTERFACE, {"router": "r", "subnet": far}),
            old=(INTERFACE, {"router": "r", "subnet": "an-old-subnet"}),
            by_port=(INTERFACE, {"router": "r", "port": "p"}),
            port=(PORT, {"network": net, "fixed_ips": [{"subnet": subnet}]}),
            loose=(PORT, {"network": net}),
            stranger=(PORT, {"network": net, "fixed_ips": [{"subnet": far}]}),
            address=(FLOATING, {"floating_network": "public", "port_id": port}),
            anywhere=(FLOATING, {"floating_network": "public", "port_id": Unknown.of("loose")}),
            nowhere=(FLOATING, {"floating_network": "public"}),
        )
        assert definition.requirements(FloatingIP, "address") == {"near", "by_port"}
        assert definition.requirements(FloatingIP, "anywhere") == {"near", "away", "by_port"}
        assert definition.requirements(FloatingIP, "nowhere") == set()


class TestFloatingIPAssociation:
    @pytest.fixture
    async def addresses(self, bench: Any, site: Any) -> list[str]:
        floating: Bench = bench(FloatingIP)
        return [str((await floating.create({"floating_network": site.public})).physical_id) for _ in range(2)]

    async def test_lifecycle(
        self, bench: Any, router_path: Any, addresses: list[str], cloud: Cloud, calls: list[str], site: Any
    ) -> None:
        first, second = addresses
        associations: Bench = bench(FloatingIPAssociation)
        calls.clear()
        association = await associations.create({"floatingip_id": first, "port_id": router_path.port})
        assert [call.split()[0] for call in calls] == ["PUT"]
        assert associations.reference(association) == f"{first}:port_id={router_path.port}"
        assert (await floating_ip(cloud, first))["port_id"] == router_path.port
        await associations.update(association, {"floatingip_id": second, "port_id": router_path.port})
        assert (await floating_ip(cloud, first))["port_id"] is None
        assert (await floating_ip(cloud, second))["port_id"] == router_path.port
        await associations.delete(association)
        assert (await floating_ip(cloud, second))["port_id"] is None
        await cloud.delete("neutron", f"/v2.0/floatingips/{second}")
        await associations.delete(association)

    async def test_an_interrupted_creation_is_found(self, bench: Any, router_path: Any, addresses: list[str]) -> None:
        associations: Bench = bench(FloatingIPAssociation)
        properties = {"floatingip_id": addresses[0], "port_id": router_path.port}
        call = associations.call(associations.resource(), "CREATE", await associations.finalized(properties))
        assert await FloatingIPAssociation().find(call) is None
        found = await associations.crash_after_create(properties)
        assert found.physical_id == f"{addresses[0]}:port_id={router_path.port}"
        assert not await FloatingIPAssociation().needs_replacement_after_failure(
            associations.call(found, "UPDATE", found.properties)
        )

    async def test_reassociated_floating_ip_is_kept(
        self, bench: Any, router_path: Any, site: Any, addresses: list[str], cloud: Cloud
    ) -> None:
        associations: Bench = bench(FloatingIPAssociation)
        old = await associations.create({"floatingip_id": addresses[0], "port_id": router_path.port})
        port = (await bench(Port).create({"network": site.network}, "port2")).physical_id
        await associations.create({"floatingip_id": addresses[0], "port_id": port})
        await associations.delete(old)
        assert (await floating_ip(cloud, addresses[0]))["port_id"] == port

    def test_the_interface_on_its_ports_subnet_comes_first(self) -> None:
        definition = Definition(
            subnet=(SUBNET, {"network": "n", "cidr": "10.0.0.0/24"}),
            near=(INTERFACE, {"router": "r", "subnet": Unknown.of("subnet")}),
            port=(PORT, {"network": "n", "fixed_ips": [{"subnet": Unknown.of("subnet")}]}),
            association=("OS::Neutron::FloatingIPAssociation", {"floatingip_id": "f", "port_id": Unknown.of("port")}),
        )
        assert definition.requirements(FloatingIPAssociation, "association") == {"near"}
