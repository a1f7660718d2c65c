"""OS::Neutron::ProviderNet"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.resource import Call
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.allowances import NETWORKS, counts
from stoker.resources.neutron.base import BUILT, TAGS, TENANT_ID, NeutronResource, collection, shared
from stoker.resources.neutron.net import is_same_segment, network_segments
from stoker.schema.live import FETCHED
from stoker.schema.property import Attribute, Change, Property, Support, Type

_UNNUMBERED = ("local", "flat")
_WITHOUT_PHYSICAL_NETWORK = ("vxlan", "gre", "geneve", "local")


class ProviderNet(NeutronResource):
    """A virtual network that is mapped to a physical one."""

    type_name = "OS::Neutron::ProviderNet"
    description = (
        "A network with provider attributes: its type, physical network and segmentation ID; for administrators."
    )
    consumes = counts(NETWORKS)
    for_administrators = True
    collection = collection("network")
    extension = "provider"
    exclusion = Exclusion(is_same_segment)
    support = Support(version="2014.1")
    waits = BUILT
    computed = frozenset({"segments"})
    readers = {**NeutronResource.readers, "shared": shared}

    properties = {
        "name": Property(description="Name of the network.", change=Change.UPDATE),
        "network_type": Property(
            description="Type of the network.",
            required=True,
            constraints=one_of("local", "vlan", "vxlan", "gre", "geneve", "flat"),
            change=Change.UPDATE,
            wire="provider:network_type",
        ),
        "physical_network": Property(
            description="Name of the underlying physical network.",
            change=Change.UPDATE,
            wire="provider:physical_network",
        ),
        "segmentation_id": Property(
            description="VLAN ID or tunnel ID.", change=Change.UPDATE, wire="provider:segmentation_id"
        ),
        "router_external": Property(
            Type.BOOLEAN,
            "Whether routers may use the network as external gateway.",
            default=False,
            change=Change.UPDATE,
            support=Support(version="6.0.0"),
            wire="router:external",
        ),
        "admin_state_up": Property(
            Type.BOOLEAN, "Whether the network forwards packets.", default=True, change=Change.UPDATE
        ),
        "shared": Property(
            Type.BOOLEAN, "Whether every project may use the network.", default=True, change=Change.UPDATE, live=FETCHED
        ),
        "port_security_enabled": Property(
            Type.BOOLEAN,
            "Default of the ports' port_security_enabled.",
            change=Change.UPDATE,
            support=Support(version="8.0.0"),
        ),
        "dns_domain": Property(
            description="The DNS domain of the network's ports, with a trailing dot.",
            constraints=custom("dns_domain"),
            change=Change.UPDATE,
            support=Support(version="15.0.0"),
        ),
        "availability_zone_hints": Property(
            Type.LIST,
            "Availability zones to prefer for the network.",
            strings=True,
            change=Change.UPDATE,
            support=Support(version="19.0.0"),
        ),
        "tags": replace(TAGS, support=Support(version="12.0.0")),
        "tenant_id": replace(TENANT_ID, support=Support(version="24.0.0")),
    }

    attributes = {
        "status": Attribute("Status of the network.", Type.STRING),
        "subnets": Attribute("IDs of the network's subnets.", Type.LIST),
        "segments": Attribute("The network's segments.", Type.LIST, support=Support(version="16.0.0")),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        kind = properties.get("network_type")
        if kind in _UNNUMBERED and properties.get("segmentation_id") is not None:
            yield f"segmentation_id cannot be given for a {kind} network"
        if kind in _WITHOUT_PHYSICAL_NETWORK and properties.get("physical_network") is not None:
            yield f"physical_network cannot be given for a {kind} network"

    async def computed_attribute(self, call: Call, name: str) -> object:
        return await network_segments(call)
