"""Answers to the DHCP requests of guests: each port gets the addresses and routes that the network service gave it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network
from socket import AF_INET6, SOCK_DGRAM, inet_aton, socket
from typing import Any

from openstack_emulator.core.guests.topology import Lease
from openstack_emulator.guests import dhcp6
from openstack_emulator.guests.namespace_process import NamespaceProcess
from openstack_emulator.guests.rules import link_local
from openstack_emulator.guests.spaces import BRIDGE, network_space

SERVER_PORT, CLIENT_PORT = 67, 68
EVERYBODY = "255.255.255.255"
REQUEST, REPLY, ETHERNET = 1, 2, 1
COOKIE = b"\x63\x82\x53\x63"
HEADER = struct.Struct("!BBBBIHH4s4s4s4s16s64s128s")
"""RFC 2131, section 2: the fields before the options."""
PAD, NETMASK, ROUTER, NAME_SERVERS, MTU, ADDRESS, SECONDS, KIND, SERVER, END, ROUTES = (
    0, 1, 3, 6, 26, 50, 51, 53, 54, 255, 121,
)  # fmt: skip
"""Options of RFC 2132, and classless routes of RFC 3442."""
DISCOVER, OFFER, REQUESTED, ACKNOWLEDGED, REFUSED = 1, 2, 3, 5, 6
LEASE_SECONDS = 86400
SHORTEST = 300
"""Bytes of a message, which BOOTP demands (RFC 951)."""
DEFAULT_ROUTE = "0.0.0.0/0"


def answer(data: bytes, server: str, leases: Mapping[str, Lease]) -> bytes | None:
    """Return the answer to a message of a client, None if there is none.

    server: the address of the server. leases: by MAC address.
    """
    if len(data) < HEADER.size + len(COOKIE) or data[HEADER.size : HEADER.size + len(COOKIE)] != COOKIE:
        return None
    head = HEADER.unpack_from(data)
    mac = head[11][:6].hex(":")
    options = _options(data[HEADER.size + len(COOKIE) :])
    kind, lease = options.get(KIND, b"")[:1], leases.get(mac)
    if head[:3] != (REQUEST, ETHERNET, 6) or lease is None or kind not in (bytes([DISCOVER]), bytes([REQUESTED])):
        return None
    if options.get(SERVER, inet_aton(server)) != inet_aton(server):
        return None  # the client has chosen another server
    address = ip_interface(lease.address).ip.packed
    requested_address = options.get(ADDRESS) or (head[7] if any(head[7]) else address)
    if kind == bytes([REQUESTED]) and requested_address != address:
        offered, found = bytes(4), {KIND: bytes([REFUSED]), SERVER: inet_aton(server)}
    else:
        offered, found = address, _offered(server, lease, OFFER if kind == bytes([DISCOVER]) else ACKNOWLEDGED)
    fields = (REPLY, ETHERNET, 6, 0, head[4], 0, head[6], bytes(4), offered, inet_aton(server), head[10], head[11])
    encoded = b"".join(bytes([code, len(value)]) + value for code, value in found.items())
    return (HEADER.pack(*fields, b"", b"") + COOKIE + encoded + bytes([END])).ljust(SHORTEST, b"\0")


def _offered(server: str, lease: Lease, kind: int) -> dict[int, bytes]:
    found = {
        KIND: bytes([kind]),
        SERVER: inet_aton(server),
        SECONDS: struct.pack("!I", LEASE_SECONDS),
        NETMASK: ip_interface(lease.address).netmask.packed,
        MTU: struct.pack("!H", lease.mtu),
    }
    if lease.name_servers:
        found[NAME_SERVERS] = b"".join(inet_aton(server) for server in lease.name_servers)
    if (gateway := dict(lease.routes).get(DEFAULT_ROUTE)) is not None:
        found[ROUTER] = inet_aton(gateway)
    if lease.routes:
        found[ROUTES] = b"".join(_route(to, hop) for to, hop in lease.routes)
    return found


def _route(destination: str, hop: str) -> bytes:
    """Return a route as RFC 3442 encodes it: only the octets of the prefix are sent."""
    network = ip_network(destination)
    octets = (network.prefixlen + 7) // 8
    return bytes([network.prefixlen]) + network.network_address.packed[:octets] + ip_address(hop).packed


def _options(data: bytes) -> dict[int, bytes]:
    found, offset = {}, 0
    while offset < len(data) and data[offset] != END:
        if data[offset] == PAD:
            offset += 1
            continue
        if offset + 2 > len(data):
            break
        found[data[offset]] = data[offset + 2 : offset + 2 + data[offset + 1]]
        offset += 2 + data[offset + 1]
    return found


class _Responder(asyncio.DatagramProtocol):
    """Answers in one network. own: what identifies the server to its clients."""

    def __init__(self, own: str, leases: Mapping[str, Any]) -> None:
        self.own = own
        self.leases = leases
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # not of asyncio's class in uvloop


class _Answerer4(_Responder):
    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        if (reply := answer(data, self.own, self.leases)) is not None:
            self.transport.sendto(reply, (EVERYBODY, CLIENT_PORT))


class _Answerer6(_Responder):
    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        sender = addr[0].partition("%")[0]
        lease = next((lease for mac, lease in self.leases.items() if link_local(mac) == sender), None)
        if (reply := dhcp6.answer(data, dhcp6.server_identifier(self.own), lease)) is not None:
            self.transport.sendto(reply, addr)


@dataclass(frozen=True)
class _Protocol:
    """answerer: what answers. opened: arguments of the order `open`."""

    answerer: type[_Responder]
    opened: Mapping[str, Any]


DHCP4 = _Protocol(_Answerer4, {"bound": ["", SERVER_PORT]})
DHCP6 = _Protocol(
    _Answerer6, {"bound": ["::", dhcp6.SERVER_PORT], "family": int(AF_INET6), "group": dhcp6.SERVERS}
)  # fmt: skip


class DhcpServers:
    """Answers in each network that has a DHCP server. protocol: `DHCP4` or `DHCP6`."""

    def __init__(self, namespace_process: NamespaceProcess, protocol: _Protocol) -> None:
        self._namespace_process = namespace_process
        self._protocol = protocol
        self._servers: dict[str, _Responder] = {}

    async def serve(self, networks: Mapping[str, tuple[str, Mapping[str, object]]]) -> None:
        """Answer in these networks and no others: the address of the server (of DHCPv6: the ID of the network), and the
        leases by MAC address.

        Raises: NetworkFailed.
        """
        for key, running in list(self._servers.items()):
            if key not in networks or networks[key][0] != running.own:
                self._servers.pop(key).transport.close()
                await asyncio.sleep(0)  # it closes its socket in the next turn of the event loop
        for key, (own, leases) in networks.items():
            if key not in self._servers:
                self._servers[key] = await self._open(key, self._protocol.answerer(own, leases))
            self._servers[key].leases = leases

    async def _open(self, network: str, answerer: _Responder) -> _Responder:
        (descriptor,) = await self._namespace_process.order(
            "open", network_space(network), kind=int(SOCK_DGRAM), listen=False, device=BRIDGE, **self._protocol.opened
        )
        connection = socket(fileno=descriptor)
        connection.setblocking(False)
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: answerer, sock=connection)
        return answerer
