"""Requests that the cloud sends because a user wants it: of workflows, alarms and subscriptions of queues.

A user must not reach what only this machine reaches (server-side request forgery). Where servers have guests, users are
taken for strangers: their requests reach the services of the catalog, as guests do, and what the operator permits;
deliveries also reach public addresses. The address is checked that is connected to, redirects are not followed, and
proxies are not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address, ip_network
from socket import SHUT_RDWR, SOCK_STREAM, create_connection, getaddrinfo, socket
from ssl import create_default_context
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from openstack_emulator.core.urls import is_local, split_url
from stoker_foundation.addresses import Network, is_allowed, plain_address

Place = tuple[str, int]
"""An address and a port."""
PORTS = {"http": 80, "https": 443}
FRAMING = frozenset({"connection", "content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"})
"""Headers that are not taken from users: with them, a body would be read as a second request."""
LARGEST_ANSWER = 1024 * 1024
"""Bytes of an answer that are read."""
_PERMITTED = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<address>[0-9.]+|[0-9a-f:.]+:[0-9a-f:.]*?))(?P<length>/\d+)?(?::(?P<port>\d{1,5}))?",
    re.ASCII | re.IGNORECASE,
)


class SendFailed(Exception):
    """A request was not sent, or not answered; the message says why."""


@dataclass(frozen=True)
class PermittedAddresses:
    """Addresses that users may have requests sent to. port: None for all."""

    network: Network
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> PermittedAddresses:
        """Return what `ADDRESS`, `NETWORK`, `ADDRESS:PORT` or `NETWORK:PORT` names, with IPv6 ones in brackets.

        Raises: ValueError.
        """
        match = _PERMITTED.fullmatch(text)
        with suppress(ValueError):
            port = int(match["port"]) if match and match["port"] else None
            if match and port != 0 and (port or 0) < 65536:
                return cls(ip_network((match["six"] or match["address"]) + (match["length"] or "")), port)
        raise ValueError(
            f"{text!r} is not an address or a network, with a port or without: 127.0.0.1:9000, 10.0.0.0/8, [::1]:80"
        )

    def contains(self, place: Place) -> bool:
        """Whether a place is one of these."""
        address = plain_address(place[0])
        return address.version == self.network.version and address in self.network and self.port in (None, place[1])


@dataclass(frozen=True)
class Answer:
    """What a server has answered to a request."""

    status: int
    reason: str
    headers: dict[str, str]
    content: bytes


class RequestSender:
    """Sends requests for users.

    own: returns the URLs of the cloud and, after it, of the catalog's other services. guarded: servers have guests.
    permitted: what else may be reached. listening_address: where the cloud serves requests of users, once it is served:
    there, it does not take them for those of its operator.
    """

    def __init__(
        self, own: Callable[[], Sequence[str]], guarded: bool, permitted: Sequence[PermittedAddresses] = ()
    ) -> None:
        self._own = own
        self._guarded = guarded
        self._permitted = tuple(permitted)
        self.listening_address: Place | None = None

    def names_local(self, url: SplitResult) -> bool:
        """Whether a URL names this machine, or something else that is permitted by its address."""
        if is_local(url.netloc.rpartition("@")[2]):
            return True
        with suppress(ValueError):
            place = (str(ip_address(url.hostname or "")), url.port or PORTS[url.scheme])
            return any(network.contains(place) for network in self._permitted)
        return False

    def send(
        self, url: str, method: str, body: bytes | None, headers: Mapping[str, str], seconds: float, public: bool = True
    ) -> Answer:
        """Send a request, and return the answer, also one that is an error or a redirect; it blocks.

        seconds: how long it may take in all, after the name of the host was found. public: public addresses may be
        reached, too. Raises: SendFailed.
        """
        try:
            parts = urlsplit(url)
            if parts.scheme not in PORTS or not parts.hostname:
                raise SendFailed("the URL is not one of http or https")
            if not method.isalpha():
                raise SendFailed("the method is not a word")
            with self._connected(parts, seconds, public) as plain, _limited(plain, seconds):
                return _exchanged(plain, parts, method, body, headers)
        except (OSError, ValueError, HTTPException) as error:  # also an invalid port, or a name that is no host name
            raise SendFailed(str(error) or type(error).__name__) from None

    def _connected(self, parts: SplitResult, seconds: float, public: bool) -> socket:
        """Return a connection. Raises: SendFailed, OSError, ValueError."""
        host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
        found = getaddrinfo(host, port, type=SOCK_STREAM)
        allowed = [
            place
            for *_, address in found
            if (place := self._place((str(address[0]), int(address[1])), public)) is not None
        ]
        if not allowed:
            raise SendFailed(
                f"{host} has no address that users of this cloud may have requests sent to, at the port {port}; "
                "--allow-requests-to of `stoker up` permits more"
            )
        for last, place in enumerate(allowed, start=1 - len(allowed)):
            try:
                return create_connection(place, seconds)
            except OSError:
                if not last:
                    raise
        raise AssertionError("the last place is returned or raises")

    def _place(self, place: Place, public: bool) -> Place | None:
        """Return where to connect for an address; None if it may not be reached."""
        cloud, *others = (_places(url) for url in self._own())
        if place in cloud:
            return self.listening_address
        if any(place in services for services in others) or any(network.contains(place) for network in self._permitted):
            return place
        address = plain_address(place[0])
        if address.is_loopback or address.is_unspecified:
            return None if self._guarded else place
        return place if public and (not self._guarded or is_allowed(place[0], ())) else None


def _places(url: str) -> list[Place]:
    """Return the addresses of a service of the catalog, as far as they are known without asking for names."""
    parts = split_url(url)
    addresses = ["127.0.0.1", "::1"] if parts.hostname == "localhost" else [parts.hostname or ""]
    return [(address, parts.port or PORTS.get(parts.scheme, 0)) for address in addresses]


@contextmanager
def _limited(connection: socket, seconds: float) -> Iterator[None]:
    """Cut a connection off when the time has passed: the timeout of a socket begins again with every byte."""
    with connection.dup() as twin:
        end = Timer(seconds, _cut, [twin])
        end.daemon = True
        end.start()
        try:
            yield
        finally:
            end.cancel()


def _cut(connection: socket) -> None:
    with suppress(OSError):
        connection.shutdown(SHUT_RDWR)


def _exchanged(
    plain: socket, parts: SplitResult, method: str, body: bytes | None, headers: Mapping[str, str]
) -> Answer:
    """Send a request on a connection, and return the answer. Raises: OSError, ValueError, HTTPException."""
    connection = HTTPConnection(str(parts.hostname), parts.port or PORTS[parts.scheme])
    connection.default_port = PORTS[parts.scheme]  # which the header Host leaves out
    connection.sock = plain
    if parts.scheme == "https":
        connection.sock = create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    sent = {name: value for name, value in headers.items() if name.lower() not in FRAMING}
    try:
        connection.request(method.upper(), path, body, {**sent, "Connection": "close"})
        response = connection.getresponse()
        content = response.read(LARGEST_ANSWER)
        return Answer(response.status, response.reason, dict(response.headers.items()), content)
    finally:
        connection.close()
