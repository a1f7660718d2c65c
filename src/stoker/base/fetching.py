"""Documents that a request, or a template, names by URL (`template_url`, `TemplateURL`).

A user must not make the service read for him what only the service can reach. Where a name leads is checked on the
address that is connected to, at the moment of connecting, for every redirect again: what a name meant before does not
count. What a host answers is never repeated, so that nobody finds out through Stoker what listens where.

A slow host holds nobody up but the one who asked: fetches run on an event loop of their own, each with a deadline for
all of it, and a project has only some at a time.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from stoker.base.addresses import Network, is_allowed
from stoker.base.errors import BadValue, Overloaded, RequestLimitExceeded

_SCHEMES = ("http", "https")
_CHUNK = 65536
_REDIRECTS = 5
_PROJECTS = 8
"""How many projects may use up their fetches at a time."""
_HEADERS = {"User-Agent": "stoker", "Accept-Encoding": "identity"}


@dataclass(frozen=True)
class FetchLimits:
    """What may be fetched.

    `size` is in bytes; `seconds` is how long all of a fetch may take. Only public addresses are connected to, and those
    of `networks` (`10.0.0.0/8`). `per_project` is how many fetches a process makes at a time for one project.
    """

    size: int
    seconds: float
    networks: Sequence[str] = ()
    per_project: int = 4


def fetch_text(url: str, project_id: str, limits: FetchLimits) -> Future[str]:
    """The text at an http or https URL, fetched in the background for a project.

    Proxies of the environment are not used, since they would look names up themselves. Raises BadValue for a URL that
    cannot be fetched, Overloaded when too much is being fetched for the project; the future raises BadValue when the
    URL does not lead to a text in UTF-8, RequestLimitExceeded when it is larger.
    """
    try:
        split = urlsplit(url)
        valid = split.scheme in _SCHEMES and bool(split.hostname) and split.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise BadValue(f"The URL of a template must be a valid http or https URL; it is {url!r}.")
    return _fetches.begin(url, project_id, limits)


class _Fetches:
    """The fetches of this process, on a thread of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, url: str, project_id: str, limits: FetchLimits) -> Future[str]:
        with self._lock:
            own, all_of_them = self._under_way[project_id], self._under_way.total()
            if own >= limits.per_project or all_of_them >= _PROJECTS * limits.per_project:
                raise Overloaded(
                    f"{own} templates are being fetched for the project, and {all_of_them} in all; try again later."
                )
            self._under_way[project_id] += 1
            loop = self._loop = self._loop or _started_loop()
        found = asyncio.run_coroutine_threadsafe(_fetched(url, limits), loop)
        found.add_done_callback(lambda _: self._end(project_id))
        return found

    def _end(self, project_id: str) -> None:
        with self._lock:
            self._under_way[project_id] -= 1
            if not self._under_way[project_id]:
                del self._under_way[project_id]


_fetches = _Fetches()


def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    # Names are looked up by threads, which nothing can interrupt.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=64, thread_name_prefix="fetch-names"))
    threading.Thread(target=loop.run_forever, name="fetch", daemon=True).start()
    return loop


async def _fetched(url: str, limits: FetchLimits) -> str:
    networks = [ipaddress.ip_network(network) for network in limits.networks]
    gate = _Gate(networks)
    try:
        async with asyncio.timeout(limits.seconds):
            content = await _content(url, limits.size, gate)
    except TimeoutError:
        raise _failure(url, "it takes longer than template_fetch_timeout allows") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise _failure(url, gate.refusal or _reason(error)) from None
    if len(content) > limits.size:
        raise RequestLimitExceeded(
            f"The template at {url} is larger than {limits.size} bytes, which max_template_size allows."
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadValue(f"The template at {url} is not UTF-8: byte {error.start} is invalid.") from None


async def _content(url: str, limit: int, gate: _Gate) -> bytes:
    """The body, or as much as shows that it is too large."""
    connector = aiohttp.TCPConnector(resolver=gate, socket_factory=gate.socket, use_dns_cache=False, limit=1)
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=_HEADERS,
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        trust_env=False,
    )
    async with session, session.get(url, max_redirects=_REDIRECTS) as response:
        if not 200 <= response.status < 300:
            raise _NotFound(response.status)
        content = b""
        while len(content) <= limit:
            chunk = await response.content.read(min(_CHUNK, limit + 1 - len(content)))
            if not chunk:
                break
            content += chunk
        return content


class _NotFound(ValueError):
    """The host answers with another status than that of success."""


def _failure(url: str, reason: str) -> BadValue:
    return BadValue(f"The template at {url} cannot be fetched: {reason}.")


def _reason(error: Exception) -> str:
    """Why a fetch failed, in words that tell nothing of what the host sent."""
    match error:
        case aiohttp.TooManyRedirects():
            return f"it is redirected more than {_REDIRECTS} times"
        case _NotFound():
            return f"its host answers with status {error}"
        case aiohttp.InvalidURL():  # also of a redirection
            return "it leads to a URL that is not valid, or not http or https"
        case aiohttp.ClientConnectorDNSError():
            return "the name of its host is not known"
        case aiohttp.ClientSSLError():
            return "its host has no valid certificate"
        case aiohttp.ClientConnectorError():
            return "its host cannot be reached"
        case _:
            return "its host does not answer in HTTP"


# -- connecting to checked addresses only ---------------------------------------------------------------------------


class _Gate(AbstractResolver):
    """Lets one fetch reach allowed addresses only. `refusal` says what it was kept from."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = networks
        self.refusal: str | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The allowed addresses that the host's name has now. Raises OSError."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        allowed = [place for place in found if is_allowed(str(place[4][0]), self._networks)]
        if not allowed:
            self._refuse(host)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=int(address[1]),
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST,
            )
            for kind, _, protocol, _, address in allowed
        ]

    async def close(self) -> None:
        """Nothing to close."""

    def socket(self, address: Any) -> socket.socket:
        """A socket for an address as getaddrinfo gives it, which may have stood in the URL. Raises OSError."""
        if not is_allowed(str(address[4][0]), self._networks):
            self._refuse(str(address[4][0]))
        return _new_socket(address)

    def _refuse(self, host: str) -> None:
        self.refusal = f"{host} is at no public address, nor in template_fetch_networks"
        raise OSError(self.refusal)


def _new_socket(address: Any) -> socket.socket:
    family, kind, protocol, *_ = address
    return socket.socket(family, kind, protocol)
