"""Health monitors: whether the members of load balancers answer."""

from __future__ import annotations

import asyncio
import os
import ssl
import struct
from contextlib import suppress
from http.client import responses
from socket import IPPROTO_ICMP, SOCK_RAW, SOCK_STREAM, socket

from openstack_emulator.core.guests.topology import Member, Monitor
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.streams import Connection

SHORTEST_DELAY = 0.1
ECHO, ECHO_REPLY = 8, 0
LONGEST_STATUS_LINE = 1024


async def connected(
    namespace_process: NamespaceProcess, space: str, address: str, port: int, tls: ssl.SSLContext | None = None
) -> Connection:
    """Return a connection to an address that is reached in a namespace.

    Raises: OSError, NetworkFailed.
    """
    (descriptor,) = await namespace_process.order("open", space, kind=int(SOCK_STREAM), bound=None, listen=False)
    connection = socket(fileno=descriptor)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, (address, port))
        return await asyncio.open_connection(sock=connection, ssl=tls, server_hostname="" if tls else None)
    except BaseException:
        with suppress(OSError):
            connection.close()
        raise


class Health:
    """Probes a member until it is cancelled. healthy: None before the first probe."""

    def __init__(self, namespace_process: NamespaceProcess, space: str, member: Member, monitor: Monitor) -> None:
        self.of = (space, member.probed, monitor)
        self.healthy: bool | None = None
        self._namespace_process, self._space, self._monitor = namespace_process, space, monitor
        self._address, self._port = member.probed
        self._differing = 0
        self.task = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            self._note(await self._probe())
            await asyncio.sleep(max(self._monitor.delay, SHORTEST_DELAY))

    def _note(self, answered: bool) -> None:
        """Note the result of a probe. The first one decides; later ones must be repeated to change the state."""
        self._differing = 0 if answered == self.healthy else self._differing + 1
        needed = self._monitor.rise if answered else self._monitor.fall
        if self.healthy is None or self._differing >= needed:
            self.healthy, self._differing = answered, 0

    async def _probe(self) -> bool:
        try:
            async with asyncio.timeout(self._monitor.timeout or None):
                if self._monitor.kind == "PING":
                    return await self._ping()
                return await self._connect()
        except (OSError, NetworkFailed, TimeoutError, ValueError):  # ssl.SSLError is an OSError
            return False

    async def _connect(self) -> bool:
        tls = unverified() if self._monitor.kind in ("HTTPS", "TLS-HELLO") else None
        reader, writer = await connected(self._namespace_process, self._space, self._address, self._port, tls)
        try:
            if self._monitor.kind not in ("HTTP", "HTTPS"):
                return True
            host = self._monitor.host or self._address
            request = (
                f"{self._monitor.method} {self._monitor.path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            )
            writer.write(request.encode())
            line = await reader.read(LONGEST_STATUS_LINE)
            return int(line.split()[1]) in self._monitor.codes
        except IndexError:
            return False
        finally:
            writer.transport.abort()

    async def _ping(self) -> bool:
        (descriptor,) = await self._namespace_process.order(
            "open", self._space, kind=int(SOCK_RAW), bound=None, listen=False, protocol=IPPROTO_ICMP
        )
        identifier = os.urandom(4)
        loop = asyncio.get_running_loop()
        with socket(fileno=descriptor) as connection:
            connection.setblocking(False)
            connection.connect((self._address, 0))  # which returns at once, and needs no look-up of the address
            await loop.sock_sendall(connection, echo(identifier))
            while True:
                packet = await loop.sock_recv(connection, 1500)
                header = (packet[0] & 15) * 4
                if packet[header] == ECHO_REPLY and packet[header + 4 : header + 8] == identifier:
                    return True


def echo(identifier: bytes) -> bytes:
    """Return an echo request of ICMP (RFC 792). identifier: four octets, which its answer repeats."""
    words = struct.unpack("!2H", identifier)
    total = (ECHO << 8) + sum(words)
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!BBH", ECHO, 0, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + identifier


def unverified() -> ssl.SSLContext:
    """Return settings of TLS that accept every certificate, as health monitors do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def status_line(status: int) -> bytes:
    """Return an empty response of HTTP with a status."""
    return f"HTTP/1.0 {status} {responses[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
