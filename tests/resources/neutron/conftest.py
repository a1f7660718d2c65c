"""Neutron objects for other types to build on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_interface import RouterInterface
from stoker.resources.neutron.subnet import Subnet
from tests.resources.resource_harness import Bench, Resource

MakeBench = Callable[[type[ResourceType]], Bench]
Show = Callable[[str, Resource], Awaitable[dict[str, object]]]


@dataclass(frozen=True)
class Site:
    """Ids of a network with a subnet, and of the cloud's external network."""

    network: str
    subnet: str
    public: str


@pytest.fixture
async def site(bench: MakeBench, cloud: Cloud) -> Site:
    """A network with the subnet 10.1.0.0/24."""
    network = str((await bench(Net).create({"name": "site"}, "net")).physical_id)
    subnet = await bench(Subnet).create({"network": network, "cidr": "10.1.0.0/24"}, "subnet")
    return Site(network, str(subnet.physical_id), await cloud.find("neutron.network", "public"))


@dataclass(frozen=True)
class RouterPath:
    """Ids of a router between the site and the external network, and of a port behind it."""

    router: str
    port: str
    interface: Resource


@pytest.fixture
async def router_path(bench: MakeBench, site: Site) -> RouterPath:
    """A router with an interface on the site and an external gateway."""
    router = str((await bench(Router).create({"external_gateway_info": {"network": "public"}}, "router")).physical_id)
    interface = await bench(RouterInterface).create({"router": router, "subnet": site.subnet}, "interface")
    port = await bench(Port).create({"network": site.network}, "port")
    return RouterPath(router, str(port.physical_id), interface)
