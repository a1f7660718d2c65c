"""The built-in HTTP server, byte by byte, through real sockets."""

from __future__ import annotations

import http.client
import io
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from stoker.api.auth import identified
from stoker.api.server import Server
from stoker.api.serving.limits import HEAD_BYTES, PIPELINED, Limits
from stoker.api.serving.shares import Share
from stoker.api.serving.workers import Workers, waiting

SMALL = Limits(body=1000, bodies=100_000, connections=50, head_seconds=0.3, body_seconds=0.3, idle_seconds=30)
PATIENT = Limits(body=1000, bodies=100_000, connections=50)
GET = b"GET /here HTTP/1.1\r\nHost: api\r\n\r\n"
POST = b"POST /here HTTP/1.1\r\nHost: api\r\n"


class Application:
    """Answers with what it was sent; what it has seen is in `seen`. A request to /wait waits until `go_on` is set."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.arrived = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        body = environ["wsgi.input"].read()
        self.seen.append({**environ, "body": body})
        if environ["PATH_INFO"] == "/wait":
            self.arrived.set()
            assert self.go_on.wait(20)
        content = b"%s %s %s" % (environ["REQUEST_METHOD"].encode(), environ["PATH_INFO"].encode("latin-1"), body)
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(content)))])
        return [b""] if environ["REQUEST_METHOD"] == "HEAD" else [content]


@contextmanager
def serving(application: Any, limits: Limits = PATIENT, threads: int = 4) -> Iterator[Server]:
    server = Server(application, "127.0.0.1", 0, threads, limits)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[tuple[Server, Application]]:
    application = Application()
    with serving(application) as server:
        yield server, application


@pytest.fixture
def application(shared: tuple[Server, Application]) -> Application:
    shared[1].seen.clear()
    return shared[1]


@pytest.fixture
def server(shared: tuple[Server, Application]) -> Server:
    return shared[0]


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), 10) as client:
        yield client


def exchanged(server: Server, sent: bytes) -> bytes:
    """Everything that the server sends when a client sends this, and nothing more."""
    with connected(server) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        return everything(client)


def everything(client: socket.socket) -> bytes:
    """What the server sends until it closes."""
    received = bytearray()
    while part := client.recv(65536):
        received += part
    return bytes(received)


class _Unclosed(io.BufferedReader):
    """A stream that a response, which closes what it reads from, leaves open."""

    def close(self) -> None:
        pass


class _Bytes:
    def __init__(self, content: io.BufferedReader) -> None:
        self._content = content

    def makefile(self, *_arguments: Any) -> io.BufferedReader:
        return self._content


def answers(received: bytes, method: str = "GET") -> list[tuple[int, dict[str, str], bytes]]:
    """The answers in a stream of bytes, as the standard library reads them."""
    stream, found = _Unclosed(io.BytesIO(received)), []
    while stream.peek(1):
        response = http.client.HTTPResponse(_Bytes(stream), method=method)  # type: ignore[arg-type]
        response.begin()
        found.append((response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()))
    return found


def one_answer(server: Server, sent: bytes, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    [only] = answers(exchanged(server, sent), method)
    return only


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

REFUSED = {
    "Content-Length and Transfer-Encoding": (POST + b"Content-Length: 5\r\n" + CHUNKED, 400),
    "Transfer-Encoding and Content-Length": (
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        400,
    ),
    "two lengths": (POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", 400),
    "two equal lengths": (POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", 400),
    "a list of lengths": (POST + b"Content-Length: 5, 5\r\n\r\nabcde", 400),
    "a signed length": (POST + b"Content-Length: +5\r\n\r\nabcde", 400),
    "a negative length": (POST + b"Content-Length: -5\r\n\r\nabcde", 400),
    "a hexadecimal length": (POST + b"Content-Length: 0x5\r\n\r\nabcde", 400),
    "an empty length": (POST + b"Content-Length:\r\n\r\n", 400),
    "a length beyond 64 bits": (POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", 400),
    "a space before the colon": (POST + b"Content-Length : 5\r\n\r\nabcde", 400),
    "a folded header": (b"GET / HTTP/1.1\r\nHost: api\r\nX-A: b\r\n c\r\n\r\n", 400),
    "a folded Transfer-Encoding": (POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400),
    "a first header that is folded": (b"GET / HTTP/1.1\r\n Host: api\r\n\r\n", 400),
    "gzip, chunked": (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "identity": (POST + b"Transfer-Encoding: identity\r\n\r\n", 501),
    "chunked, identity": (POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    "xchunked": (POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
    "chunked twice": (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunked with a vertical tab": (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400),
    "an empty coding": (POST + b"Transfer-Encoding:\r\n\r\n", 400),
    "chunked in HTTP/1.0": (b"POST / HTTP/1.0\r\n" + CHUNKED, 400),
    "a chunk size that is no number": (POST + b"Transfer-Encoding: chunked\r\n\r\n5x\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk size with a sign": (POST + b"Transfer-Encoding: chunked\r\n\r\n+5\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk size with 0x": (POST + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk size beyond 64 bits": (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n", 400),
    "a chunk that is longer than its size": (POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n0\r\n\r\n", 400),
    "a chunk size that ends with a bare LF": (POST + b"Transfer-Encoding: chunked\r\n\r\n5\nabcde\r\n0\r\n\r\n", 400),
    "a chunk that ends with a bare LF": (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\n0\r\n\r\n", 400),
    "a bare LF after a header": (b"GET / HTTP/1.1\r\nHost: api\nX-A: b\r\n\r\n", 400),
    "a bare LF after the request line": (b"GET / HTTP/1.1\nHost: api\r\n\r\n", 400),
    "a bare LF at the end of the head": (b"GET / HTTP/1.1\r\nHost: api\r\n\n", 400),
    "a bare CR in a header": (b"GET / HTTP/1.1\r\nHost: api\r\nX-A: b\rX-B: c\r\n\r\n", 400),
    "a null in a header": (b"GET / HTTP/1.1\r\nHost: api\r\nX-A: b\0c\r\n\r\n", 400),
    "a space in a header's name": (b"GET / HTTP/1.1\r\nHost: api\r\nX A: b\r\n\r\n", 400),
    "a header without a name": (b"GET / HTTP/1.1\r\nHost: api\r\n: b\r\n\r\n", 400),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET / HTTP/1.1\r\nHost: api\r\nHost: other\r\n\r\n", 400),
    "two equal Hosts": (b"GET / HTTP/1.1\r\nHost: api\r\nHost: api\r\n\r\n", 400),
    "a Host with a space": (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    "a Host with a user": (b"GET / HTTP/1.1\r\nHost: user@api\r\n\r\n", 400),
    "a Host with a path": (b"GET / HTTP/1.1\r\nHost: api/x\r\n\r\n", 400),
    "two tokens of a signature": (b"GET / HTTP/1.1\r\nHost: api\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", 400),
    "another version of HTTP": (b"GET / HTTP/2.0\r\nHost: api\r\n\r\n", 505),
    "HTTP/0.9": (b"GET /\r\n\r\n", 505),
    "a version that is none": (b"GET / HTTP/1.1x\r\nHost: api\r\n\r\n", 400),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "the hello of TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "an unknown method": (b"BREW / HTTP/1.1\r\nHost: api\r\n\r\n", 400),
    "a method in small letters": (b"get / HTTP/1.1\r\nHost: api\r\n\r\n", 400),
    "CONNECT": (b"CONNECT api:443 HTTP/1.1\r\nHost: api\r\n\r\n", 501),
    "a target that is no path": (b"GET here HTTP/1.1\r\nHost: api\r\n\r\n", 400),
    "a target with a broken address": (b"GET http://[::1 HTTP/1.1\r\nHost: api\r\n\r\n", 400),
    "a target of another scheme": (b"GET ftp://api/x HTTP/1.1\r\nHost: api\r\n\r\n", 400),
    "an unknown expectation": (POST + b"Expect: tea\r\nContent-Length: 1\r\n\r\n", 417),
    "a body and an upgrade": (POST + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc", 400),
    "a chunked body and an upgrade": (POST + b"Connection: upgrade\r\nUpgrade: h2c\r\n" + CHUNKED, 400),
    "headers without an end": (b"GET / HTTP/1.1\r\nHost: api\r\n" + b"X-A: b\r\n" * (HEAD_BYTES // 8 + 1), 431),
    "a target without an end": (b"GET /" + b"x" * (HEAD_BYTES + 1), 431),
}  # fmt: skip


@pytest.mark.parametrize(("sent", "status"), REFUSED.values(), ids=REFUSED)
def test_ambiguous_requests_are_refused(server: Server, application: Application, sent: bytes, status: int) -> None:
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: api\r\n\r\n"
    found, headers, body = one_answer(server, sent + smuggled)
    assert found == status, body
    assert headers["connection"] == "close"
    assert body.strip()
    assert [request["PATH_INFO"] for request in application.seen] in ([], ["here"])


def test_oversized_request_head_is_refused(server: Server, application: Application) -> None:
    head = b"GET / HTTP/1.1\r\nHost: api\r\n" + b"X-A: b\r\n" * (HEAD_BYTES // 8 + 1) + b"\r\n"
    assert one_answer(server, head)[0] == 431
    assert one_answer(server, GET[:-2] + b"X-A: " + b"b" * HEAD_BYTES + b"\r\n\r\n")[0] == 431
    assert not application.seen


def test_trailers_are_limited_and_ignored(server: Server, application: Application) -> None:
    begin = POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
    assert one_answer(server, begin + b"X-Auth-Token: t\r\n\r\n")[2] == b"POST /here a"
    assert "HTTP_X_AUTH_TOKEN" not in application.seen[0]
    assert one_answer(server, begin + b"X-A: b\r\n" * (HEAD_BYTES // 8 + 1) + b"\r\n")[0] == 431


def test_headers_with_underscores_are_not_aliases(server: Server, application: Application) -> None:
    sent = GET[:-2] + b"X_Auth_Token: forged\r\nX-Auth_Token: forged\r\nX-Real: 1\r\nProxy: evil\r\n\r\n"
    assert one_answer(server, sent)[0] == 200
    assert "HTTP_X_AUTH_TOKEN" not in application.seen[0]
    assert "HTTP_PROXY" not in application.seen[0]
    assert application.seen[0]["HTTP_X_REAL"] == "1"


def test_repeated_headers_are_joined(server: Server, application: Application) -> None:
    sent = GET[:-2] + b"Accept: a\r\nAccept: b\r\nCookie: c=1\r\nCookie: d=2\r\n\r\n"
    one_answer(server, sent)
    assert application.seen[0]["HTTP_ACCEPT"] == "a,b"
    assert application.seen[0]["HTTP_COOKIE"] == "c=1; d=2"


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/a%2Fb?c=%20#d", "/a/b", "c=%20"),
        (b"/%c3%a9", "/\xc3\xa9", ""),
        (b"http://api:80/x?y", "/x", "y"),
        (b"*", "*", ""),
        (b"//other/x", "//other/x", ""),
    ],
)
def test_request_targets(server: Server, application: Application, target: bytes, path: str, query: str) -> None:
    method = b"OPTIONS " if target == b"*" else b"GET "
    assert one_answer(server, method + target + b" HTTP/1.1\r\nHost: api\r\n\r\n")[0] == 200
    assert (application.seen[0]["PATH_INFO"], application.seen[0]["QUERY_STRING"]) == (path, query)


# -- time limits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "what"),
    [
        (b"GET / HTTP/1.1\r\nHos", b"head"),
        (b"\r\n", b"head"),
        (POST + b"Content-Length: 5\r\n\r\nab", b"body"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", b"body"),
        (GET + b"GET / HTTP/1.1\r\n", b"head"),
        (GET + POST + b"Content-Length: 5\r\n\r\nab", b"body"),
    ],
    ids=["head", "empty line", "body", "chunked body", "second head", "second body"],
)
def test_slow_request_gets_408(sent: bytes, what: bytes) -> None:
    with serving(Application(), SMALL) as server, connected(server) as client:
        client.sendall(sent)
        *before, last = answers(everything(client))
    assert [status for status, _, _ in before] == [200] * sent.count(b"GET /here")
    assert last[0] == 408
    assert what in last[2]
    assert last[1]["connection"] == "close"


def test_a_body_has_its_own_time_after_an_earlier_request() -> None:
    """The second request's body begins while the first is served."""
    limits = Limits(body=1000, connections=50, head_seconds=0.3, body_seconds=30, idle_seconds=0.3)
    application = Application()
    with serving(application, limits) as server, connected(server) as client:
        client.sendall(GET.replace(b"/here", b"/wait") + POST + b"Content-Length: 2\r\n\r\na")
        assert application.arrived.wait(10)
        application.go_on.set()
        first = client.recv(65536)
        client.settimeout(1)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(10)
        client.sendall(b"b")
        client.shutdown(socket.SHUT_WR)
        assert [body for _, _, body in answers(first + everything(client))] == [b"GET /wait ", b"POST /here ab"]


def test_an_idle_connection_is_closed_without_an_answer() -> None:
    with serving(Application(), Limits(connections=50, idle_seconds=0.2)) as server, connected(server) as client:
        client.sendall(GET)
        assert len(answers(everything(client))) == 1


# -- bodies ---------------------------------------------------------------------------------------------------------


def test_chunks_are_put_together(server: Server, application: Application) -> None:
    sent = POST + b"Transfer-Encoding: Chunked\r\n\r\n5;name=x\r\nhello\r\n006\r\n world\r\n0\r\n\r\n"
    assert one_answer(server, sent)[2] == b"POST /here hello world"
    assert application.seen[0]["CONTENT_LENGTH"] == "11"


def test_a_chunked_body_ends_at_the_limit(server: Server, application: Application) -> None:
    """The application gets one byte more than the limit, by which it refuses the body, and reads no more."""
    chunk = b"%x\r\n%s\r\n" % (400, b"x" * 400)
    status, headers, _ = one_answer(server, POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 10 + b"0\r\n\r\n")
    assert (status, headers["connection"]) == (200, "close")
    assert len(application.seen[0]["body"]) == PATIENT.body + 1
    assert application.seen[0]["CONTENT_LENGTH"] == str(PATIENT.body + 1)


def test_a_body_beyond_the_limit_is_not_read(server: Server, application: Application) -> None:
    with connected(server) as client:
        client.sendall(POST + b"Content-Length: 1001\r\n\r\n")
        [(status, headers, _)] = answers(everything(client))
    assert (status, headers["connection"]) == (200, "close")
    assert (application.seen[0]["CONTENT_LENGTH"], application.seen[0]["body"]) == ("1001", b"")


def test_expect_100_continue_is_answered(server: Server) -> None:
    with connected(server) as client:
        client.sendall(POST + b"Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n")
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"ab")
        client.shutdown(socket.SHUT_WR)
        assert answers(everything(client))[0][2] == b"POST /here ab"


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n",
        POST + b"Expect: 100-continue\r\nContent-Length: 0\r\n\r\n",
        b"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na",
    ],
    ids=["too large", "no body", "HTTP/1.0"],
)
def test_requests_without_a_body_get_no_100_continue(server: Server, sent: bytes) -> None:
    assert exchanged(server, sent).startswith(b"HTTP/1.1 200 ")


def test_continue_response_follows_earlier_responses() -> None:
    application = Application()
    with serving(application) as server, connected(server) as client:
        client.sendall(GET.replace(b"/here", b"/wait") + POST + b"Expect: 100-continue\r\nContent-Length: 1\r\n\r\n")
        assert application.arrived.wait(10)
        application.go_on.set()
        received = bytearray()
        while b"100 Continue\r\n\r\n" not in received:
            received += client.recv(65536)
        assert received.index(b"GET /wait") < received.index(b"HTTP/1.1 100 ")
        client.sendall(b"a")
        client.shutdown(socket.SHUT_WR)
        assert everything(client).endswith(b"POST /here a")


# -- connections ----------------------------------------------------------------------------------------------------


def test_answers_come_in_the_order_of_requests() -> None:
    application = Application()
    with serving(application) as server, connected(server) as client:
        ahead = [b"GET /%d HTTP/1.1\r\nHost: api\r\n\r\n" % number for number in range(10)]
        client.sendall(GET.replace(b"/here", b"/wait") + b"".join(ahead[:5]))
        assert application.arrived.wait(10)
        client.sendall(b"".join(ahead[5:]))
        assert len(application.seen) == 1, "one request of a connection at a time"
        application.go_on.set()
        client.shutdown(socket.SHUT_WR)
        assert [body for _, _, body in answers(everything(client))] == [
            b"GET /wait ", *(b"GET /%d " % number for number in range(10))
        ]  # fmt: skip


def test_pipelined_requests_over_the_limit_are_refused_in_order(server: Server) -> None:
    found = answers(exchanged(server, GET * (PIPELINED + 10)))
    assert [status for status, _, _ in found] == [200] * PIPELINED + [429]


def test_pipelined_requests_before_a_refused_one_are_answered(server: Server) -> None:
    found = answers(exchanged(server, GET * 2 + b"GET / HTTP/1.1\r\n\r\n"))
    assert [status for status, _, _ in found] == [200, 200, 400]


@pytest.mark.parametrize(
    ("sent", "connection"),
    [
        (GET, None),
        (GET[:-2] + b"Connection: close\r\n\r\n", "close"),
        (b"GET / HTTP/1.0\r\n\r\n", "close"),
        (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "keep-alive"),
        (GET[:-2] + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", "close"),
        (GET[:-2] + b"Upgrade: h2c\r\n\r\n", None),
    ],
    ids=["1.1", "1.1 close", "1.0", "1.0 keep-alive", "upgrade", "no upgrade"],
)
def test_connection_keep_alive(server: Server, sent: bytes, connection: str | None) -> None:
    with connected(server) as client:
        client.sendall(sent)
        if connection == "close":
            [found] = answers(everything(client))
        else:
            [found] = answers(client.recv(65536))
            client.sendall(GET)
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert found[0] == 200
    assert found[1].get("connection") == connection


def test_head_has_the_headers_of_get_and_no_body(server: Server) -> None:
    received = exchanged(server, GET.replace(b"GET", b"HEAD") + GET)
    head, _, rest = received.partition(b"\r\n\r\n")
    assert b"Content-Length: 11" in head
    assert answers(rest)[0][2] == b"GET /here ", "nothing stands between the two answers"


def test_empty_last_part_of_body_is_not_waited_for() -> None:
    def empty(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [b"", b"a", b""]

    with serving(empty) as server:
        _, headers, body = one_answer(server, GET)
    assert (headers["content-length"], body) == ("1", b"a")


def _parts(_environ: Any, start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [])
    yield b"a" * 300_000
    yield b"b"


def _fails(_environ: Any, start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [])
    yield b"a" * 300_000
    raise RuntimeError("the application ends in the middle")


def test_a_body_of_unknown_length_is_chunked_or_ends_with_the_connection() -> None:
    with serving(_parts) as server:
        status, headers, body = one_answer(server, GET)
        assert (status, headers["transfer-encoding"], body) == (200, "chunked", b"a" * 300_000 + b"b")
        status, headers, body = one_answer(server, b"GET / HTTP/1.0\r\n\r\n")
        assert (status, headers["connection"], body) == (200, "close", b"a" * 300_000 + b"b")
        assert "transfer-encoding" not in headers


def test_interrupted_response_is_incomplete() -> None:
    with serving(_fails) as server:
        received = exchanged(server, GET)
    assert received.startswith(b"HTTP/1.1 200 ")
    with pytest.raises(http.client.IncompleteRead):
        answers(received)


def test_a_header_with_a_line_break_is_never_sent() -> None:
    def splitting(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("X-A", "b\r\nSet-Cookie: c")])
        return [b""]

    with serving(splitting) as server:
        status, headers, _ = one_answer(server, GET)
    assert status == 500
    assert "set-cookie" not in headers


def test_a_request_in_progress_is_answered_when_the_server_stops() -> None:
    application = Application()
    with serving(application) as server, connected(server) as busy, connected(server) as idle:
        idle.sendall(GET)
        assert idle.recv(65536).startswith(b"HTTP/1.1 200 ")
        busy.sendall(GET.replace(b"/here", b"/wait"))
        assert application.arrived.wait(10)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert everything(idle) == b"", "a connection without a request is closed at once"
        with pytest.raises(ConnectionRefusedError), connected(server):
            pass
        application.go_on.set()
        [(status, headers, body)] = answers(everything(busy))
        busy.close()
        stopping.join(10)
        assert not stopping.is_alive()
    assert (status, headers["connection"], body) == (200, "close", b"GET /wait ")


# -- turns ----------------------------------------------------------------------------------------------------------


class SlowEngine:
    """An application whose every request of project `a` waits for an engine that does not answer yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting = 0
        self.most = 0
        self.arrived = threading.Semaphore(0)
        self.go_on = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        project = environ["HTTP_X_AUTH_TOKEN"]
        identified(environ, project, "u")
        if project == "a":
            with self.lock:
                self.waiting += 1
                self.most = max(self.most, self.waiting)
            self.arrived.release()
            assert self.go_on.wait(20)
            with self.lock:
                self.waiting -= 1
        start_response("200 OK", [])
        return [environ["PATH_INFO"].encode()]


def _sent_by(project: str) -> bytes:
    return GET.replace(b"\r\n\r\n", f"\r\nX-Auth-Token: {project}\r\n\r\n".encode())


def test_busy_project_leaves_a_quarter_of_the_threads() -> None:
    engine = SlowEngine()
    with serving(engine, threads=8) as server, ExitStack() as opened:
        slow = [opened.enter_context(connected(server)) for _ in range(20)]
        for client in slow:
            client.sendall(_sent_by("a"))
        for _ in range(6):
            assert engine.arrived.acquire(timeout=10)
        for _ in range(5):
            assert one_answer(server, _sent_by("b"))[0] == 200
        assert engine.most == 6
        engine.go_on.set()
        for client in slow:
            client.shutdown(socket.SHUT_WR)
            assert [status for status, _, _ in answers(everything(client))] == [200]
    assert engine.most == 6


def test_request_of_disconnected_client_is_dropped() -> None:
    application = Application()
    with serving(application, replace(PATIENT, half_closed_seconds=0.2), threads=1) as server:
        with connected(server) as busy, connected(server) as ended:
            busy.sendall(GET.replace(b"/here", b"/wait"))
            busy.shutdown(socket.SHUT_WR)
            assert application.arrived.wait(10)
            ended.sendall(GET)
            ended.shutdown(socket.SHUT_WR)
            ended.settimeout(10)
            with suppress(ConnectionResetError):
                assert everything(ended) == b""
            application.go_on.set()
            [(status, _, _)] = answers(everything(busy))
        assert status == 200, "what has begun is finished"
        assert one_answer(server, GET.replace(b"/here", b"/after"))[0] == 200
    assert [seen["PATH_INFO"] for seen in application.seen] == ["/wait", "/after"]


def test_queued_request_of_disconnected_client_is_dropped() -> None:
    """The application has seen it, but only to find out whose it is."""
    engine = SlowEngine()
    with serving(engine, replace(PATIENT, half_closed_seconds=0.2), threads=8) as server, ExitStack() as opened:
        busy = [opened.enter_context(connected(server)) for _ in range(6)]
        for client in busy:
            client.sendall(_sent_by("a"))
        for _ in range(6):
            assert engine.arrived.acquire(timeout=10)
        ended = opened.enter_context(connected(server))
        ended.sendall(_sent_by("a"))
        ended.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            assert everything(ended) == b""
        engine.go_on.set()
        for client in busy:
            client.shutdown(socket.SHUT_WR)
            assert [status for status, _, _ in answers(everything(client))] == [200]


def test_project_queues_are_served_round_robin() -> None:
    """A share with many jobs in the queue lets others' jobs go between them."""
    workers, begun, blocked = Workers(1), threading.Event(), threading.Event()
    order: list[str] = []

    def block() -> None:
        begun.set()
        assert blocked.wait(10)

    workers.submit(Share(True, "z"), block)
    assert begun.wait(10)
    for number in range(3):
        workers.submit(Share(True, "a"), partial(order.append, f"a{number}"))
    workers.submit(Share(True, "b"), lambda: order.append("b0"))
    workers.submit(Share(True, "c"), lambda: order.append("c0"))
    blocked.set()
    assert workers.stop(10)
    assert order == ["a0", "b0", "c0", "a1", "a2"]


def test_waiting_job_releases_its_thread_share() -> None:
    workers, done, inside = Workers(1), threading.Event(), threading.Event()

    def slow() -> None:
        with waiting():
            inside.set()
            assert done.wait(10)

    workers.submit(Share(True, "a"), slow)
    assert inside.wait(10)
    workers.submit(Share(True, "a"), done.set)
    assert done.wait(10)
    assert workers.stop(10)


def test_share_with_many_waiting_jobs_gets_no_more_threads() -> None:
    workers, done, inside = Workers(1), threading.Event(), threading.Semaphore(0)

    def slow() -> None:
        with waiting():
            inside.release()
            assert done.wait(10)

    for _ in range(30):
        workers.submit(Share(True, "a"), slow)
    for _ in range(17):
        assert inside.acquire(timeout=10)
    assert not inside.acquire(timeout=0.05), "sixteen have left their places, and the next one keeps the only thread"
    done.set()
    assert workers.stop(10)
    assert inside.acquire(timeout=0)


@pytest.mark.parametrize(("soft", "hard", "connections"), [(256, 20_000, 4096), (256, 1_256, 500), (64, 256, 16)])
def test_connection_limit_is_half_of_the_open_file_limit(soft: int, hard: int, connections: int) -> None:
    """A process limits itself: that cannot be undone."""
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard})); "
        "from stoker.api.serving.limits import Limits; "
        "print(Limits().affordable_connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found, files = map(int, run.stdout.split())
    assert found == connections
    assert files >= min(2 * connections, hard)
