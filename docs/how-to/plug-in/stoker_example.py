"""A resource type from outside: Neutron's address groups."""

from __future__ import annotations

from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import custom
from stoker.schema.property import Attribute, Change, Property, Type


class AddressGroup(RestResource):
    """A list of networks that security group rules can name as a whole."""

    type_name = "Example::Neutron::AddressGroup"
    description = "A list of networks that security group rules can name as a whole."
    collection = Collection("neutron", "/v2.0/address-groups", "address_group", "address_groups")
    extension = "address-group"

    properties = {
        "name": Property(description="Name of the group.", change=Change.UPDATE),
        "addresses": Property(
            Type.LIST,
            "The networks.",
            required=True,
            items=Property(Type.STRING, "A network, such as 10.0.0.0/8.", constraints=custom("net_cidr")),
            change=Change.UPDATE,
        ),
    }
    attributes = {"addresses": Attribute("The networks, as Neutron lists them.", Type.LIST)}

    async def update_body(self, call: Call) -> dict[str, Any]:
        body = await super().update_body(call)
        body.pop("addresses", None)  # Neutron takes these in calls of their own
        return body

    async def change_extras(self, call: Call) -> None:
        if "addresses" not in call.changed:
            return
        there = set((await self.show(call) or {}).get("addresses", ()))
        declared = set(call.properties["addresses"])
        for action, addresses in (("add_addresses", declared - there), ("remove_addresses", there - declared)):
            if addresses:
                body = {"addresses": sorted(addresses)}
                await call.cloud.put("neutron", f"{self.member_path(call)}/{action}", body)


TYPES = (AddressGroup,)
