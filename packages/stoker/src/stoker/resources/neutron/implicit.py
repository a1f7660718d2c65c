"""Implicit dependencies, which no property expresses: rules that several of Neutron's types share.

Values are compared as the template gives them: equal names, equal IDs, or references to the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stoker.plugins.resource import Graph, Node
from stoker.schema.unknown import has_unknown, is_unknown

SUBNET = "OS::Neutron::Subnet"
PORT = "OS::Neutron::Port"
ROUTER = "OS::Neutron::Router"
ROUTER_INTERFACE = "OS::Neutron::RouterInterface"
ROUTER_GATEWAY = "OS::Neutron::RouterGateway"


def subnets_of(network: Callable[[], object], graph: Graph) -> Iterator[str]:
    """Yield the subnets of a network: addresses can only be allocated once they exist.

    `network` returns it; it is not called, and so nothing is evaluated, where there are none.
    """
    return (node.name for node in graph.of_type(SUBNET) if are_same(node.properties.get("network"), network()))


def gateways_to(network: Callable[[], object], graph: Graph) -> Iterator[str]:
    """Yield the resources that connect routers to an external network; `network` as for `subnets_of`."""
    for node in graph.of_type(ROUTER_GATEWAY):
        if are_same(node.properties.get("network"), network()):
            yield node.name
    for node in graph.of_type(ROUTER):
        if are_same(gateway_network(node.properties), network()):
            yield node.name


def gateway_network(router: Any) -> object:
    """Return the external network in a router's properties; None when there is none or it is not known yet."""
    gateway = router.get("external_gateway_info")
    return None if gateway is None or is_unknown(gateway) else gateway.get("network")


def interfaces_behind(node: Node, graph: Graph) -> Iterator[str]:
    """Yield router interfaces on the subnets of the ports that `node` refers to: floating IPs need them.

    Where the template does not determine a port's subnet, the interface may be on it, and comes first.
    """
    ports = [port for port in graph.of_type(PORT) if port.name in node.requires]
    for interface in graph.of_type(ROUTER_INTERFACE):
        if any(_may_be_behind(port, interface) for port in ports):
            yield interface.name


def _may_be_behind(port: Node, interface: Node) -> bool:
    subnet = interface.properties.get("subnet")
    addresses = port.properties.get("fixed_ips")
    if subnet is None or is_unknown(addresses):
        return True
    given = [address.get("subnet") for address in addresses or () if not is_unknown(address)]
    if given and all(given):
        return any(are_same(other, subnet) for other in given)
    network_is_new = has_unknown(port.properties.get("network"))
    return is_unknown(subnet) or not network_is_new


def are_same(one: object, other: object) -> bool:
    """Return whether two values are given and denote the same thing."""
    return one is not None and one == other
