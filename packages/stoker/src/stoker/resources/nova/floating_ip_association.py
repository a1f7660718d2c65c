"""OS::Nova::FloatingIPAssociation: a floating IP at the first interface of a server."""

from __future__ import annotations

from stoker.plugins.resource import Call
from stoker.resources.declare import custom
from stoker.resources.nova.address_association import AddressAssociation, AssociationEnds
from stoker.resources.nova.floating_ip import OBSOLETE
from stoker.resources.nova.interfaces import required_interface
from stoker.schema.property import Change, Property


class FloatingIPAssociation(AddressAssociation):
    """The association of a floating IP with a server."""

    type_name = "OS::Nova::FloatingIPAssociation"
    description = "Older form of OS::Neutron::FloatingIPAssociation."
    support = OBSOLETE

    properties = {
        "server_id": Property(
            description="ID of the server, of which the first interface is used.",
            required=True,
            constraints=custom("nova.server"),
            change=Change.UPDATE,
        ),
        "floating_ip": Property(description="ID of the floating IP.", required=True, change=Change.UPDATE),
    }

    def identifier(self, call: Call) -> str:
        return call.physical_id or call.resource.uuid  # an adopted one keeps its ID, which says nothing about its ends

    async def ends(self, call: Call) -> AssociationEnds:
        interface = await required_interface(call, call.properties["server_id"])
        return AssociationEnds(call.properties["floating_ip"], interface.port, interface.address)
