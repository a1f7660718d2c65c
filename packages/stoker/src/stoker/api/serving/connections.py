"""One client's connection: requests in, responses out, and their time limits."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any

from stoker.api.serving.connection_pool import ConnectionPool
from stoker.api.serving.exchange import BROKEN, LAST, MOVED, NOTHING_NOW, WAKE, Application, Exchange, plain_answer
from stoker.api.serving.limits import HEAD_BYTES, LINGER_SECONDS, PIPELINED, WRITE_SECONDS, Limits
from stoker.api.serving.messages import Reader, Refused, Request
from stoker.api.serving.shares import CallerShares, Turn, address_share, credential_of
from stoker.api.serving.workers import Workers

_log = logging.getLogger(__name__)

_NEVER = float("inf")
_PARKED_SECONDS = 5.0
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_STOPPING = Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The service is being stopped; try again later.")


class _Phase(Enum):
    """What a connection waits for."""

    REQUEST = "the beginning of a request"
    HEAD = "the rest of the head of a request"
    BODY = "the rest of the body of a request"
    APPLICATION = "the application"
    PARKED = "more of the body of a response"
    READER = "the client, to read the sent data"
    LINGERING = "the client, to close"


@dataclass(frozen=True)
class ServerState:
    """Shared by the connections of a server."""

    application: Application
    limits: Limits
    pool: ConnectionPool
    workers: Workers
    callers: CallerShares
    loop: asyncio.AbstractEventLoop
    base: dict[str, object]


class Connection(asyncio.Protocol):
    """Runs on the event loop's thread, except `take` and the functions that it adds to the environment."""

    def __init__(self, server: ServerState) -> None:
        self._server = server
        self._reader = Reader(self)
        self._transport: Any = None
        self.address = ""
        self._stranger = address_share(self.address)
        self.held = 0
        self.deadline = _NEVER
        self._base: dict[str, object] = server.base
        self._phase = _Phase.REQUEST
        self._receiving: Request | None = None
        self._ready: deque[Request] = deque()
        self._ahead = bytearray()
        self._refused: Refused | None = None
        self._deaf = False
        self._exchange: Exchange | None = None
        self._credential = b""
        self._woken = False
        self._stepping = False
        self._streams = False
        self._ended = False
        self._served_bytes = 0
        self._unread = 0
        self._writable = True
        self._after_writing: Callable[[], None] | None = None

    # -- from the transport ----------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        peer = transport.get_extra_info("peername") or ("", 0)
        self.address = str(peer[0])
        self._stranger = address_share(self.address)
        if not self._server.pool.enter(self):
            transport.write(plain_answer(Refused(HTTPStatus.SERVICE_UNAVAILABLE, "There are too many connections.")))
            transport.close()
            self._deaf = True
            return
        self._base = {**self._server.base, "REMOTE_ADDR": self.address, "REMOTE_PORT": str(peer[1]), WAKE: self._wake}
        self._wait_for_request(self._server.limits.head_seconds)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        if self._busy:
            self._ahead += data
            if len(self._ahead) > HEAD_BYTES:
                self._transport.pause_reading()
            return
        self._read(data)

    def eof_received(self) -> bool:
        """Return whether to keep the connection: a client can close its direction and wait for responses."""
        self._ended = True
        if self._exchange is None or self._streams:
            return False
        self._exchange.keep_alive = self._exchange.keep_alive and not self._is_last
        if self._phase is _Phase.APPLICATION:
            self.deadline = self._time_to_begin()
        return True

    def _time_to_begin(self) -> float:
        """Return when a request must have begun: that of a client that has probably ended does not wait for long."""
        if self._exchange is None or self._exchange.begun or not self._ended:
            return _NEVER
        return self._server.loop.time() + self._server.limits.half_closed_seconds

    @property
    def _is_last(self) -> bool:
        """Return whether the current request is the last one of the connection."""
        return self._ended and not self._ready and not self._ahead and self._refused is None

    def connection_lost(self, _error: Exception | None) -> None:
        self._deaf = True
        self._server.pool.leave(self)
        self.deadline = _NEVER
        self._ready.clear()
        self._ahead.clear()
        self._receiving = None
        if self._exchange is not None:
            self._exchange.gone = True
            if not self._stepping:
                self._step()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        if self._after_writing is not None:
            then, self._after_writing = self._after_writing, None
            then()

    # -- from the reader -------------------------------------------------------------------------------------------

    def head(self, request: Request) -> None:
        limits = self._server.limits
        self._receiving = request
        if request.length is not None and request.length > limits.body:
            self._complete(request)  # the application refuses it because of its length
            return
        if (request.chunked or request.length) and not self._busy and not self._ready:
            self._wait_for_body(request)

    def data(self, part: bytes) -> None:
        request, limit = self._receiving, self._server.limits.body
        if request is None:
            return
        part = part[: limit + 1 - len(request.body)]
        if not self._server.pool.reserve(self, len(part)):
            raise Refused(
                HTTPStatus.SERVICE_UNAVAILABLE, "The service has too many requests in memory; try again later."
            )
        request.body += part
        if len(request.body) > limit:
            self._complete(request)

    def end(self) -> None:
        if (request := self._receiving) is not None:
            self._receiving = None
            if not request.keep_alive:
                self._deaf = True
            self._enqueue(request)

    def _complete(self, request: Request) -> None:
        """Accept a request whose body is too large as complete, and read nothing more."""
        self._receiving, request.keep_alive, self._deaf = None, False, True
        self._enqueue(request)

    def _enqueue(self, request: Request) -> None:
        if len(self._ready) >= PIPELINED:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, f"More than {PIPELINED} requests were pipelined.")
        self._ready.append(request)

    # -- requests --------------------------------------------------------------------------------------------------

    @property
    def _busy(self) -> bool:
        return self._exchange is not None or self._phase in (_Phase.READER, _Phase.LINGERING)

    def _wait_for_body(self, request: Request) -> None:
        self._phase, self.deadline = _Phase.BODY, self._server.loop.time() + self._server.limits.body_seconds
        if request.expects_continue and not request.body:
            self._transport.write(_CONTINUE)

    def _wait_for_client(self) -> None:
        """Wait for the next request, part of which can have arrived with the previous one."""
        limits = self._server.limits
        if self._receiving is not None:
            self._server.pool.waits(self)
            self._wait_for_body(self._receiving)
        elif self._reader.in_head:
            self._wait_for_request(limits.head_seconds)
            self._phase = _Phase.HEAD
        else:
            self._wait_for_request(limits.idle_seconds)

    def _wait_for_request(self, seconds: float) -> None:
        self._phase, self.deadline = _Phase.REQUEST, self._server.loop.time() + seconds
        self._server.pool.waits(self)

    def _read(self, data: bytes) -> None:
        if self._phase is _Phase.REQUEST:
            self._phase, self.deadline = _Phase.HEAD, self._server.loop.time() + self._server.limits.head_seconds
        try:
            self._reader.feed(data)
        except Refused as refused:
            if not self._deaf:
                self._refused = refused
            self._deaf = True
        self._next()

    def _next(self) -> None:
        """Serve the next complete request; otherwise refuse a malformed one, or wait for more data."""
        if self._busy or self._transport.is_closing():
            return
        if self._ready:
            request = self._ready.popleft()
            self._server.pool.ends_waiting(self)
            self._served_bytes, self._streams = len(request.body), False
            request.keep_alive = request.keep_alive and not self._is_last
            self._credential = credential_of(request.headers)
            turn = Turn(self._server.callers.of(self._credential) or self._stranger)
            self._exchange = Exchange(self._server.application, request, self._base, self, turn)
            self._step()
        elif self._refused is not None:
            self._refuse(self._refused)

    def _refuse(self, refused: Refused) -> None:
        _log.debug("refused a request of %s: %d %s", self.address, refused.status, refused.reason)
        self._server.pool.ends_waiting(self)
        self._transport.write(plain_answer(refused))
        self._linger()

    # -- answers ---------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        if self._exchange is not None:
            self._stepping, self._woken = True, False
            self._phase, self.deadline = _Phase.APPLICATION, self._time_to_begin()
            self._server.workers.submit(self._exchange.turn.share, self._exchange.step)

    def take(self, data: bytes, state: str) -> None:
        """Implements Receiver; called by worker threads."""
        self._on_loop(self._sent, data, state)

    def _wake(self) -> None:
        """Implements WAKE; called by any thread."""
        self._on_loop(self._have_woken)

    def _on_loop(self, call: Callable[..., None], *arguments: object) -> None:
        try:
            self._server.loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            _log.debug("the server stopped before a response was complete")

    def _have_woken(self) -> None:
        if self._exchange is None:
            return
        if self._phase is _Phase.PARKED:
            self._step()
        else:
            self._woken = True

    def _sent(self, data: bytes, state: str) -> None:
        self._stepping = False
        exchange = self._exchange
        if exchange is None:
            return
        if self._transport.is_closing():
            if state in (LAST, BROKEN) or exchange.gone:
                self._exchange = None
            else:
                exchange.gone = True
                self._step()
            return
        if state is MOVED:
            self._step()
            return
        self._remember_caller(exchange)
        self._server.workers.answered(exchange.turn.share, len(data))
        if data:
            self._transport.write(data)
        if state is BROKEN:
            self._exchange = None
            self._transport.abort()
        elif state is LAST:
            self._after_read(self._answered)
        elif state is NOTHING_NOW:
            self._streams = True  # a streamed response ends with its client
            if self._ended:
                exchange.gone = True
            self._after_read(self._park)
        else:
            self._after_read(self._step)

    def _remember_caller(self, exchange: Exchange) -> None:
        """Remember whose the credential is, so that the next request with it begins in the right share."""
        if self._credential:
            if exchange.refused:
                self._server.callers.forget(self._credential)
            elif exchange.turn.identity is not None:
                self._server.callers.remember(self._credential, exchange.turn.identity)

    def _after_read(self, then: Callable[[], None]) -> None:
        """Call `then` when the client has read enough of the sent data."""
        if self._writable:
            then()
            return
        self._after_writing = then
        self._phase, self.deadline = _Phase.READER, self._server.loop.time() + WRITE_SECONDS
        self._unread = self._transport.get_write_buffer_size()

    def _park(self) -> None:
        if self._woken or (self._exchange is not None and self._exchange.gone):
            self._step()
        else:
            self._phase, self.deadline = _Phase.PARKED, self._server.loop.time() + _PARKED_SECONDS

    def _answered(self) -> None:
        exchange, self._exchange = self._exchange, None
        self._server.pool.release(self, self._served_bytes)
        if self._transport.is_closing():
            return
        if exchange is None or not exchange.keep_alive:
            self._linger()
            return
        self._wait_for_client()
        if self._ahead:
            ahead, self._ahead = bytes(self._ahead), bytearray()
            self._transport.resume_reading()
            if self._ready:
                self._ahead += ahead
                self._next()
            else:
                self._read(ahead)
        else:
            self._next()
        if self._ended and not self._busy:
            self._transport.close()

    def _linger(self) -> None:
        """Send no more data, and discard received data for a while, so that the client reads the response."""
        self._deaf = True
        self._ahead.clear()
        self._server.pool.release(self, self.held)
        if self._ended:
            self._transport.close()
            return
        self._server.pool.waits(self)
        self._phase, self.deadline = _Phase.LINGERING, self._server.loop.time() + LINGER_SECONDS
        self._transport.resume_reading()
        self._transport.write_eof()

    # -- closing ---------------------------------------------------------------------------------------------------

    def evict(self) -> None:
        """Close the connection immediately, to make room."""
        self._deaf = True
        self._server.pool.leave(self)
        self._transport.abort()

    def expire(self) -> None:
        """Handle the expiry of the deadline."""
        match self._phase:
            case _Phase.HEAD | _Phase.BODY:
                what = "head" if self._phase is _Phase.HEAD else "body"
                self._refuse(Refused(HTTPStatus.REQUEST_TIMEOUT, f"The {what} of the request did not arrive in time."))
            case _Phase.READER if self._transport.get_write_buffer_size() < self._unread:
                self._unread = self._transport.get_write_buffer_size()
                self.deadline = self._server.loop.time() + WRITE_SECONDS
            case _Phase.PARKED:
                self._step()
            case _Phase.APPLICATION if self._exchange is not None and self._exchange.begun:
                self.deadline = _NEVER
            case _:
                self._transport.abort()

    def close_after_response(self) -> None:
        """Close the connection after the response to the last complete request, because the server stops.

        A request that has not arrived completely is refused.
        """
        self._deaf = True
        self._ready.clear()
        self._ahead.clear()
        if self._exchange is None:
            if self._phase in (_Phase.HEAD, _Phase.BODY):
                self._transport.write(plain_answer(_STOPPING))
            self._transport.close()
            return
        self._exchange.keep_alive = False
        if self._streams:
            self._exchange.gone = True
            if self._phase is _Phase.PARKED:
                self._step()
