"""How guests reach the cloud: sockets that listen in the network namespace of each guest.

A guest reaches the metadata service at 169.254.169.254, and at the loopback addresses of the catalog's endpoints the
services there, such as the orchestration service of `stoker up`. Nothing else of this machine can be reached.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from socket import socket
from urllib.parse import urlsplit

from aiohttp import web

from stoker.emulator.core.app import guest_runner
from stoker.emulator.core.cloud import Cloud
from stoker.emulator.guests.driver import Address, Cloudside
from stoker.emulator.guests.streams import join

METADATA = ("169.254.169.254", 80)
METADATA_MOUNT = "/metadata"
LOOPBACK = "127.0.0.1"
CFN, CFN_PORT = "cloudformation", 8000
"""The CloudFormation API, which heat-cfntools request at this port only, wherever it is in the catalog."""


class Doors(Cloudside):
    """Serves a cloud to its guests. ended: see `Cloudside.ended`."""

    def __init__(self, cloud: Cloud, ended: Callable[[str, str], None]) -> None:
        self._cloud = cloud
        self._ended = ended

    def ended(self, guest_id: str, reason: str) -> None:
        self._ended(guest_id, reason)

    def addresses(self) -> list[Address]:
        return [METADATA, *((LOOPBACK, port) for port in self._ports())]

    def _ports(self) -> dict[int, int]:
        """Return the loopback ports at which guests reach the services, each with the service's own port."""
        urls = {name: urlsplit(url) for name, url in self._cloud.extra_endpoints.items()}
        urls["own"] = urlsplit(self._cloud.endpoint)
        ports = {name: url.port for name, url in urls.items() if url.hostname in (LOOPBACK, "localhost") and url.port}
        found = {port: port for port in ports.values()}
        return {CFN_PORT: ports[CFN], **found} if CFN in ports else found

    async def serve(self, guest_id: str, listeners: Mapping[Address, socket]) -> Callable[[], Awaitable[None]]:
        runners: list[web.AppRunner] = []
        servers: list[asyncio.Server] = []
        own, ports = urlsplit(self._cloud.endpoint).port, self._ports()
        for (address, port), listener in listeners.items():
            listener.setblocking(False)
            if (address, port) == METADATA or port == own:
                below = METADATA_MOUNT if address == METADATA[0] else ""
                served = guest_runner(self._cloud, guest_id, below)
                await served.setup()
                await web.SockSite(served, listener).start()
                runners.append(served)
            else:
                servers.append(await asyncio.start_server(_forwarder(ports[port]), sock=listener))

        async def close() -> None:
            for server in servers:
                server.close()
            for runner in runners:
                await runner.cleanup()

        return close


def _forwarder(port: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return what connects a guest's connection with a loopback port of this machine."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            writer.transport.abort()
            return
        await join((reader, writer), inner)

    return forward
