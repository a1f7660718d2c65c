"""The port on which the zones of the DNS service are served, over UDP and TCP (RFC 1035, 4.2)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
from typing import Any, cast

from openstack_emulator.core.cloud import Cloud

log = logging.getLogger(__name__)

IDLE_SECONDS = 10.0
"""Time in which a client must send a whole message over TCP."""
MOST_CONNECTIONS = 100
_ATTEMPTS = 20


class NameServer:
    """Serves DNS until it is stopped. The DNS service is imported and opened by the first message."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._answers: Any = None
        self._stream: asyncio.Server | None = None
        self._datagrams: asyncio.DatagramTransport | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    async def start(self, host: str, port: int) -> int:
        """Listen on a port, 0 for a free one; return it. Raises OSError if it is in use."""
        for attempt in range(_ATTEMPTS):
            self._stream = await asyncio.start_server(self._serve, host, port)
            bound = int(self._stream.sockets[0].getsockname()[1])
            try:
                await self._listen(host, bound)
            except OSError as error:
                await self.stop()
                if port or error.errno != errno.EADDRINUSE or attempt + 1 == _ATTEMPTS:
                    raise
            else:
                return bound
        raise AssertionError("the last attempt returns or raises")

    async def stop(self) -> None:
        """Close the port and all connections."""
        if self._datagrams is not None:
            self._datagrams.close()
        if self._stream is not None:
            self._stream.close()
        for writer in list(self._connections):
            writer.close()
        self._datagrams = self._stream = None

    def respond(self, message: bytes, over_tcp: bool) -> list[bytes]:
        """Return the answers to a message."""
        try:
            if self._answers is None:
                self._answers = _answers(self._cloud)
            found: list[bytes] = self._answers.respond(message, over_tcp)
        except Exception:
            log.exception("A DNS message of %d bytes cannot be answered.", len(message))
            return []
        return found

    async def _listen(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        self._datagrams, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self), local_addr=(host, port))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the messages of a connection, each preceded by its length in two bytes."""
        if len(self._connections) >= MOST_CONNECTIONS:
            writer.close()
            return
        self._connections.add(writer)
        try:
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    size = int.from_bytes(await reader.readexactly(2), "big")
                    message = await reader.readexactly(size)
                    for answer in self.respond(message, over_tcp=True):
                        writer.write(len(answer).to_bytes(2, "big") + answer)
                    await writer.drain()
        except (asyncio.IncompleteReadError, TimeoutError, ConnectionError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


class _Datagrams(asyncio.DatagramProtocol):
    """Answers messages over UDP."""

    def __init__(self, server: NameServer) -> None:
        self._server = server
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        for answer in self._server.respond(data, over_tcp=False):
            if self._transport is not None:
                self._transport.sendto(answer, addr)


def _answers(cloud: Cloud) -> Any:
    from openstack_emulator.dns.rules.answering import Answers
    from openstack_emulator.dns.rules.composition import DomainNames

    names = cloud.of(DomainNames)
    cloud.store.flush()
    return Answers(names.zones, names.recordsets)
