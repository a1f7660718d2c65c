"""OS::Neutron::Segment"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.exclusion import Exclusion
from stoker.resources.declare import between, one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.net import is_same_segment
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_LAST_VLAN = 4094


class Segment(NeutronResource):
    """A layer 2 segment of a network; for administrators."""

    type_name = "OS::Neutron::Segment"
    description = "A layer 2 segment of a network. By default only administrators may create one."
    for_administrators = True
    collection = collection("segment", owner=None)
    exclusion = Exclusion(is_same_segment)
    extension = "segment"
    support = Support(version="9.0.0")

    properties = {
        "name": Property(description="Name of the segment.", change=Change.UPDATE),
        "description": Property(description="Description of the segment.", change=Change.UPDATE),
        "network": Property(
            description="The network, by name or ID.",
            required=True,
            wire="network_id",
            reference="neutron.network",
        ),
        "network_type": Property(
            description="How the segment is implemented.",
            required=True,
            constraints=one_of("local", "vlan", "vxlan", "gre", "geneve", "flat"),
        ),
        "physical_network": Property(description="Name of the physical network, for flat and vlan."),
        "segmentation_id": Property(Type.INTEGER, "Number of the VLAN, or of the tunnel.", constraints=between(1)),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        kind, physical = properties.get("network_type"), properties.get("physical_network")
        number = properties.get("segmentation_id")
        if is_unknown(kind):
            return
        if kind in ("flat", "vlan") and physical is None:
            yield f"physical_network must be given for network_type {kind}"
        if kind in ("vxlan", "gre", "geneve") and physical is not None:
            yield f"physical_network cannot be given for network_type {kind}"
        if kind in ("local", "flat") and number is not None:
            yield f"segmentation_id cannot be given for network_type {kind}"
        if kind == "vlan" and (number is None or (isinstance(number, int) and number > _LAST_VLAN)):
            yield f"segmentation_id from 1 to {_LAST_VLAN} must be given for network_type vlan"
