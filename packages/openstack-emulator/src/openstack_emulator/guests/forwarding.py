"""How a user of this machine reaches floating IPs: at loopback addresses, whose connections are passed on.

The address 172.24.4.17 is 127.24.4.17 on this machine. Ports below 1024, which need privileges, are 10000 higher:
`http://127.24.4.17:10080/` is port 80.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from openstack_emulator.core.guests.topology import ForwardedAddress
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.probing import connected
from openstack_emulator.guests.spaces import network_space
from openstack_emulator.guests.streams import Connection, ended, join

log = logging.getLogger(__name__)

FIRST_UNPRIVILEGED_PORT, PRIVILEGED_PORT_OFFSET = 1024, 10_000
CONNECT_SECONDS = 10.0
RETRY_SECONDS = 5.0
"""After which a port that was in use is tried again."""
Listener = tuple[str, int]
"""A loopback address, and a port of it."""
PORT_IN_USE = (
    "Port %d of the floating IP %s is not reached at %s:%d, which cannot be listened at (%s). Another program uses it, "
    "such as another cloud with guests, whose server answers there. It is tried again until it is free."
)


def local_address(address: str) -> str:
    """Return the loopback address for an IPv4 address of an external network; none that services of this machine
    commonly have (127.0.0.0/24)."""
    octets = address.split(".")[1:]
    if octets[:2] == ["0", "0"]:
        octets[0] = "255"
    return ".".join(["127", *octets])


def local_port(port: int) -> int:
    """Return the port of the loopback address for a port of a floating IP."""
    return port + PRIVILEGED_PORT_OFFSET if port < FIRST_UNPRIVILEGED_PORT else port


class Forwarders:
    """Listens for the open TCP ports of floating IPs. A port that is in use is tried again until it is free.

    retry_seconds: the time between two attempts.
    """

    def __init__(self, namespace_process: NamespaceProcess, retry_seconds: float = RETRY_SECONDS) -> None:
        self._namespace_process = namespace_process
        self._retry_seconds = retry_seconds
        self._servers: dict[Listener, asyncio.Server] = {}
        self._refused: set[Listener] = set()
        self._reported: set[Listener] = set()
        self._needed: dict[Listener, tuple[str, str, int]] = {}
        self._closed = False
        self._task: asyncio.Task[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._connections: set[asyncio.Task[None]] = set()

    def change(self, forwarded_addresses: Sequence[ForwardedAddress]) -> None:
        """Listen for these addresses and no others; returns before it is done."""
        needed = {
            (local_address(forwarded.address), local_port(port)): (forwarded.network, forwarded.address, port)
            for forwarded in forwarded_addresses
            for port in sorted(forwarded.ports, reverse=True)  # a low port wins its place from a high one
        }
        if needed == self._needed or self._closed:
            return
        self._needed = needed
        self._start_listening()

    def _start_listening(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._serve_needed())

    async def close(self) -> None:
        """Listen no more, and end the connections."""
        self._closed, self._needed = True, {}
        if self._retry is not None:
            self._retry.cancel()
        if self._task is not None:
            await self._task
        await self._serve_needed()
        await ended(self._connections)

    async def _serve_needed(self) -> None:
        """Close and open servers until they are those of `_needed`, which may change meanwhile."""
        while (needed := set(self._needed)) != self._servers.keys() | (self._refused & needed):
            self._refused &= needed
            for place in self._servers.keys() - needed:
                self._servers.pop(place).close()
            for place in needed - self._servers.keys() - self._refused:
                await self._listen(place)
        self._reported &= self._refused
        if self._retry is not None:
            self._retry.cancel()
        if self._refused and not self._closed:
            self._retry = asyncio.get_running_loop().call_later(self._retry_seconds, self._retry_later)

    def _retry_later(self) -> None:
        self._refused.clear()
        self._start_listening()

    async def _listen(self, place: Listener) -> None:
        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._forward(place, reader, writer))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)

        _, address, port = self._needed.get(place, ("", "", 0))
        try:
            self._servers[place] = await asyncio.start_server(forward, *place)
        except OSError as error:
            self._refused.add(place)
            if place not in self._reported:
                self._reported.add(place)
                log.warning(PORT_IN_USE, port, address, *place, error.strerror or error)
        else:
            if place in self._reported:
                log.warning("Port %d of the floating IP %s is now reached at %s:%d.", port, address, *place)

    async def _forward(self, place: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            network, address, port = self._needed[place]
            inner = await self._connection(network, address, port)
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        except (OSError, KeyError, NetworkFailed, TimeoutError) as error:
            log.debug("A connection to %s:%d cannot be passed on: %s", *place, error)
            writer.transport.abort()
            return
        await join((reader, writer), inner)

    async def _connection(self, network: str, address: str, port: int) -> Connection:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await connected(self._namespace_process, network_space(network), address, port)
