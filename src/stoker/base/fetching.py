"""Texts that a request, or a template, names by URL (`template_url`, `TemplateURL`).

A user must not make the service read for him what only the service can reach. Where a name leads is checked on the
address that is connected to, at the moment of connecting, for every redirect anew: what a name meant before does not
count.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from stoker.base.errors import BadValue, RequestLimitExceeded

_SCHEMES = ("http", "https")
_CHUNK = 65536
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def fetch_text(url: str, limit: int, timeout: float, networks: Sequence[str] = ()) -> str:
    """The text at an http or https URL.

    `limit` is in bytes; `timeout` is how many seconds all of it may take. Only public addresses are connected to, and
    those of `networks` (`10.0.0.0/8`); proxies of the environment are not used, since they would look names up
    themselves. Raises BadValue when the URL does not lead to a text in UTF-8, RequestLimitExceeded when it is larger.
    """
    if urlsplit(url).scheme not in _SCHEMES:
        raise BadValue(f"The URL of a template must be http or https; it is {url!r}.")
    deadline = time.monotonic() + timeout
    opener = _opener([ipaddress.ip_network(network) for network in networks])
    try:
        with opener.open(url, timeout=timeout) as response:
            content = _read(response, limit, deadline)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        raise BadValue(f"The template at {url} cannot be fetched: {error}.") from None
    if len(content) > limit:
        raise RequestLimitExceeded(
            f"The template at {url} is larger than {limit} bytes, which max_template_size allows."
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadValue(f"The template at {url} is not UTF-8: byte {error.start} is invalid.") from None


def _read(response: Any, limit: int, deadline: float) -> bytes:
    """The body, or as much as shows that it is too large. Raises TimeoutError."""
    content = b""
    while len(content) <= limit:
        if time.monotonic() > deadline:
            raise TimeoutError("it takes longer than template_fetch_timeout allows")
        chunk: bytes = response.read1(min(_CHUNK, limit + 1 - len(content)))
        if not chunk:
            break
        content += chunk
    return content


# -- connecting to checked addresses only ---------------------------------------------------------------------------


def _opener(networks: Sequence[Network]) -> urllib.request.OpenerDirector:
    """Opens http and https; without handlers of files or of FTP, so that no redirect leads to one either."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        _Http(networks),
        _Https(networks),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


class _Http(urllib.request.HTTPHandler):
    def __init__(self, networks: Sequence[Network]) -> None:
        super().__init__()
        self._networks = networks

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_connection, http.client.HTTPConnection, self._networks), request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, networks: Sequence[Network]) -> None:
        super().__init__()
        self._networks = networks

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_connection, http.client.HTTPSConnection, self._networks), request)


def _connection(
    kind: type[http.client.HTTPConnection], networks: Sequence[Network], host: str, **options: Any
) -> http.client.HTTPConnection:
    made = kind(host, **options)
    made._create_connection = partial(_connect, networks)  # type: ignore[attr-defined]
    return made


def _connect(
    networks: Sequence[Network], address: tuple[str, int], timeout: float, source: tuple[str, int] | None = None
) -> socket.socket:
    """A connection to the first allowed address that the host's name has now. Raises OSError."""
    host, port = address
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    allowed = [place[0] for *_, place in found if _is_allowed(str(place[0]), networks)]
    if not allowed:
        raise OSError(f"{host} is at no public address, nor in template_fetch_networks")
    failure = OSError(f"{host} cannot be reached")
    for place in allowed:
        try:
            return socket.create_connection((str(place), port), timeout, source)
        except OSError as error:
            failure = error
    raise failure


def _is_allowed(text: str, networks: Sequence[Network]) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        address = _inside(address) or address
    listed = any(address.version == network.version and address in network for network in networks)
    return listed or (address.is_global and not address.is_multicast)


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for: mapped, 6to4, or translated (RFC 6052)."""
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
