"""How guests reach the cloud: sockets that listen in network namespaces.

A guest reaches the metadata service at 169.254.169.254 by way of its networks, and at the loopback addresses of the
catalog's endpoints the services there, such as the orchestration service of `stoker up`. Nothing else of this machine
can be reached.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from socket import socket
from urllib.parse import urlsplit

from aiohttp import web

from openstack_emulator.core.app import guest_runner
from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.guests.driver import Address, CloudInterface
from openstack_emulator.core.guests.topology import METADATA_ADDRESS
from openstack_emulator.guests.streams import ended, join

METADATA = (METADATA_ADDRESS, 80)
METADATA_MOUNT = "/metadata"
STRANGER = "stranger"
"""In place of a server's ID, for requests to the metadata service from an address that no server has."""
LOOPBACK = "127.0.0.1"
CFN, CFN_PORT = "cloudformation", 8000
"""The CloudFormation API, which heat-cfntools request at this port only, wherever it is in the catalog."""


class GuestEndpoints(CloudInterface):
    """Serves a cloud to its guests. ended: see `CloudInterface.ended`."""

    def __init__(self, cloud: Cloud, ended: Callable[[str, str], None]) -> None:
        self._cloud = cloud
        self._ended = ended

    def ended(self, guest_id: str, reason: str) -> None:
        self._ended(guest_id, reason)

    def addresses(self) -> list[Address]:
        return [(LOOPBACK, port) for port in self._ports()]

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
        passing: set[asyncio.Task[None]] = set()
        own, ports = urlsplit(self._cloud.endpoint).port, self._ports()
        for (_, port), listener in listeners.items():
            listener.setblocking(False)
            if port == own:
                runners.append(await _served(guest_runner(self._cloud, lambda address: guest_id), listener))
            else:
                servers.append(await asyncio.start_server(_forwarder(ports[port], passing), sock=listener))

        async def close() -> None:
            for server in servers:
                server.close()
            await ended(list(passing))
            for runner in runners:
                await runner.cleanup()

        return close

    async def serve_metadata(self, listener: socket, sender: Callable[[str], str]) -> Callable[[], Awaitable[None]]:
        listener.setblocking(False)
        runner = await _served(
            guest_runner(self._cloud, lambda address: sender(address) or STRANGER, METADATA_MOUNT), listener
        )
        return runner.cleanup


async def _served(runner: web.AppRunner, listener: socket) -> web.AppRunner:
    await runner.setup()
    await web.SockSite(runner, listener).start()
    return runner


def _forwarder(
    port: int, passing: set[asyncio.Task[None]]
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
    """Return what connects a guest's connection with a loopback port of this machine. passing: the tasks that do it."""

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(forward(reader, writer))
        passing.add(task)
        task.add_done_callback(passing.discard)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            writer.transport.abort()
            return
        await join((reader, writer), inner)

    return begin
