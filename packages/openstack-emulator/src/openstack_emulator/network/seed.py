"""What a new cloud contains: as DevStack sets it up, an external network, and one with a router for `demo`."""

from __future__ import annotations

from openstack_emulator.core.store import Record
from openstack_emulator.identity.records import DEFAULT_DOMAIN, IdentityRecords
from openstack_emulator.network.kinds import Actor
from openstack_emulator.network.records import NetworkRecords

PUBLIC: Record = {
    "name": "public",
    "router:external": True,
    "is_default": True,
    "provider:network_type": "flat",
    "provider:physical_network": "public",
}
PUBLIC_SUBNET: Record = {
    "name": "public-subnet",
    "ip_version": 4,
    "cidr": "172.24.4.0/24",
    "gateway_ip": "172.24.4.1",
    "enable_dhcp": False,
}
PRIVATE_SUBNET: Record = {"name": "private-subnet", "ip_version": 4, "cidr": "10.0.0.0/26"}
DEFAULT_POOL: Record = {
    "name": "shared-default-subnetpool-v4",
    "prefixes": ["10.0.0.0/22"],
    "default_prefixlen": 26,
    "shared": True,
    "is_default": True,
}
"""What networks are made of that projects get without asking for details."""
DEMO = "demo"


def seed_network(network: NetworkRecords) -> None:
    """Agents first. Without identity's projects `admin` and `demo` there is nothing more."""
    network.agents.seed()
    identity = network.cloud.of(IdentityRecords)
    admin = identity.projects.first(name="admin", domain_id=DEFAULT_DOMAIN)
    demo = identity.projects.first(name=DEMO, domain_id=DEFAULT_DOMAIN)
    if admin is None or demo is None:
        return
    operator, owner = Actor(admin["id"], admin=True), Actor(demo["id"])
    public = network.networks.create(operator, PUBLIC)
    network.subnets.create(operator, {**PUBLIC_SUBNET, "network_id": public["id"]})
    network.subnetpools.create(operator, DEFAULT_POOL)
    private = network.networks.create(owner, {"name": "private"})
    network.networks.rows.update(private, _preset=True)
    subnet = network.subnets.create(owner, {**PRIVATE_SUBNET, "network_id": private["id"]})
    gateway = {"network_id": public["id"]}
    router = network.routers.create(owner, {"name": "router1", "external_gateway_info": gateway})
    network.routers.add_interface(owner, router, {"subnet_id": subnet["id"]})
