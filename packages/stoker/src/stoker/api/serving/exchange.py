"""Runs a request through the application, in steps that never wait for the client."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Protocol

from stoker.api.serving.garbage import GARBAGE
from stoker.api.serving.limits import RETRY_AFTER
from stoker.api.serving.messages import Refused, Request, environ_of
from stoker.api.serving.shares import TURN, MovedToShare, Turn

_log = logging.getLogger(__name__)

Application = Callable[..., Any]

WAKE = "stoker.wake"
"""Key of the environment: a function, callable from any thread, that signals that the body has more data.

A server that sets it interprets an empty part of the body as “no data now”. It uses no thread for the response until
`WAKE` is called or some seconds have passed, and then requests the next part. WSGI allows all applications to produce
empty parts.
"""

_PART = 262144
"""Bytes of a response after which a step ends until the client has read them."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_IDENT = "stoker"
_UNAUTHORIZED = "401"


class Receiver(Protocol):
    """The connection that receives the response; its methods can be called by any thread."""

    def take(self, data: bytes, state: str) -> None:
        """Send `data`. `state` says what follows: MORE, NOTHING_NOW, LAST, BROKEN (the response is cut
        off), or MOVED (the request begins again in the share of its turn)."""


MORE, NOTHING_NOW, LAST, BROKEN, MOVED = "more", "nothing now", "last", "broken", "moved"


class Exchange:
    """One request and its response.

    `step` runs on worker threads, one at a time. `gone` can be set by any thread if the client has left or the server
    stops; the next step then closes the body. `begun` says that the application has the request, `refused` that it does
    not accept the caller.
    """

    def __init__(
        self, application: Application, request: Request, base: dict[str, object], receiver: Receiver, turn: Turn
    ) -> None:
        self.keep_alive = request.keep_alive
        self.gone = False
        self.begun = False
        self.turn = turn
        self.refused = False
        self._application = application
        self._request = request
        self._base = base
        self._receiver = receiver
        self._body: Any = None
        self._parts: Iterator[bytes] | None = None
        self._status = ""
        self._headers: list[tuple[str, str]] = []
        self._chunked = False
        self._bodiless = False
        self._head_sent = False

    def step(self) -> None:
        """Continue the response as far as possible without waiting for the client."""
        try:
            data, state = self._continue()
        except MovedToShare:
            self.begun = False
            data, state = b"", MOVED
        except Refused as refused:
            self.keep_alive = False
            data, state = plain_answer(refused), LAST
        except Exception:
            _log.exception("the application failed at %s", self._request.method)
            self.keep_alive = False
            failed = Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error; the service has logged it.")
            data, state = (b"", BROKEN) if self._head_sent else (plain_answer(failed), LAST)
        ended = state in (LAST, BROKEN) or self.gone
        if ended:
            self._close()
        self._receiver.take(data, state)
        if ended:
            GARBAGE.answered(len(self._request.body))

    def _continue(self) -> tuple[bytes, str]:
        if self.gone:  # between two parts, a stream can end regularly
            return (self._framed([], last=True), LAST) if self._chunked else (b"", BROKEN)
        if self._parts is None:
            self.begun = True
            environ = {**environ_of(self._request, self._base), TURN: self.turn}
            self._body = self._application(environ, self._start)
            complete = isinstance(self._body, list | tuple)  # an empty part of it does not mean "no data now"
            self._parts = filter(None, self._body) if complete else iter(self._body)
        gathered: list[bytes] = []
        size = 0
        for part in self._parts:
            if not part:
                return self._framed(gathered), NOTHING_NOW
            gathered.append(part)
            size += len(part)
            if size >= _PART and not self._is_whole(size):
                return self._framed(gathered), MORE
        return self._framed(gathered, last=True), LAST

    def _start(self, status: str, headers: list[tuple[str, str]], error: object = None) -> Callable[[bytes], None]:
        """Implement WSGI's start_response."""
        for name, value in headers:
            if _CONTROL.search(name) or _CONTROL.search(value):
                raise ValueError(f"the header {name!r} has control characters")
        self._status, self._headers = status, list(headers)
        self.refused = status.startswith(_UNAUTHORIZED)
        return _no_write

    def _declared(self) -> str | None:
        return next((value for name, value in self._headers if name.lower() == "content-length"), None)

    def _is_whole(self, size: int) -> bool:
        return self._declared() == str(size)

    def _framed(self, parts: list[bytes], last: bool = False) -> bytes:
        """Return `parts` as sent to the client, after the head if that has not been sent."""
        content = b"".join(parts)
        head = b"" if self._head_sent else self._head(len(content) if last else None)
        self._head_sent = True
        if self._bodiless:
            return head
        if self._chunked:
            framed = b"%x\r\n%s\r\n" % (len(content), content) if content else b""
            return b"".join((head, framed, b"0\r\n\r\n" if last else b""))
        return head + content

    def _head(self, size: int | None) -> bytes:
        """Return the head of the response; `size` is that of its body, if known."""
        status = int(self._status[:3])
        request = self._request
        lines = [f"HTTP/1.1 {self._status}"]
        names = set()
        for name, value in self._headers:
            folded = name.lower()
            names.add(folded)
            if folded not in ("connection", "transfer-encoding"):
                lines.append(f"{name}: {value}")
        self._bodiless = request.method == "HEAD" or status in (204, 304)
        if "content-length" not in names and status not in (204, 304):
            if size is not None:
                lines.append(f"Content-Length: {size}")
            elif request.version == "1.1":
                self._chunked = True
                lines.append("Transfer-Encoding: chunked")
            else:
                self.keep_alive = False
        if "date" not in names:
            lines.append(f"Date: {_date()}")
        if "server" not in names:
            lines.append(f"Server: {_IDENT}")
        if not self.keep_alive:
            lines.append("Connection: close")
        elif request.version == "1.0":
            lines.append("Connection: keep-alive")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _close(self) -> None:
        body, self._body = self._body, None
        if hasattr(body, "close"):
            try:
                body.close()
            except Exception:
                _log.exception("closing the response failed")


def plain_answer(refused: Refused) -> bytes:
    """Return a complete response of the server itself, after which it closes the connection."""
    text = f"{refused.reason}\n".encode()
    again = f"Retry-After: {RETRY_AFTER}\r\n" if refused.status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    head = (
        f"HTTP/1.1 {refused.status.value} {refused.status.phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(text)}\r\nDate: {_date()}\r\nServer: {_IDENT}\r\n{again}Connection: close\r\n\r\n"
    )
    return head.encode() + text


def _no_write(_data: bytes) -> None:
    raise NotImplementedError("this server does not support the deprecated write function of WSGI")


_dates: dict[int, str] = {}


def _date() -> str:
    now = int(time.time())
    if (found := _dates.get(now)) is None:
        _dates.clear()
        found = _dates[now] = formatdate(now, usegmt=True)
    return found
