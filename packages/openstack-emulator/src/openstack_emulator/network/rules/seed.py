"""What a new cloud contains: as DevStack sets it up, an external network, and one with a router for `demo`."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.identity.records import DEFAULT_DOMAIN
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.network.rules.kinds.kind import Actor
from openstack_emulator.network.rules.networks import Networks
from openstack_emulator.network.rules.pools import SubnetPools
from openstack_emulator.network.rules.routers import Routers
from openstack_emulator.network.rules.subnets import Subnets

PUBLIC: Mapping[str, object] = {
    "name": "public",
    "router:external": True,
    "is_default": True,
    "provider:network_type": "flat",
    "provider:physical_network": "public",
}
PUBLIC_SUBNET: Mapping[str, object] = {
    "name": "public-subnet",
    "ip_version": 4,
    "cidr": "172.24.4.0/24",
    "gateway_ip": "172.24.4.1",
    "enable_dhcp": False,
}
PRIVATE_SUBNET: Mapping[str, object] = {"name": "private-subnet", "ip_version": 4, "cidr": "10.0.0.0/26"}
DEFAULT_POOL: Mapping[str, object] = {
    "name": "shared-default-subnetpool-v4",
    "prefixes": ["10.0.0.0/22"],
    "default_prefixlen": 26,
    "shared": True,
    "is_default": True,
}
"""What networks are made of that projects get without asking for details."""
DEMO = "demo"


def seed(cloud: Cloud, networks: Networks, subnets: Subnets, pools: SubnetPools, routers: Routers) -> None:
    """Without identity's projects `admin` and `demo` there is nothing."""
    projects = cloud.of(Identity).projects.rows
    admin = projects.first(name="admin", domain_id=DEFAULT_DOMAIN)
    demo = projects.first(name=DEMO, domain_id=DEFAULT_DOMAIN)
    if admin is None or demo is None:
        return
    operator, owner = Actor(admin.id, admin=True), Actor(demo.id)
    public = networks.create(operator, PUBLIC)
    subnets.create(operator, {**PUBLIC_SUBNET, "network_id": public.id})
    pools.create(operator, DEFAULT_POOL)
    private = networks.create(owner, {"name": "private"})
    networks.rows.update(private, preset=True)
    subnet = subnets.create(owner, {**PRIVATE_SUBNET, "network_id": private.id})
    gateway = {"network_id": public.id}
    router = routers.create(owner, {"name": "router1", "external_gateway_info": gateway})
    routers.add_interface(owner, router, "", subnet.id)
