"""Documents that a request or a template refers to by URL (`template_url`, `TemplateURL`).

A user must not be able to make the service read what only the service can reach (server-side request forgery). The
check is made on the address that is connected to, when the connection is opened, and again for every redirect: an
earlier resolution of the host name is not trusted. Error messages never repeat a host's response, so that Stoker
cannot be used to scan for listening ports.

A slow host delays only the request that names it: fetches run on an event loop of their own, each with a deadline for
the whole fetch, and the number of concurrent fetches of a project is limited.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from stoker.base.errors import BadValue, Overloaded, RequestLimitExceeded
from stoker_foundation.addresses import Network, is_allowed, is_listed

_SCHEMES = ("http", "https")
_CHUNK = 65536
_REDIRECTS = 5
_PROJECTS = 8
"""How many projects may reach their limit of concurrent fetches at the same time."""
_HEADERS = {"User-Agent": "stoker", "Accept-Encoding": "identity"}


@dataclass(frozen=True)
class FetchLimits:
    """Limits of fetches.

    `size` is in bytes; `seconds` is the timeout of a whole fetch. Connections are made only to public addresses and to
    those in `networks` (`10.0.0.0/8`). `per_project` is the number of concurrent fetches of a process for one project.
    """

    size: int
    seconds: float
    networks: Sequence[str] = ()
    per_project: int = 4


def fetch_text(url: str, project_id: str, limits: FetchLimits) -> Future[str]:
    """Fetch the document at an http or https URL in the background, for a project.

    Proxies from the environment are not used, since they would resolve names themselves. Raises BadValue for an invalid
    URL, Overloaded when too many fetches are in progress; the future raises BadValue when the URL does not lead to a
    UTF-8 document, RequestLimitExceeded when the document is larger than `limits.size`.
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
        self._in_progress: Counter[str] = Counter()
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, url: str, project_id: str, limits: FetchLimits) -> Future[str]:
        with self._lock:
            own, all_of_them = self._in_progress[project_id], self._in_progress.total()
            if own >= limits.per_project or all_of_them >= _PROJECTS * limits.per_project:
                raise Overloaded(
                    f"Too many templates are being fetched: {own} for the project, {all_of_them} in total. "
                    "Try again later."
                )
            self._in_progress[project_id] += 1
            loop = self._loop = self._loop or _started_loop()
        found = asyncio.run_coroutine_threadsafe(_fetched(url, limits), loop)
        found.add_done_callback(lambda _: self._end(project_id))
        return found

    def _end(self, project_id: str) -> None:
        with self._lock:
            self._in_progress[project_id] -= 1
            if not self._in_progress[project_id]:
                del self._in_progress[project_id]


_fetches = _Fetches()


def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    # Host names are resolved on threads, which cannot be interrupted.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=64, thread_name_prefix="fetch-names"))
    threading.Thread(target=loop.run_forever, name="fetch", daemon=True).start()
    return loop


async def _fetched(url: str, limits: FetchLimits) -> str:
    networks = [ipaddress.ip_network(network) for network in limits.networks]
    gate = Gate(networks, "template_fetch_networks")
    try:
        async with asyncio.timeout(limits.seconds):
            content = await _content(url, limits.size, gate)
    except TimeoutError:
        raise _failure(url, "it takes longer than template_fetch_timeout") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise _failure(url, gate.refusal or _reason(error)) from None
    if len(content) > limits.size:
        raise RequestLimitExceeded(f"The template at {url} is larger than {limits.size} bytes (max_template_size).")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadValue(f"The template at {url} is not UTF-8: byte {error.start} is invalid.") from None


async def _content(url: str, limit: int, gate: Gate) -> bytes:
    """Return the body, cut off one byte after the limit."""
    session = gate.session()
    async with session, session.get(url, headers=_HEADERS, max_redirects=_REDIRECTS) as response:
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
    """The host answers with a status other than success."""


def _failure(url: str, reason: str) -> BadValue:
    return BadValue(f"The template at {url} cannot be fetched: {reason}.")


def _reason(error: Exception) -> str:
    """Return why a fetch failed, without repeating anything that the host sent."""
    match error:
        case aiohttp.TooManyRedirects():
            return f"it is redirected more than {_REDIRECTS} times"
        case _NotFound():
            return f"its host returned status {error}"
        case aiohttp.InvalidURL():  # also raised for the target of a redirect
            return "it leads to a URL that is not valid, or not http or https"
        case aiohttp.ClientConnectorDNSError():
            return "the name of its host cannot be resolved"
        case aiohttp.ClientSSLError():
            return "its host does not have a valid certificate"
        case aiohttp.ClientConnectorError():
            return "its host cannot be reached"
        case _:
            return "its host does not speak HTTP"


# -- connecting to checked addresses only ---------------------------------------------------------------------------


class Gate(AbstractResolver):
    """Restricts the connections of one request to allowed addresses: public ones, and those in `networks`, which the
    operator lists in `option`; with `listed_only`, only the latter. `refusal` is the reason for a refused one.
    """

    def __init__(self, networks: Sequence[Network], option: str, *, listed_only: bool = False) -> None:
        self._networks = networks
        self._option = option
        self._is_allowed = is_listed if listed_only else is_allowed
        self._what = "is not" if listed_only else "has no public address, and is not"
        self.refusal: str | None = None

    def session(self) -> aiohttp.ClientSession:
        """Return a session whose connections pass the gate; neither cookies nor proxies are used."""
        connector = aiohttp.TCPConnector(resolver=self, socket_factory=self.socket, use_dns_cache=False, limit=1)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            trust_env=False,
        )

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve the host name, and return the allowed addresses. Raises OSError when there are none."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        allowed = [place for place in found if self._is_allowed(str(place[4][0]), self._networks)]
        if not allowed:
            self._refuse(host)
        return resolve_results(host, allowed)

    async def close(self) -> None:
        """Nothing to close."""

    def socket(self, address: Any) -> socket.socket:
        """Open a socket for an address from getaddrinfo or from the URL itself. Raises OSError if it is not allowed."""
        if not self._is_allowed(str(address[4][0]), self._networks):
            self._refuse(str(address[4][0]))
        return _new_socket(address)

    def _refuse(self, host: str) -> None:
        self.refusal = f"{host} {self._what} in {self._option}"
        raise OSError(self.refusal)


def resolve_results(host: str, found: Iterable[Any]) -> list[ResolveResult]:
    """Return addresses from `socket.getaddrinfo` in the form of aiohttp."""
    return [
        ResolveResult(
            hostname=host,
            host=str(address[0]),
            port=int(address[1]),
            family=kind,
            proto=protocol,
            flags=socket.AI_NUMERICHOST,
        )
        for kind, _, protocol, _, address in found
    ]


def _new_socket(address: Any) -> socket.socket:
    family, kind, protocol, *_ = address
    return socket.socket(family, kind, protocol)
