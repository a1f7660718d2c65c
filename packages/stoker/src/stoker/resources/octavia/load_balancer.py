"""OS::Octavia::LoadBalancer"""

from __future__ import annotations

from stoker.plugins.resource import Call
from stoker.resources import charges
from stoker.resources.declare import custom
from stoker.resources.octavia.allowances import LOAD_BALANCER
from stoker.resources.octavia.base import ADMIN_STATE_UP, NAME, OctaviaResource, collection
from stoker.schema.property import Attribute, Change, Property, Support, Type


class LoadBalancer(OctaviaResource):
    """An address from which connections are distributed."""

    type_name = "OS::Octavia::LoadBalancer"
    addresses_at = ("vip_address", "additional_vips.*.ip_address")
    description = "A load balancer: an address from which listeners distribute connections to the members of pools."
    consumes = LOAD_BALANCER
    charges = charges.LOAD_BALANCER
    collection = collection("loadbalancers", "loadbalancer")
    support = Support(version="10.0.0")

    properties = {
        "name": NAME,
        "description": Property(description="Its description.", default="", change=Change.UPDATE),
        "vip_address": Property(
            description="The address; chosen from the subnet if not given.", constraints=custom("ip_addr")
        ),
        "vip_subnet": Property(
            description="The subnet of the address, by name or ID.",
            required=True,
            wire="vip_subnet_id",
            reference="neutron.subnet",
        ),
        "provider": Property(description="The driver that implements the load balancer."),
        "admin_state_up": ADMIN_STATE_UP,
        "tenant_id": Property(
            description="The project that owns the load balancer, by default the stack's own; for administrators.",
            constraints=custom("keystone.project"),
            wire="project_id",
        ),
        "flavor": Property(
            description="The flavor, by name or ID.",
            support=Support(version="14.0.0"),
            wire="flavor_id",
            reference="octavia.flavor",
        ),
        "availability_zone": Property(
            description="The availability zone.",
            constraints=custom("octavia.availabilityzone"),
            support=Support(version="17.0.0"),
        ),
    }
    attributes = {
        "vip_address": Attribute("The address.", Type.STRING),
        "vip_port_id": Attribute("ID of the port that has the address.", Type.STRING),
        "vip_subnet_id": Attribute("ID of the address's subnet.", Type.STRING),
        "pools": Attribute("The pools, each a map with the key id.", Type.LIST),
        "flavor_id": Attribute("ID of the flavor.", Type.STRING),
    }

    def container(self, call: Call) -> tuple[str, str] | None:
        return None if call.physical_id is None else ("loadbalancers", call.physical_id)
