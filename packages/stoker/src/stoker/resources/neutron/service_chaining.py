"""The types of service function chaining: OS::Neutron::FlowClassifier, PortPair, PortPairGroup and PortChain."""

from __future__ import annotations

from stoker.resources.declare import between, custom, one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.vpn_service import DESCRIPTION, NAME
from stoker.schema.live import Live, LiveSource
from stoker.schema.property import Change, Property, Support, Type

_SINCE = Support("UNSUPPORTED", "8.0.0")
_EXTENSION = "sfc"
_PORT = between(1, 65535)


def _port(description: str, *, required: bool = False) -> Property:
    return Property(description=description, required=required, reference="neutron.port")


def _several(description: str, item: str, reference: str, **rest: object) -> Property:
    items = Property(Type.STRING, item, constraints=custom(reference), resolve=reference)
    return Property(Type.LIST, description, items=items, change=Change.UPDATE, resolve=reference, **rest)  # type: ignore[arg-type]


class FlowClassifier(NeutronResource):
    """Selects the traffic of a chain."""

    type_name = "OS::Neutron::FlowClassifier"
    description = "Selects the traffic that passes through a chain of services."
    collection = collection("flow_classifier", "/v2.0/sfc/flow_classifiers")
    support = _SINCE

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "protocol": Property(description="The protocol.", constraints=one_of("tcp", "udp", "icmp")),
        "ethertype": Property(description="Version of IP.", default="IPv4", constraints=one_of("IPv4", "IPv6")),
        "source_ip_prefix": Property(description="Source addresses, as a CIDR.", constraints=custom("net_cidr")),
        "destination_ip_prefix": Property(
            description="Destination addresses, as a CIDR.", constraints=custom("net_cidr")
        ),
        "source_port_range_min": Property(Type.INTEGER, "First source port.", constraints=_PORT),
        "source_port_range_max": Property(Type.INTEGER, "Last source port.", constraints=_PORT),
        "destination_port_range_min": Property(Type.INTEGER, "First destination port.", constraints=_PORT),
        "destination_port_range_max": Property(Type.INTEGER, "Last destination port.", constraints=_PORT),
        "logical_source_port": _port("The port that the traffic comes from, by name or ID."),
        "logical_destination_port": _port("The port that the traffic goes to, by name or ID."),
        "l7_parameters": Property(Type.MAP, "Parameters of layer 7.", support=Support("UNSUPPORTED")),
    }


class PortPair(NeutronResource):
    """A service that traffic passes through."""

    type_name = "OS::Neutron::PortPair"
    description = "The ports through which traffic enters and leaves a service of a chain."
    collection = collection("port_pair", "/v2.0/sfc/port_pairs")
    support = Support("UNSUPPORTED", "7.0.0")

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "ingress": _port("The port where traffic enters, by name or ID.", required=True),
        "egress": _port("The port where traffic leaves, by name or ID.", required=True),
        "service_function_parameters": Property(Type.MAP, "Parameters of the service.", default={"correlation": None}),
    }


class PortPairGroup(NeutronResource):
    """Equal services, among which traffic is distributed."""

    type_name = "OS::Neutron::PortPairGroup"
    description = "Equal services of a chain, among which traffic is distributed."
    collection = collection("port_pair_group", "/v2.0/sfc/port_pair_groups")
    extension = _EXTENSION
    support = _SINCE

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "port_pairs": _several("The port pairs.", "A port pair, by name or ID.", "neutron.port_pair", required=True),
    }


class PortChain(NeutronResource):
    """The services that selected traffic passes through."""

    type_name = "OS::Neutron::PortChain"
    description = "A chain of services, which traffic passes through in order."
    collection = collection("port_chain", "/v2.0/sfc/port_chains")
    extension = _EXTENSION
    support = _SINCE

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "port_pair_groups": _several(
            "The port pair groups, in order.",
            "A port pair group, by name or ID.",
            "neutron.port_pair_group",
            required=True,
            live=Live(LiveSource.LISTED, ordered=True),
        ),
        "flow_classifiers": _several(
            "Which traffic passes through the chain.",
            "A flow classifier, by name or ID.",
            "neutron.flow_classifier",
            default=[],
        ),
        "chain_parameters": Property(Type.MAP, "Parameters of the chain.", default={"correlation": "mpls"}),
    }
