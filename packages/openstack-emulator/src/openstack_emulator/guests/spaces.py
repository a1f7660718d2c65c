"""What the network namespaces of a cloud contain: derived from the topology, and compared with what they have.

Each network has a namespace with a bridge, each router and load balancer one of its own, and each guest that runs has
its own. Addresses
of different networks may overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from openstack_emulator.core.guests.topology import METADATA_ADDRESS, Balancer, Link, Port, Router, Topology
from openstack_emulator.guests.namespace_process import INET, TRACKED_BRIDGES
from openstack_emulator.guests.rules import CARD_BRIDGE_MAC, FLUSH, network_filter, router_filter

BRIDGE = "bridge0"
PREFIX = 11
"""Characters of a port's ID in the names of its interfaces, as in Neutron."""
FORWARD = {"ipv4/ip_forward": "1", "ipv6/conf/all/forwarding": "1"}
INDEX_METRIC = 100
BALANCER_INTERFACE = "eth0"
METADATA_PREFIX = f"{METADATA_ADDRESS}/32"
CARD_BRIDGE = "brg"
"""What begins the names of the bridges of a virtual machine's network cards."""


@dataclass(frozen=True)
class VirtualLink:
    """Connects a network's bridge, as `name`, with an interface of another namespace.

    connect_commands, disconnect_commands: for `ip` in that namespace, after the link was made and before it is removed.
    """

    name: str
    network: str
    space: str
    interface: str
    mac: str
    mtu: int
    connect_commands: str
    disconnect_commands: str = ""


@dataclass
class NamespaceContent:
    """The content of a namespace. addresses: pairs of interface and address. routes: `destination via next-hop …`."""

    settings: dict[str, str] = field(default_factory=dict)
    bridge: int | None = None
    addresses: set[tuple[str, str]] = field(default_factory=set)
    routes: set[str] = field(default_factory=set)
    filter: str = ""


@dataclass
class Plan:
    """The namespaces by name, and the cables between them, by the names of their ends at bridges."""

    spaces: dict[str, NamespaceContent] = field(default_factory=dict)
    cables: dict[str, VirtualLink] = field(default_factory=dict)


def network_space(network_id: str) -> str:
    """Return the name of a network's namespace."""
    return f"network-{network_id}"


def guest_space(guest_id: str) -> str:
    """Return the name of a guest's namespace."""
    return f"guest-{guest_id}"


def balancer_space(balancer_id: str) -> str:
    """Return the name of a load balancer's namespace."""
    return f"balancer-{balancer_id}"


def router_interface(link: Link) -> str:
    """Return the name of a router's interface to a network of guests."""
    return _link_name("qr", link)


def router_space(router_id: str) -> str:
    """Return the name of a router's namespace."""
    return f"router-{router_id}"


def planned(
    topology: Topology,
    running: Collection[str],
    index: Callable[[Port], int],
    family: str,
    plan_port: PlanPort,
) -> Plan:
    """Return what is needed for the guests that run.

    index: returns the number of a port's interface in its guest. family: see `rules.network_filter`. plan_port: adds
    what connects a port of a guest.
    """
    plan = Plan()
    ports = [port for port in topology.ports.values() if port.guest_id in running]
    networks = {port.network for port in ports} | {balancer.link.network for balancer in topology.balancers}
    routers = [router for router in topology.routers.values() if any(link.network in networks for link in router.links)]
    inner = set(networks)
    networks |= {router.gateway.network for router in routers if router.gateway is not None}
    for key in networks:
        network = topology.networks[key]
        settings = dict(TRACKED_BRIDGES) if family == INET else {}
        addresses = {(BRIDGE, address) for address in network.addresses}
        if network.metadata:
            addresses.add((BRIDGE, METADATA_PREFIX))
        plan.spaces[network_space(key)] = NamespaceContent(settings, network.mtu, addresses)
    for guest_id in running:
        plan.spaces[guest_space(guest_id)] = NamespaceContent()
    for port in ports:
        plan_port(plan, topology, port, index(port))
    for router in routers:
        _plan_router(plan, topology, router, inner)
    for balancer in topology.balancers:
        _plan_balancer(plan, topology, balancer)
    for key in networks:
        secured = {tap_name(port.id): port for port in ports if port.secured and port.network == key}
        dhcp_clients = {tap_name(port.id): _four(port.addresses) for port in ports if port.network == key}
        rules = network_filter(secured, topology.rules, topology.members, dhcp_clients, family)
        plan.spaces[network_space(key)].filter = rules
    return plan


def _four(addresses: Iterable[str]) -> tuple[str, ...]:
    return tuple(address.partition("/")[0] for address in addresses if ":" not in address)


PlanPort = Callable[[Plan, Topology, Port, int], None]


def tap_name(port_id: str, prefix: str = "tap") -> str:
    """Return the name of an interface of a port; by default that of its end at the network's bridge."""
    return f"{prefix}{port_id[:PREFIX]}".replace("-", "_")  # names of chains contain it


def plan_port(plan: Plan, topology: Topology, port: Port, number: int) -> None:
    """Connect a port with an interface of the guest's namespace, which has the port's addresses."""
    interface, name = f"eth{number}", guest_space(port.guest_id)
    mtu = topology.networks[port.network].mtu
    end = tap_name(port.id)
    plan.cables[end] = VirtualLink(end, port.network, name, interface, port.mac, mtu, _up("lo", interface))
    space = plan.spaces[name]
    space.addresses |= {(interface, address) for address in port.addresses}
    metric = INDEX_METRIC + number  # the first interface has the default route
    space.routes |= {f"{to} via {hop} dev {interface} metric {metric}" for to, hop in port.routes}


def plan_virtual_port(plan: Plan, topology: Topology, port: Port, number: int) -> None:
    """Connect a port with a bridge in the namespace of a virtual machine, which its network card is connected with.

    The addresses of the port are the machine's: the namespace has routes to them.
    """
    name, mtu = guest_space(port.guest_id), topology.networks[port.network].mtu
    inner, bridge = tap_name(port.id, "net"), tap_name(port.id, CARD_BRIDGE)
    connect_commands = (
        f"link add name {bridge} address {CARD_BRIDGE_MAC} mtu {mtu} type bridge stp_state 0 forward_delay 0 "
        f"mcast_snooping 0\nlink set {inner} master {bridge}\n"
    )
    other = f"{int(port.mac[:2], 16) ^ 4:02x}{port.mac[2:]}"  # the bridge takes frames to the MAC addresses of its ends
    cable = VirtualLink(
        tap_name(port.id), port.network, name, inner, other, mtu, connect_commands + _up("lo", inner, bridge)
    )
    plan.cables[cable.name] = replace(cable, disconnect_commands=f"link del {bridge}\n")
    plan.spaces[name].routes |= {f"{address}/32 dev {bridge}" for address in _four(port.addresses)}


def card_commands(cable: VirtualLink, card: str) -> str:
    """Return what connects the network card of a virtual machine with its bridge. card: the name of its interface."""
    bridge = cable.disconnect_commands.split()[-1]
    return f"link set {card} mtu {cable.mtu} master {bridge}\nlink set {card} up\n"


def _up(*interfaces: str) -> str:
    return "".join(f"link set {interface} up\n" for interface in interfaces)


def _plan_router(plan: Plan, topology: Topology, router: Router, inner: Collection[str]) -> None:
    name = router_space(router.id)
    space = plan.spaces[name] = NamespaceContent(dict(FORWARD), addresses={("lo", METADATA_PREFIX)})
    links = [("qr", link) for link in router.links if link.network in inner]
    if router.gateway is not None:
        links.append(("qg", router.gateway))
    for prefix, link in links:
        interface = _link_name(prefix, link)
        mtu = topology.networks[link.network].mtu
        end = _link_name("tap", link)
        plan.cables[end] = VirtualLink(end, link.network, name, interface, link.mac, mtu, _up("lo", interface))
        space.addresses |= {(interface, address) for address in link.addresses}
    space.routes |= {f"{to} via {hop}" for to, hop in router.routes}
    gateway = "" if router.gateway is None else _link_name("qg", router.gateway)
    outer = {address for address, _ in router.floating} | {forwarding.address for forwarding in router.forwardings}
    space.addresses |= {(gateway, f"{address}/32") for address in outer if gateway}
    space.filter = router_filter(router, gateway) if gateway else FLUSH


def _plan_balancer(plan: Plan, topology: Topology, balancer: Balancer) -> None:
    link, name = balancer.link, balancer_space(balancer.id)
    end, mtu = tap_name(link.id), topology.networks[link.network].mtu
    plan.cables[end] = VirtualLink(
        end, link.network, name, BALANCER_INTERFACE, link.mac, mtu, _up("lo", BALANCER_INTERFACE)
    )
    addresses = {(BALANCER_INTERFACE, address) for address in link.addresses}
    plan.spaces[name] = NamespaceContent(
        {}, addresses=addresses, routes={f"{to} via {hop}" for to, hop in balancer.routes}
    )


def _link_name(prefix: str, link: Link) -> str:
    return f"{prefix}_{link.id[:PREFIX]}".replace("-", "_") if prefix != "tap" else tap_name(link.id)


# -- from one plan to the next -----------------------------------------------------------------------------------


def bridge_commands(space: NamespaceContent) -> str:
    """Return what makes the bridge of a new namespace."""
    return (
        f"link set lo up\nlink add name {BRIDGE} mtu {space.bridge} type bridge stp_state 0 forward_delay 0 "
        f"mcast_snooping 0\nlink set {BRIDGE} up\n"
    )


def cable_commands(cable: VirtualLink) -> str:
    """Return what lays a cable, in the namespace of its network."""
    return (
        f"link add name {cable.name} mtu {cable.mtu} type veth peer name {cable.interface} mtu {cable.mtu} "
        f"address {cable.mac} netns @{cable.space}@\nlink set {cable.name} master {BRIDGE}\nlink set {cable.name} up\n"
    )


def address_commands(before: NamespaceContent, after: NamespaceContent) -> str:
    """Return what changes the addresses and routes of a namespace."""
    lines = [f"route del {route}" for route in sorted(before.routes - after.routes)]
    lines += [f"addr del {address} dev {name}" for name, address in sorted(before.addresses - after.addresses)]
    for name, address in sorted(after.addresses - before.addresses):
        lines.append(f"addr replace {address} dev {name}{' nodad' if ':' in address else ''}")
    lines += [f"route replace {route}" for route in sorted(after.routes - before.routes, key=_default_last)]
    return "".join(f"{line}\n" for line in lines)


def _default_last(route: str) -> tuple[bool, str]:
    """Order routes so that those to the next hops of others come first."""
    return not route.split()[0].endswith(("/32", "/128")), route


def without(space: NamespaceContent, interfaces: Mapping[str, VirtualLink]) -> NamespaceContent:
    """Return what is left of a namespace's addresses and routes when interfaces are gone: routes may all be."""
    remaining = {(name, address) for name, address in space.addresses if name not in interfaces}
    return NamespaceContent(
        space.settings, space.bridge, remaining, set() if interfaces else set(space.routes), space.filter
    )
