"""OS::Nova::FloatingIP: a floating IP in the form of Nova's former API, on Neutron."""

from __future__ import annotations

from typing import Any

from stoker.plugins.resource import Call, ResourceType
from stoker.resources import charges
from stoker.resources.neutron.allowances import FLOATING_IPS, counts
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.external_network import external_network
from stoker.schema.property import Attribute, Property, Support, Type

OBSOLETE = Support("HIDDEN", "11.0.0", previous=Support("DEPRECATED", "9.0.0", previous=Support(version="2014.1")))


class FloatingIP(NeutronResource):
    """An address of an external network."""

    type_name = "OS::Nova::FloatingIP"
    addresses_at = ("floating_ip_address",)
    description = "Older form of OS::Neutron::FloatingIP."
    consumes = counts(FLOATING_IPS)
    charges = charges.FLOATING_IP
    collection = collection("floatingip")
    identity = "description"
    support = OBSOLETE
    reference_id = ResourceType.reference_id

    properties = {
        "pool": Property(description="The external network, by name or ID; the only one if not given."),
    }
    attributes = {
        "pool": Attribute("ID of the external network.", Type.STRING, path="floating_network_id"),
        "ip": Attribute("The floating address.", Type.STRING, path="floating_ip_address"),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        """Return what the search for the object needs, too: the network must not have to be known for that."""
        return {"description": call.physical_name}

    async def begin(self, call: Call) -> dict[str, Any]:
        pool = call.properties["pool"]
        network = await (call.cloud.find("neutron.network", pool) if pool else external_network(call))
        body = {"floating_network_id": network, **await self.create_body(call)}
        made = await call.cloud.post("neutron", self.collection.path, self.collection.wrap(body))
        return self.collection.unwrap(made)
