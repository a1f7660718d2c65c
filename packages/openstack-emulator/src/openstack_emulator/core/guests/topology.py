"""How the guests of a cloud are connected: what the network service wants, in terms that a driver understands.

Addresses of interfaces have the length of their prefix (`10.0.0.5/24`); routes are destination and next hop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

Route = tuple[str, str]
METADATA_ADDRESS = "169.254.169.254"
WORD = re.compile(r"[\w.:/@-]*", re.ASCII)


class _CommandArguments:
    """Base of what is written into commands of `ip` and `nft`: each string must be one word there.

    The network service accepts only such values. This is the second line of defense: a value with a space or a line
    feed would be a command of its own, in a namespace in which the cloud is root. Raises: ValueError.
    """

    unwritten: ClassVar[frozenset[str]] = frozenset()
    """Fields that are in no command."""

    def __post_init__(self) -> None:
        names = [argument.name for argument in fields(self) if argument.name not in self.unwritten]  # type: ignore[arg-type]
        for name in names:
            for text in _strings(getattr(self, name)):
                if not WORD.fullmatch(text):
                    raise ValueError(f"The {name} of a {type(self).__name__} contains {text!r}, which is not one word.")


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)


@dataclass(frozen=True)
class Rule(_CommandArguments):
    """What a security group permits.

    ingress: to the group's ports, or from them. version: of IP. protocol: its number; None: all. low, high: the range
    of destination ports, or type and code of ICMP; None: all.
    remote: a prefix; or `@` and the key of the group (`Topology.members`) with the addresses; empty: everywhere.
    """

    ingress: bool
    version: int
    protocol: int | None = None
    low: int | None = None
    high: int | None = None
    remote: str = ""


@dataclass(frozen=True)
class Lease:
    """What a DHCP server gives to a port. address: with the length of its prefix."""

    address: str
    routes: tuple[Route, ...]
    name_servers: tuple[str, ...]
    mtu: int


@dataclass(frozen=True)
class Lease6:
    """What a DHCPv6 server gives to a port. addresses: without those that the guest makes itself."""

    addresses: tuple[str, ...]
    name_servers: tuple[str, ...]


@dataclass(frozen=True)
class Advertisement:
    """What a router announces on a link (RFC 4861, 4.2).

    prefixes: those on the link, and whether guests make addresses of them themselves. managed: there are addresses by
    DHCPv6. other: there is other data by DHCPv6.
    """

    prefixes: tuple[tuple[str, bool], ...]
    managed: bool
    other: bool
    name_servers: tuple[str, ...]
    mtu: int


@dataclass(frozen=True)
class Port(_CommandArguments):
    """An interface of a guest.

    secured: it may send only from its own addresses and the `pairs` (MAC address and prefix), and has the rules of
    `groups`. lease, lease6: None without DHCP, without DHCPv6.
    """

    unwritten = frozenset({"guest_id"})  # names any server, also one that does not exist

    id: str
    guest_id: str
    network: str
    mac: str
    addresses: tuple[str, ...]
    routes: tuple[Route, ...] = ()
    secured: bool = True
    pairs: tuple[tuple[str, str], ...] = ()
    groups: tuple[str, ...] = ()
    lease: Lease | None = None
    lease6: Lease6 | None = None


@dataclass(frozen=True)
class Link(_CommandArguments):
    """An interface of a router. announced: None if it announces nothing."""

    unwritten = frozenset({"announced"})

    id: str
    network: str
    mac: str
    addresses: tuple[str, ...]
    announced: Advertisement | None = None


@dataclass(frozen=True)
class PortForwarding(_CommandArguments):
    """One port of an address of the external network leads to one of a guest. protocol: its name."""

    protocol: str
    address: str
    port: int
    to_address: str
    to_port: int


@dataclass(frozen=True)
class Router(_CommandArguments):
    """Passes packets on between its links. gateway: the link to an external network, if there is one.

    source: the address that packets to the external network get; None: they keep theirs. floating: pairs of the
    address of the external network and that of a guest.
    """

    id: str
    links: tuple[Link, ...]
    gateway: Link | None = None
    routes: tuple[Route, ...] = ()
    source: str | None = None
    floating: tuple[tuple[str, str], ...] = ()
    forwardings: tuple[PortForwarding, ...] = ()


@dataclass(frozen=True)
class Network(_CommandArguments):
    """addresses: those of the cloud itself on it. server: the one of them that answers DHCP, if there is one.
    metadata: the metadata service answers on the network itself, since some subnet has no router."""

    id: str
    mtu: int
    addresses: tuple[str, ...] = ()
    server: str | None = None
    metadata: bool = False


@dataclass(frozen=True)
class ForwardedAddress:
    """An address of an external network, whose TCP ports a user of this machine can reach."""

    network: str
    address: str
    ports: tuple[int, ...]


@dataclass(frozen=True)
class Monitor:
    """How a member is probed.

    kind: `TCP`, `HTTP`, `HTTPS`, `TLS-HELLO` or `PING`. delay, timeout: seconds. rise, fall: the number of successes
    and failures, one after the other, that change the state of a member. codes: of HTTP, those of a healthy member.
    """

    kind: str
    delay: float
    timeout: float
    rise: int
    fall: int
    method: str = "GET"
    path: str = "/"
    host: str = ""
    codes: frozenset[int] = frozenset({200})


@dataclass(frozen=True)
class Member:
    """A receiver of connections. weight: its share; 0: no new ones. backup: only without others. probed: the address
    and port of the monitor's probes."""

    id: str
    address: str
    port: int
    weight: int = 1
    backup: bool = False
    probed: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Pool:
    """algorithm: as in Octavia. by_source: the connections of an address go to the same member. announces: members get
    the header of the PROXY protocol, version 1."""

    members: tuple[Member, ...]
    algorithm: str = "ROUND_ROBIN"
    by_source: bool = False
    announces: bool = False
    monitor: Monitor | None = None


@dataclass(frozen=True)
class Listener:
    """A port of a load balancer. http: it answers with an error of HTTP when there is no member. sources: the prefixes
    that may connect; empty: all. most: connections at the same time; None: as many as the driver allows."""

    port: int
    pool: Pool | None = None
    http: bool = False
    sources: tuple[str, ...] = ()
    most: int | None = None


@dataclass(frozen=True)
class Balancer:
    """A load balancer. link: its interface, which has the virtual IP address. pools: whose members are probed."""

    id: str
    link: Link
    routes: tuple[Route, ...] = ()
    listeners: tuple[Listener, ...] = ()
    pools: tuple[Pool, ...] = ()


@dataclass(frozen=True)
class Topology:
    """All by ID. ports: in the order of the interfaces of each guest. rules: of security groups. members: the addresses
    and prefixes that rules refer to."""

    networks: Mapping[str, Network] = field(default_factory=dict)
    ports: Mapping[str, Port] = field(default_factory=dict)
    routers: Mapping[str, Router] = field(default_factory=dict)
    rules: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    forwarded_addresses: tuple[ForwardedAddress, ...] = ()
    balancers: tuple[Balancer, ...] = ()
