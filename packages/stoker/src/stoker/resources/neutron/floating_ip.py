"""OS::Neutron::FloatingIP"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from stoker.plugins.capabilities import ImplicitlyDependent
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources import charges
from stoker.resources.declare import custom
from stoker.resources.neutron.allowances import FLOATING_IPS, counts
from stoker.resources.neutron.base import VALUE_SPECS, NeutronResource, collection, ip_address
from stoker.resources.neutron.implicit import gateways_to, interfaces_behind
from stoker.schema.property import Attribute, Change, Property, Support, Type

_NETWORK = custom("neutron.network")
_ASSOCIATION = ("port_id", "fixed_ip_address")
_FIXED_NAMES = ("dns_name", "dns_domain")


class FloatingIP(NeutronResource, ImplicitlyDependent):
    """An address of an external network that may be associated with a port."""

    type_name = "OS::Neutron::FloatingIP"
    addresses_at = ("floating_ip_address",)
    description = "An address of an external network, which can be associated with a port behind a router."
    consumes = counts(FLOATING_IPS)
    charges = charges.FLOATING_IP
    collection = collection("floatingip")
    exclusion = Exclusion.by(("floating_network", "floating_ip_address"))
    identity = "description"
    recovery = Recovery(
        RecoveryMethod.MARK,
        "The description is the physical name, unless value_specs sets another; then the floating IP must have "
        "been created since the action began, have the requested properties, and belong to no other resource.",
        own_name_without="value_specs",
    )

    properties = {
        "floating_network_id": Property(
            description="Older name of floating_network.",
            constraints=_NETWORK,
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "floating_network": Property(
            description="The external network, by name or ID.",
            required=True,
            support=Support(version="2014.2"),
            wire="floating_network_id",
            reference="neutron.network",
            replaces="floating_network_id",
        ),
        "floating_subnet": Property(
            description="The subnet of the external network to allocate the address from, by name or ID.",
            support=Support(version="9.0.0"),
            wire="subnet_id",
            reference="neutron.subnet",
        ),
        "value_specs": replace(VALUE_SPECS, change=Change.REPLACE),
        "port_id": Property(
            description="ID of the port that the address is associated with.",
            constraints=custom("neutron.port"),
            change=Change.UPDATE,
        ),
        "fixed_ip_address": ip_address(
            "The fixed address of the port to use, if it has several.", change=Change.UPDATE
        ),
        "floating_ip_address": ip_address(
            "The floating address to allocate; for administrators.", support=Support(version="5.0.0")
        ),
        "dns_name": Property(
            description="DNS name of the address; cannot be changed later.",
            constraints=custom("rel_dns_name"),
            change=Change.UPDATE,
            support=Support(version="7.0.0"),
        ),
        "dns_domain": Property(
            description="DNS domain of the name, with a trailing dot; cannot be changed later.",
            constraints=custom("dns_domain"),
            change=Change.UPDATE,
            support=Support(version="7.0.0"),
        ),
    }

    attributes = {
        "router_id": Attribute("ID of the router through which the port is reached.", Type.STRING),
        "tenant_id": Attribute("The project that owns the address.", Type.STRING),
        "floating_network_id": Attribute("ID of the external network.", Type.STRING),
        "fixed_ip_address": Attribute("The fixed address of the port.", Type.STRING, live=True),
        "floating_ip_address": Attribute("The floating address.", Type.STRING),
        "port_id": Attribute("ID of the port that the address is associated with.", Type.STRING, live=True),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        yield from super().validate(properties)
        if properties.get("fixed_ip_address") is not None and properties.get("port_id") is None:
            yield "fixed_ip_address requires port_id, since it is an address of the port"

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        yield from gateways_to(partial(node.properties.get, "floating_network"), graph)
        yield from interfaces_behind(node, graph)

    async def update_body(self, call: Call) -> dict[str, object]:
        if not call.changed.keys() & set(_ASSOCIATION):
            return {}
        return {name: call.properties[name] for name in _ASSOCIATION}

    async def update(self, call: Call) -> Outcome:
        outcome = await super().update(call)
        kept = [name for name in _FIXED_NAMES if name in call.changed]
        if isinstance(outcome, Done) and kept:
            return Done(note=f"Neutron does not change {' and '.join(kept)} of an existing floating IP")
        return outcome
