"""OS::Neutron::FloatingIPPortForward"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.capabilities import ImplicitlyDependent
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.base import Collection, found_well
from stoker.resources.declare import between, custom, one_of
from stoker.resources.neutron.base import NeutronResource, ip_address
from stoker.resources.neutron.implicit import interfaces_behind
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Change, Property, Support, Type

_NUMBER = between(1, 65535)


class FloatingIPPortForward(NeutronResource, ImplicitlyDependent):
    """A port of a floating IP that leads to a port of a fixed address."""

    type_name = "OS::Neutron::FloatingIPPortForward"
    description = "Forwards a TCP or UDP port of a floating IP to a server."
    collection = Collection(
        "neutron",
        "/v2.0/floatingips/{floating_ip}/port_forwardings",
        "port_forwarding",
        "port_forwardings",
        owner=None,
    )
    service = "openstack"
    identity = None
    exclusion = Exclusion.by(
        ("floating_ip", "external_port", "protocol"),
        ("floating_ip", "internal_port", "internal_ip_address", "internal_port_number", "protocol"),
    )
    extension = "floating-ip-port-forwarding"
    support = Support(version="19.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A floating IP forwards an external port of a protocol once; the forwarding must have the requested values, "
        "and belong to no other resource.",
    )

    properties = {
        "floating_ip": Property(
            description="The floating IP, by address or ID.",
            required=True,
            wire=NOT_SENT,
            resolve="openstack.network_ip",
        ),
        "internal_ip_address": ip_address("The fixed address of the port.", required=True, change=Change.UPDATE),
        "internal_port": Property(
            description="The Neutron port, by name or ID.",
            required=True,
            constraints=custom("neutron.port"),
            change=Change.UPDATE,
            wire="internal_port_id",
            resolve="openstack.network_port",
        ),
        "internal_port_number": Property(
            Type.INTEGER,
            "Port number of the fixed address.",
            constraints=_NUMBER,
            change=Change.UPDATE,
            wire="internal_port",
        ),
        "external_port": Property(
            Type.INTEGER,
            "Port number of the floating IP.",
            required=True,
            constraints=_NUMBER,
            change=Change.UPDATE,
        ),
        "protocol": Property(
            description="The protocol.",
            required=True,
            constraints=one_of("tcp", "udp", "icmp", "icmp6", "sctp", "dccp"),
            change=Change.UPDATE,
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("internal_port_number") is None:
            yield "internal_port_number must be given, since Neutron requires it"

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return interfaces_behind(node, graph)

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)
