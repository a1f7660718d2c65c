"""HTTP requests to services: limited in number and time, and retried only where that is harmless.

A task can count which of its requests may have changed something.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import ssl
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import orjson

from stoker.base.errors import CloudError
from stoker.cloud.call_slots import CallSlots, Destination, Usage, retry_after
from stoker.cloud.guard import Guard, is_refusal
from stoker.cloud.settings import NO_TLS_OPTIONS, CloudSettings, Tls
from stoker_foundation.clock import Clock
from stoker_foundation.recent import Recent

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, section 9.2.1)."""


@dataclass(slots=True)
class Effects:
    """Counts requests that were executed, or whose outcome is unknown."""

    requests: int = 0

    def sent(self, method: str) -> None:
        """Count a request that is about to be sent."""
        self.requests += method not in _SAFE

    def answered(self, method: str, status: int) -> None:
        """Do not count a request that the service refused: a status of 4xx means that it was not executed."""
        self.requests -= method not in _SAFE and 400 <= status < 500


_effects: ContextVar[Effects | None] = ContextVar("effects", default=None)


@contextmanager
def counted() -> Iterator[Effects]:
    """Count the requests that this task and tasks that it starts send within the context, also for an outer context."""
    outer, effects = _effects.get(), Effects()
    token = _effects.set(effects)
    try:
        yield effects
    finally:
        _effects.reset(token)
        if outer is not None:
            outer.requests += effects.requests


def current() -> Effects:
    """Return what counts the requests of this task; without effect if nothing does."""
    return _effects.get() or Effects()


log = logging.getLogger(__name__)

_COLLECTION = re.compile(r".*?/v\d[^/]*(?:/[^/]+)?")
"""The version in a URL's path, followed by the collection or the account."""

Body = bytes | str | AsyncIterable[bytes] | None
_HARMLESS = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
_LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
_FIRST_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request. `service` is used in errors and logs, and with `project_id` to limit concurrent requests.

    A request with `once` is not retried if it may have been carried out.
    """

    service: str
    method: str
    url: str
    headers: Mapping[str, str]
    params: Mapping[str, Any] | None = None
    body: Body = None
    tls: Tls = NO_TLS_OPTIONS
    once: bool = False
    project_id: str = ""

    @property
    def destination(self) -> Destination:
        """Where the request goes. Those to a cloud that a user names count for the project of this user."""
        address = "/".join(self.url.split("/", 3)[:3])
        return Destination(self.tls.named_by or self.project_id, self.service, address)


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response. `body` is parsed JSON, a string for other text, otherwise bytes; None when empty.

    Look-ups in `headers` ignore case; `content` is the unparsed body.
    """

    status: int
    headers: Mapping[str, str]
    body: Any
    content: bytes = b""


async def _at_once() -> None:
    """Return at once."""


class AnswerTooLarge(Exception):
    """A response is larger than the limit of its lane."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """Connections, the slots of concurrent requests, and their limits.

    `size` is the maximum size of a response in bytes, which the option `size_option` sets.
    `seconds` is the deadline of a request with its retries; None means no limit.
    """

    session: aiohttp.ClientSession
    slots: CallSlots
    size: int
    size_option: str
    seconds: float | None = None

    def deadline(self) -> AbstractAsyncContextManager[object]:
        """Return the context in which a request must end."""
        return nullcontext() if self.seconds is None else asyncio.timeout(self.seconds)


class Transport:
    """The connections of one process. Create it and close it on the event loop that uses it.

    `before_change` is awaited right before a request that may change something; `observe` is called with the service
    and the status of each response, 0 when there was none.
    """

    def __init__(self, settings: CloudSettings, clock: Clock) -> None:
        self._retry_limit = settings.client_retry_limit
        self._clock = clock
        self._contexts: Recent[tuple[Tls, ssl.SSLContext]] = Recent(_MOST_CONTEXTS, _context_size)
        self.before_change: Callable[[], Awaitable[None]] = _at_once
        self.observe: Callable[[str, int], None] = lambda service, status: None
        guard = Guard(settings.remote_cloud_networks)
        timeout, calls = settings.call_timeout, settings.max_concurrent_calls
        self._session = _session(settings, timeout, aiohttp.TCPConnector(limit=0, ttl_dns_cache=60))
        guarded = _session(settings, settings.remote_cloud_timeout, guard.connector(limit=0, ttl_dns_cache=60))
        most = settings.max_concurrent_calls_per_service
        own = CallSlots(calls, clock, most)
        self._own = _Lane(self._session, own, settings.cloud_answer_size, "cloud_answer_size")
        self._named_by_user = _Lane(
            guarded,
            CallSlots(calls, clock, most, settings.remote_cloud_timeout / 4),  # the deadline includes the pause
            settings.remote_cloud_answer_size,
            "remote_cloud_answer_size",
            settings.remote_cloud_timeout,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._own.session.close()
        await self._named_by_user.session.close()

    def saturated_projects(self, most: int) -> set[str]:
        """Return the projects that have more than `most` calls of the operator's cloud waiting for a slot."""
        return self._own.slots.saturated_projects(most)

    def usage(self) -> dict[str, Usage]:
        """Return how many requests to the operator's cloud are sent or wait, by the name of the service."""
        return self._own.slots.usage()

    async def send(self, request: Request) -> Answer:
        """Send a request and return the response, whatever its status. Raises CloudError (status 0) without one.

        A connection that could not be opened is retried; one that broke only if the request is idempotent.
        """
        try:
            async with self._lane(request).deadline():
                return await self._retried(request)
        except TimeoutError as error:
            raise _unreachable(request, error, transient=True) from error

    async def _retried(self, request: Request) -> Answer:
        pause = _FIRST_PAUSE
        for tries_left in range(self._retry_limit, -1, -1):
            try:
                return await self.attempt(request)
            except TimeoutError:  # before ClientError: some of aiohttp's errors are both
                raise
            except (AnswerTooLarge, aiohttp.ClientSSLError, aiohttp.InvalidURL) as error:
                raise _unreachable(request, error, transient=False) from error
            except aiohttp.ClientError as error:
                if is_refusal(error):
                    raise _unreachable(request, error, transient=False) from error
                sent = not isinstance(error, aiohttp.ClientConnectorError)
                if not tries_left or (sent and (request.once or request.method not in _HARMLESS)):
                    raise _unreachable(request, error, transient=True) from error
            await self._sleep(pause)
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    async def attempt(self, request: Request) -> Answer:
        """Send the request once. Raises aiohttp.ClientError, TimeoutError, and AnswerTooLarge."""
        async with self._lane(request).slots.slot(request.destination) as call:
            if request.method not in _LOOKS:
                await self.before_change()
            try:
                answer = await self._exchange(request)
            except (aiohttp.ClientError, AnswerTooLarge, TimeoutError):
                self.observe(request.service, 0)
                raise
            call.answered(answer.status, retry_after(answer.headers, self._clock.now()))
        self.observe(request.service, answer.status)
        return answer

    async def _exchange(self, request: Request) -> Answer:
        lane = self._lane(request)
        async with lane.session.request(
            request.method,
            request.url,
            params=request.params,
            data=request.body,
            headers=request.headers,
            ssl=self._context(request.tls) if _is_encrypted(request.url) else True,
            allow_redirects=False,  # a token must not follow a redirect to another host
        ) as response:
            content = await _content(response, lane)
        if log.isEnabledFor(logging.DEBUG):
            path, request_id = without_names(response.url.path), response.headers.get("x-openstack-request-id", "-")
            log.debug("%s %s %s: %s (%s)", request.service, request.method, path, response.status, request_id)
        return Answer(response.status, response.headers, parse(content, response.content_type), content)

    def _lane(self, request: Request) -> _Lane:
        return self._own if request.tls.named_by is None else self._named_by_user

    def _context(self, tls: Tls) -> ssl.SSLContext:
        tls = replace(tls, named_by=None)  # projects share contexts
        return self._contexts.get(tls, lambda: (tls, _context(tls)))[1]

    async def _sleep(self, seconds: float) -> None:
        passed = asyncio.Event()
        timer = self._clock.call_later(seconds, passed.set)
        try:
            await passed.wait()
        finally:
            timer.cancel()


_MOST_CONTEXTS = 64
"""TLS contexts that are cached: users' credentials can bring any number of certificates."""


def _is_encrypted(url: str) -> bool:
    """Return whether requests to the URL need a TLS context, whose default certificates take long to load."""
    return url[:6].lower() == "https:"


def _context_size(cached: tuple[Tls, ssl.SSLContext]) -> int:
    return len(cached[0].ca_certificates or "")


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls.ca_file, cadata=tls.ca_certificates)
    if tls.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_file:
        context.load_cert_chain(tls.cert_file, tls.key_file)
    return context


def _session(settings: CloudSettings, seconds: float, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    """Return connections. Compressed responses are neither requested nor unpacked: their size would not be limited."""
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, settings.connect_timeout)),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept": "application/json", "User-Agent": "stoker", "Accept-Encoding": "identity"},
        auto_decompress=False,
    )


async def _content(response: aiohttp.ClientResponse, lane: _Lane) -> bytes:
    """Read the body of a response. Raises AnswerTooLarge, at once if the response says its length."""
    size = response.content_length or 0
    chunks: list[bytes] = []
    read = 0
    while size <= lane.size and (chunk := await response.content.readany()):
        chunks.append(chunk)
        read += len(chunk)
        size = max(size, read)
    if size > lane.size and response.method != "HEAD":
        raise AnswerTooLarge(f"the response is larger than {lane.size} bytes ({lane.size_option})")
    return b"".join(chunks)


def parse(content: bytes, content_type: str) -> object:
    """Parse the body of a response for `Answer.body`."""
    if not content:
        return None
    if content_type.endswith("json"):
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError:
            return content.decode("utf-8", "replace")
    if content_type.startswith("text/"):
        return content.decode("utf-8", "replace")
    return content


def _unreachable(request: Request, error: Exception, transient: bool) -> CloudError:
    place = request.url.partition("?")[0]
    return CloudError(
        request.service,
        0,
        f"no response from {request.service} to {request.method} {place}: {reason_of(error)}",
        transient=transient,
    )


def reason_of(error: Exception) -> str:
    """Return in plain words why there was no response: aiohttp's own messages name its internal objects."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return str(error) or type(error).__name__
    cause: Any = (
        error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else error.os_error
    )
    if isinstance(cause, ssl.SSLError):
        why = getattr(cause, "verify_message", None) or cause.reason or str(cause)
    elif cause.errno in errno.errorcode and not is_refusal(error):
        why = os.strerror(cause.errno)
    else:
        why = cause.strerror or str(cause)
    return f"cannot connect to {error.host}:{error.port}: {why}"


def without_names(path: str) -> str:
    """Return the path up to the collection. The rest may contain the value of a hidden parameter."""
    known = _COLLECTION.match(path)
    collection = known[0] if known else ""
    return path if collection == path else f"{collection}/…"
