"""Connections to clouds that a user names: to public addresses only, and to those that the operator lists.

The address is checked when it is connected to, for every connection: the login, each redirect of it, and the endpoints
of the catalog that the other cloud answers with. What the name led to before does not count.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Sequence
from typing import Any

import aiohttp
import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError

from stoker.base.addresses import Network, is_allowed

_OPTION = "remote_cloud_networks"


class AddressRefused(OSError):
    """The address may not be connected to; trying again does not help."""


def is_refusal(error: BaseException | None) -> bool:
    """Whether an error, or what it came of, is an AddressRefused."""
    while error is not None and not isinstance(error, AddressRefused):
        error = error.__cause__ or error.__context__
    return error is not None


class Guard:
    """Makes what connects to allowed addresses only. `networks` (`10.0.0.0/8`) are allowed besides public addresses."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks: list[Network] = [ipaddress.ip_network(network) for network in networks]

    def connector(self, **options: Any) -> aiohttp.TCPConnector:
        """For aiohttp's sessions."""
        return aiohttp.TCPConnector(socket_factory=self._socket, **options)

    def session(self) -> requests.Session:
        """For keystoneauth. Proxies of the environment are not used: they would look names up themselves."""
        session = requests.Session()
        session.trust_env = False
        for prefix in ("http://", "https://"):
            session.mount(prefix, _Adapter(self))
        return session

    def check(self, address: str) -> None:
        """Raise AddressRefused for an address that is not allowed."""
        if not is_allowed(address, self._networks):
            raise AddressRefused(errno.EACCES, f"{address} is not a public address, nor in {_OPTION}")

    def _socket(self, place: Any) -> socket.socket:
        family, kind, protocol, _, address = place
        self.check(str(address[0]))
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made

    def connect(self, host: str, port: int, timeout: Any) -> socket.socket:
        """A connection to the first allowed address that the host's name has now. Raises OSError."""
        failure = OSError(f"{host} has no address")
        for *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            try:
                self.check(str(place[0]))
                seconds = timeout if isinstance(timeout, int | float) else None
                return socket.create_connection((str(place[0]), port), seconds)
            except OSError as error:
                failure = error
        raise failure


class _Adapter(HTTPAdapter):
    """requests' adapter with connections that the guard makes."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        guard = self._guard

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return _connected(self, guard)

        class Encrypted(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return _connected(self, guard)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = Encrypted

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}


def _connected(connection: HTTPConnection, guard: Guard) -> socket.socket:
    try:
        return guard.connect(connection.host, connection.port or 0, connection.timeout)
    except OSError as error:
        raise NewConnectionError(connection, str(error)) from error
