"""Connections to clouds that a user names: only to public addresses and those that the operator allows.

The address is checked when it is connected to, for every connection: the login, each redirect of it, and the endpoints
of the catalog that the other cloud answers with. An earlier lookup of the name does not count.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from stoker.base.fetching import resolve_results
from stoker_foundation.addresses import Network, is_allowed

_OPTION = "remote_cloud_networks"


class AddressRefused(OSError):
    """Connections to the address are not allowed; a retry does not help."""


def is_refusal(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is an AddressRefused."""
    while error is not None and not isinstance(error, AddressRefused):
        error = error.__cause__ or error.__context__
    return error is not None


class Guard:
    """Makes connectors that reach allowed addresses only: public ones, and those in `networks` (`10.0.0.0/8`)."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks: list[Network] = [ipaddress.ip_network(network) for network in networks]

    def connector(self, **options: Any) -> aiohttp.TCPConnector:
        """Return a connector for an aiohttp session. Create it on the event loop that uses it."""
        return aiohttp.TCPConnector(socket_factory=self._socket, resolver=_Resolver(), **options)

    def check(self, address: str) -> None:
        """Raise AddressRefused if the address is not allowed."""
        if not is_allowed(address, self._networks):
            raise AddressRefused(errno.EACCES, f"{address} is not a public address, and is not in {_OPTION}")

    def _socket(self, place: Any) -> socket.socket:
        family, kind, protocol, _, address = place
        self.check(str(address[0]))
        new_socket = socket.socket(family, kind, protocol)
        new_socket.setblocking(False)
        return new_socket


class _Resolver(AbstractResolver):
    """Resolves names on threads of its own, since a lookup at a slow name server cannot be interrupted."""

    def __init__(self) -> None:
        self._workers = ThreadPoolExecutor(max_workers=32, thread_name_prefix="remote-cloud-names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a host, which are checked when they are connected to. Raises OSError."""
        lookup = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._workers, lookup)
        return resolve_results(host, found)

    async def close(self) -> None:
        """End the threads."""
        self._workers.shutdown(wait=False, cancel_futures=True)
