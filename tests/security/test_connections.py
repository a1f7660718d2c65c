"""Floods of connections: whatever strangers do with theirs, another client is answered in time."""

from __future__ import annotations

import http.client
import itertools
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.api.serving.limits import Limits
from stoker.base.config import load_config
from stoker.base.context import RequestContext
from stoker.contract.request import Request

PROJECT, OTHER = "a" * 32, "b" * 32
STRANGER = "127.0.0.2"
PLACES = 200
LATENCY = 1.0
"""Seconds: nearly all of the neighbour's requests take less, also on a machine that runs other tests."""

PREPARE = f"POST /v1/{PROJECT}/validate HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\n".encode()


def identified(application: Any) -> Any:
    """Callers whose token is the id of a project are its members."""

    def checked(environ: dict[str, Any], start_response: Any) -> Any:
        token = environ.get("HTTP_X_AUTH_TOKEN", "")
        if token in (PROJECT, OTHER):
            environ.update(
                HTTP_X_IDENTITY_STATUS="Confirmed",
                HTTP_X_USER_ID="u",
                HTTP_X_PROJECT_ID=token,
                HTTP_X_ROLES="member,reader",
            )
        return application(environ, start_response)

    return checked


class Engine:
    """An engine with nothing to do."""

    def call(self, context: RequestContext, request: Request[Any], timeout: float = 60.0) -> Any:
        return {"stacks": [], "count": 0} if request.method == "stack_list" else {}


@pytest.fixture
def server() -> Iterator[Server]:
    config = load_config([], [])
    config.set_override("template_fetch_networks", ["127.0.0.0/8"])
    limits = Limits(body=config.max_json_body_size, bodies=8 * 1048576, connections=PLACES)
    server = Server(make_app(config, Engine(), identified), "127.0.0.1", 0, 8, limits)
    server.start()
    yield server
    server.stop()


def connected(server: Server, address: str = STRANGER) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), 10, (address, 0))


@contextmanager
def crowd(server: Server, number: int, begin: bytes, go_on: Callable[[socket.socket], object]) -> Iterator[None]:
    """So many connections of strangers, each of which sends `begin`, and then does `go_on` again and again.

    One that the server closes is replaced.
    """
    ended = threading.Event()

    def keep(most: int) -> None:
        with ExitStack() as opened:
            mine: list[socket.socket] = []
            while not ended.is_set():
                with suppress(OSError):
                    if len(mine) < most:
                        mine.append(opened.enter_context(connected(server)))
                        mine[-1].setblocking(False)
                        mine[-1].send(begin)
                        continue
                for stranger in list(mine):
                    try:
                        go_on(stranger)
                    except BlockingIOError:
                        continue
                    except OSError:
                        mine.remove(stranger)
                        stranger.close()
                ended.wait(0.05)

    threads = [threading.Thread(target=keep, args=(number // 4,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(0.5)  # the crowd gathers
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def neighbour_waits(server: Server, requests: int = 60) -> float:
    """The 95th percentile of what a client waits who opens a connection for each request, in seconds."""
    taken = []
    for _ in range(requests):
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", f"/v1/{OTHER}/build_info", headers={"X-Auth-Token": OTHER})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 200
        taken.append(time.perf_counter() - began)
    return statistics.quantiles(taken, n=20)[-1]


def held(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Check, and record, how the neighbour fares."""
    waits = neighbour_waits(server)
    record_property("neighbour_p95_ms", waits * 1000)
    assert waits < LATENCY


def still_there(stranger: socket.socket) -> None:
    """Raise OSError for a connection that the server has closed."""
    if stranger.recv(65536) == b"":
        raise ConnectionResetError


def sending(part: bytes) -> Callable[[socket.socket], object]:
    return lambda stranger: stranger.send(part)


def test_idle_connections(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Twice as many idle keep-alive connections as there are places"""
    with crowd(server, 2 * PLACES, b"GET / HTTP/1.1\r\nHost: api\r\n\r\n", still_there):
        held(server, record_property)


def test_half_open_connections(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Twice as many connections as there are places, on which nothing is ever sent"""
    with crowd(server, 2 * PLACES, b"", still_there):
        held(server, record_property)


def test_slow_heads(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Request heads that come one header at a time and never end"""
    with crowd(server, 2 * PLACES, b"GET / HTTP/1.1\r\n", sending(b"X-A: b\r\n")):
        held(server, record_property)


def test_slow_bodies(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Request bodies that come one byte at a time"""
    begin = PREPARE + b"Content-Length: 100000\r\n\r\n{"
    with crowd(server, 2 * PLACES, begin, sending(b" ")):
        held(server, record_property)


def test_bodies_without_end(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Chunked request bodies without an end"""
    begin = PREPARE + b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (60000, b" " * 60000)
    with crowd(server, 40, begin, sending(chunk)):
        held(server, record_property)


def test_bodies_that_would_fill_the_memory(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Many large request bodies that are kept incomplete"""
    begin = PREPARE + b"Content-Length: 1048576\r\n\r\n"
    with crowd(server, PLACES, begin, sending(b" " * 60000)):
        held(server, record_property)
        assert server._pool._bytes <= 8 * 1048576


def test_large_bodies_without_a_token(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Request bodies of 300 MB without a token: refused by their length, and not read"""
    begin = PREPARE + b"Content-Length: 314572800\r\n\r\n"
    with crowd(server, 8, begin, sending(b" " * 60000)):
        held(server, record_property)
        assert server._pool._bytes == 0
    with connected(server) as stranger:
        stranger.sendall(begin)
        assert stranger.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_requests_that_are_sent_ahead(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Endless requests on each connection, sent without waiting for answers"""
    request = b"GET / HTTP/1.1\r\nHost: api\r\n\r\n"
    with crowd(server, 8, request, sending(request * 10)):
        held(server, record_property)


def test_answers_that_nobody_reads(server: Server, record_property: Callable[[str, object], None]) -> None:
    """Answers are requested again and again, and never read"""
    request = b"GET /v1/openapi.json HTTP/1.1\r\nHost: api\r\n\r\n"
    with crowd(server, 20, request, sending(request)):
        held(server, record_property)


@pytest.mark.parametrize("stream", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: y"], ids=["100", "slow"])
def test_slow_template_hosts(server: Server, record_property: Callable[[str, object], None], stream: bytes) -> None:
    """More template_url requests than there are threads, to a host that never comes to an end"""
    with talking(stream) as url:
        body = b'{"template_url": "%s"}' % url.encode()
        begin = PREPARE + b"X-Auth-Token: %s\r\nContent-Length: %d\r\n\r\n%s" % (PROJECT.encode(), len(body), body)
        with crowd(server, 40, begin, still_there):
            held(server, record_property)


@contextmanager
def talking(part: bytes) -> Iterator[str]:
    """The URL of a host that begins with `part`, and repeats its end indefinitely."""
    ended = threading.Event()

    def talk(peer: socket.socket) -> None:
        with peer, suppress(OSError):
            peer.recv(65536)
            for reported in itertools.chain([part], itertools.repeat(part if part.endswith(b"\r\n\r\n") else b"y")):
                peer.sendall(reported)
                if ended.wait(0.05):
                    return

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    ended.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()
