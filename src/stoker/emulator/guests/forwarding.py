"""How a user of this machine reaches floating IPs: at loopback addresses, whose connections are passed on.

The address 172.24.4.17 is 127.24.4.17 on this machine. Ports below 1024, which need privileges, are 10000 higher:
`http://127.24.4.17:10080/` is port 80.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from socket import SOCK_STREAM, socket

from stoker.emulator.guests.fabric import Fabric, NetworkFailed
from stoker.emulator.guests.spaces import network_space
from stoker.emulator.guests.streams import join
from stoker.emulator.guests.topology import Door

log = logging.getLogger(__name__)

PRIVILEGED, RAISED = 1024, 10_000
CONNECT_SECONDS = 10.0
Listener = tuple[str, int]


def local_address(address: str) -> str:
    """Return the loopback address for an IPv4 address of an external network; none that services of this machine
    commonly have (127.0.0.0/24)."""
    octets = address.split(".")[1:]
    if octets[:2] == ["0", "0"]:
        octets[0] = "255"
    return ".".join(["127", *octets])


def local_port(port: int) -> int:
    """Return the port of the loopback address for a port of a floating IP."""
    return port + RAISED if port < PRIVILEGED else port


class Forwarders:
    """Listens for the open TCP ports of floating IPs."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._servers: dict[Listener, asyncio.Server] = {}
        self._refused: set[Listener] = set()
        self._wanted: dict[Listener, tuple[str, str, int]] = {}
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    def change(self, doors: Sequence[Door]) -> None:
        """Listen for these and no others, soon."""
        wanted = {
            (local_address(door.address), local_port(port)): (door.network, door.address, port)
            for door in doors
            for port in sorted(door.ports, reverse=True)  # a low port wins its place from a high one
        }
        if wanted == self._wanted or self._closed:
            return
        self._wanted = wanted
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow())

    async def close(self) -> None:
        """Listen no more."""
        self._closed, self._wanted = True, {}
        if self._task is not None:
            await self._task
        await self._follow()

    async def _follow(self) -> None:
        while (wanted := set(self._wanted)) != self._servers.keys() | (self._refused & wanted):
            self._refused &= wanted
            for place in self._servers.keys() - wanted:
                self._servers.pop(place).close()
            for place in wanted - self._servers.keys() - self._refused:
                await self._listen(place)

    async def _listen(self, place: Listener) -> None:
        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._forward(place, reader, writer)

        try:
            self._servers[place] = await asyncio.start_server(forward, *place)
        except OSError as error:
            self._refused.add(place)
            _, address, port = self._wanted.get(place, ("", "", 0))
            log.warning("Port %d of %s cannot be reached at %s:%d: %s", port, address, *place, error)

    async def _forward(self, place: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            network, address, port = self._wanted[place]
            inner = await self._connection(network, address, port)
        except (OSError, KeyError, NetworkFailed, TimeoutError) as error:
            log.debug("A connection to %s:%d cannot be passed on: %s", *place, error)
            writer.transport.abort()
            return
        await join((reader, writer), inner)

    async def _connection(
        self, network: str, address: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        (descriptor,) = await self._fabric.order(
            "open", network_space(network), kind=int(SOCK_STREAM), bound=None, listen=False
        )
        made = socket(fileno=descriptor)
        try:
            made.setblocking(False)
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(made, (address, port))
                return await asyncio.open_connection(sock=made)
        except BaseException:
            with suppress(OSError):
                made.close()
            raise
