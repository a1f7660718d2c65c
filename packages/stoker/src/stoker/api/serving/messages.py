"""Requests as parsed by llhttp, checked for constructs that proxies and servers interpret differently (RFC 9112)."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol
from urllib.parse import unquote_to_bytes, urlsplit

import httptools

from stoker.api.serving.limits import HEAD_BYTES

_HOST = re.compile(rb"[A-Za-z0-9._~:\[\]%-]*")
_METHOD = re.compile(r"[A-Z]+(?:[-_][A-Z]+)*")

_HEADER_SYNTAX = len(": \r\n")

_ONE_ONLY = frozenset({b"content-length", b"host", b"transfer-encoding", b"content-type", b"authorization"})
"""Headers that can occur once at most; servers differ in which of several they use."""


class Refused(Exception):
    """The server itself responds to the request with `status`, and closes the connection."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(slots=True)
class Request:
    """One request. `length` is the declared Content-Length, or None."""

    method: str
    target: bytes
    version: str
    headers: list[tuple[bytes, bytes]]
    keep_alive: bool
    length: int | None = None
    chunked: bool = False
    expects_continue: bool = False
    body: bytearray = field(default_factory=bytearray)


def checked(request: Request) -> Request:
    """Return `request` with the properties of its body from the headers. Raises Refused."""
    if request.version not in ("1.0", "1.1"):
        raise Refused(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "This server supports HTTP/1.0 and HTTP/1.1.")
    if not _METHOD.fullmatch(request.method) or request.method == "CONNECT":
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, "The request method is unknown.")
    found: dict[bytes, bytes] = {}
    for name, value in request.headers:
        if name in _ONE_ONLY:
            if name in found:
                raise Refused(HTTPStatus.BAD_REQUEST, f"The request has the header {name.decode()} more than once.")
            found[name] = value
        elif name == b"expect":
            request.expects_continue = _expects_continue(request, value)
    host = found.get(b"host")
    if (host is None and request.version == "1.1") or not _HOST.fullmatch(host or b""):
        raise Refused(HTTPStatus.BAD_REQUEST, "The request must have exactly one valid Host header.")
    encoding = found.get(b"transfer-encoding")
    if encoding is not None:
        if b"content-length" in found or request.version == "1.0":
            raise Refused(HTTPStatus.BAD_REQUEST, "The request has both Content-Length and Transfer-Encoding.")
        if encoding.lower() != b"chunked":
            raise Refused(HTTPStatus.NOT_IMPLEMENTED, "The only supported transfer coding is chunked.")
        request.chunked = True
    elif (length := found.get(b"content-length")) is not None:
        if not length.isdigit() or len(length) > 18:
            raise Refused(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        request.length = int(length)
    return request


def _expects_continue(request: Request, value: bytes) -> bool:
    if value.lower() != b"100-continue":
        raise Refused(HTTPStatus.EXPECTATION_FAILED, "The only supported expectation is 100-continue.")
    return request.version == "1.1"


def environ_of(request: Request, base: dict[str, object]) -> dict[str, object]:
    """Return the WSGI environment of the request (PEP 3333). `base` is common to all requests of the connection.

    Headers with an underscore in their name are dropped, since they would be confused with others. Raises Refused for a
    target that is not a path.
    """
    path, query = _path_and_query(request.target)
    body = bytes(request.body)
    environ: dict[str, object] = {
        **base,
        "REQUEST_METHOD": request.method,
        "SERVER_PROTOCOL": f"HTTP/{request.version}",
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query.decode("latin-1"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }
    for name, value in request.headers:
        if b"_" in name or name in (b"content-length", b"transfer-encoding", b"proxy"):
            continue
        key = name.decode("latin-1").upper().replace("-", "_")
        if key != "CONTENT_TYPE":
            key = f"HTTP_{key}"
        text = value.decode("latin-1")
        joint = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{joint}{text}" if key in environ else text
    if request.length is not None:
        environ["CONTENT_LENGTH"] = str(request.length)
    elif request.chunked:
        environ["CONTENT_LENGTH"] = str(len(body))
    return environ


def _path_and_query(target: bytes) -> tuple[bytes, bytes]:
    if target[:1] != b"/" and target != b"*":
        try:
            split = urlsplit(target)
        except ValueError:
            split = urlsplit(b"")
        if split.scheme not in (b"http", b"https") or not split.netloc:
            raise Refused(HTTPStatus.BAD_REQUEST, "The request target is not a path.")
        return split.path or b"/", split.query
    path, _, query = target.partition(b"#")[0].partition(b"?")
    return path, query


def _head_too_large() -> Refused:
    return Refused(
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"The request line and headers exceed {HEAD_BYTES} bytes."
    )


class Sink(Protocol):
    """Receives the parts of requests; any exception that it raises ends the reading."""

    def head(self, request: Request) -> None:
        """Receive the valid head of a request; its body can follow."""

    def data(self, part: bytes) -> None:
        """Receive a part of its body."""

    def end(self) -> None:
        """Receive the end of the request."""


class Reader:
    """Reads the requests of one connection, and passes their parts to `sink`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._parser = httptools.HttpRequestParser(self)
        self._target = bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = False
        self._unused = 0
        self._head_size = 0
        self._failure: Exception | None = None

    @property
    def in_head(self) -> bool:
        """Return whether the head of a request is incomplete."""
        return self._in_head

    def feed(self, data: bytes) -> None:
        """Parse more data. Raises Refused for an unacceptable request, and the exceptions of `sink`."""
        self._unused += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return  # the connection ends with the previous request
        except httptools.HttpParserError as error:
            if self._failure is not None:
                raise self._failure from None
            raise Refused(HTTPStatus.BAD_REQUEST, f"The request is malformed: {error}.") from None
        if self._unused > HEAD_BYTES:
            raise _head_too_large()

    # -- callbacks of the parser, which would hide our errors ------------------------------------------------------

    def on_message_begin(self) -> None:
        self._target = bytearray()
        self._headers = []
        self._in_head = True
        self._head_size = 0

    def on_url(self, part: bytes) -> None:
        self._count(len(part))
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + _HEADER_SYNTAX)
        if self._in_head:  # others are trailers, which are ignored
            self._headers.append((name.lower(), value.strip(b" \t")))

    def on_headers_complete(self) -> None:
        parser, self._in_head, self._unused = self._parser, False, 0
        upgrade = parser.should_upgrade()
        request = Request(
            method=parser.get_method().decode("latin-1"),
            target=bytes(self._target),
            version=parser.get_http_version(),
            headers=self._headers,
            keep_alive=parser.should_keep_alive() and not upgrade,
        )
        with self._remembering():
            checked(request)
            if upgrade and (request.chunked or request.length):
                raise Refused(HTTPStatus.BAD_REQUEST, "A request with a body cannot upgrade the connection.")
            self._sink.head(request)

    def on_body(self, part: bytes) -> None:
        self._unused = 0
        with self._remembering():
            self._sink.data(part)

    def on_message_complete(self) -> None:
        self._unused = 0
        with self._remembering():
            self._sink.end()

    def _count(self, size: int) -> None:
        """Enforce the limit also for a head that arrives in one piece, which is parsed before `feed` returns."""
        self._head_size += size
        if self._head_size > HEAD_BYTES:
            with self._remembering():
                raise _head_too_large()

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._failure = error
            raise
