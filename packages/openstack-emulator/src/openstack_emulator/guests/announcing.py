"""Routers announce themselves and their IPv6 prefixes to guests (RFC 4861, RFC 8106)."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from socket import AF_INET6, IPPROTO_ICMPV6, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, IPV6_PKTINFO, SOCK_RAW, socket

from openstack_emulator.core.guests.topology import Advertisement, Link, Topology
from openstack_emulator.guests.namespace_process import NamespaceProcess
from openstack_emulator.guests.rules import link_local
from openstack_emulator.guests.spaces import Plan, router_interface, router_space

log = logging.getLogger(__name__)

EVERYBODY = ("ff02::1", 0)
SOLICITATION, ADVERTISEMENT = 133, 134
HOPS = 255
"""Of announcements: receivers drop those that a router has passed on."""
MANAGED, OTHER, ON_LINK, AUTONOMOUS = 0x80, 0x40, 0x80, 0x40
LINK_ADDRESS, PREFIX, MTU, NAME_SERVERS = 1, 3, 5, 25
GUEST_HOPS = 64
ROUTER_SECONDS, PREFERRED_SECONDS, VALID_SECONDS = 1800, 14400, 86400
INTERVAL = 200.0
FIRST_SECONDS = 1.0
"""How soon an announcement is tried again that cannot be sent: a new interface may not use its address yet, from which
guests expect it."""


def announcement(announced: Advertisement, mac: str) -> bytes:
    """Return a router advertisement; the kernel sets its checksum. mac: of the router."""
    flags = announced.managed * MANAGED | announced.other * OTHER
    options = [bytes([LINK_ADDRESS, 1]) + bytes.fromhex(mac.replace(":", ""))]
    options.append(struct.pack("!BBHI", MTU, 1, 0, announced.mtu))
    for text, autonomous in announced.prefixes:
        prefix = ip_network(text)
        own = ON_LINK | autonomous * AUTONOMOUS
        head = (PREFIX, 4, prefix.prefixlen, own, VALID_SECONDS, PREFERRED_SECONDS, 0)
        options.append(struct.pack("!BBBBIII", *head) + prefix.network_address.packed)
    if servers := b"".join(ip_address(server).packed for server in announced.name_servers):
        options.append(struct.pack("!BBHI", NAME_SERVERS, 1 + len(servers) // 8, 0, ROUTER_SECONDS) + servers)
    return struct.pack("!BBHBBHII", ADVERTISEMENT, 0, 0, GUEST_HOPS, flags, ROUTER_SECONDS, 0, 0) + b"".join(options)


class _Announcer:
    """Announces a router on one link: at first, in an interval, and when a guest asks."""

    def __init__(self, opened: socket, link: Link) -> None:
        self._socket = opened
        self._socket.setblocking(False)
        self._socket.setsockopt(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, HOPS)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self.link = link
        self._loop.add_reader(self._socket, self._receive)

    def announce(self) -> None:
        """Announce the router now, and again later."""
        if self._timer is not None:
            self._timer.cancel()
        delay = INTERVAL
        if self.link.announced is not None:
            try:
                source = struct.pack("@16sI", ip_address(link_local(self.link.mac)).packed, 0)
                data = announcement(self.link.announced, self.link.mac)
                self._socket.sendmsg([data], [(IPPROTO_IPV6, IPV6_PKTINFO, source)], 0, EVERYBODY)
            except OSError as error:
                log.debug("The router on the interface %s is not announced yet: %s", self.link.id, error)
                delay = FIRST_SECONDS
        self._timer = self._loop.call_later(delay, self.announce)

    def close(self) -> None:
        """Announce no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._socket)
        self._socket.close()

    def _receive(self) -> None:
        try:
            data = self._socket.recv(2000)
        except OSError:  # the interface is gone
            return
        if data[:1] == bytes([SOLICITATION]):
            self.announce()


class Announcers:
    """Announces the routers of a cloud that are in use."""

    def __init__(self, namespace_process: NamespaceProcess) -> None:
        self._namespace_process = namespace_process
        self._open: dict[str, _Announcer] = {}

    async def serve(self, topology: Topology, plan: Plan) -> None:
        """Announce the routers of a topology that are in the plan, and no others. Raises: NetworkFailed."""
        needed = _announcing(topology, plan)
        for interface in self._open.keys() - needed.keys():
            self._open.pop(interface).close()
        for interface, (space, link) in needed.items():
            if interface not in self._open:
                (descriptor,) = await self._namespace_process.order(
                    "open", space, kind=int(SOCK_RAW), bound=None, listen=False, device=interface,
                    protocol=IPPROTO_ICMPV6, family=int(AF_INET6),
                )  # fmt: skip
                self._open[interface] = _Announcer(socket(fileno=descriptor), link)
                self._open[interface].announce()
            elif self._open[interface].link != link:
                self._open[interface].link = link
                self._open[interface].announce()

    def close(self) -> None:
        """Announce no routers any more."""
        while self._open:
            self._open.popitem()[1].close()


def _announcing(topology: Topology, plan: Plan) -> Mapping[str, tuple[str, Link]]:
    """Return the namespaces and links of the routers to announce, by the names of the interfaces."""
    interfaces = {(cable.space, cable.interface) for cable in plan.cables.values()}
    found = {
        router_interface(link): (router_space(router.id), link)
        for router in topology.routers.values()
        for link in router.links
        if link.announced is not None
    }
    return {name: (space, link) for name, (space, link) in found.items() if (space, name) in interfaces}
