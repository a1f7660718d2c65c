"""Templates named by URL."""

from __future__ import annotations

import itertools
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg

from stoker.base import fetching
from stoker.base.config import load_config
from stoker.base.errors import BadValue
from testing.servers import wait_until
from tests.api.api_support import PROJECT, FakeEngine, limited
from tests.api.conftest import Request

ANSWERS = {
    "/good": (200, {}, b"heat_template_version: 2021-04-16"),
    "/gone": (404, {}, b"no"),
    "/binary": (200, {}, b"\xff\xfe"),
    "/away": (302, {"Location": "file:///etc/passwd"}, b""),
    "/moved": (302, {"Location": "/good"}, b""),
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, headers, body = ANSWERS[self.path]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _loopback_is_allowed(config: cfg.ConfigOpts) -> None:
    config.set_override("template_fetch_networks", ["127.0.0.0/8"])


@pytest.mark.parametrize("path", ["/good", "/moved"])
def test_a_template_is_fetched(request_as: Request, engine: FakeEngine, pages: str, path: str) -> None:
    answer = request_as("POST", "/stacks", json={"stack_name": "web", "template_url": pages + path})
    assert answer.status_code == 201, answer.text
    assert engine.last["template"] == "heat_template_version: 2021-04-16"


@pytest.mark.parametrize(
    ("path", "problem"),
    [("/gone", "returned status 404"), ("/binary", "is not UTF-8: byte 0"), ("/away", "cannot be fetched")],
)
def test_a_document_that_is_not_a_template_is_refused(
    request_as: Request, engine: FakeEngine, pages: str, path: str, problem: str
) -> None:
    answer = request_as("POST", "/validate", json={"template_url": pages + path})
    assert answer.status_code == 400
    assert problem in answer.json["error"]["message"]
    assert engine.calls == []


def test_a_template_that_is_too_large_is_refused(request_as: Request, config: cfg.ConfigOpts, pages: str) -> None:
    limited(config, max_template_size=10)
    answer = request_as("POST", "/validate", json={"template_url": f"{pages}/good"})
    assert answer.json["error"]["type"] == "RequestLimitExceeded"
    limited(config, max_template_size=33)
    assert request_as("POST", "/validate", json={"template_url": f"{pages}/good"}).status_code == 200


def test_a_given_template_is_used_before_a_url(request_as: Request, engine: FakeEngine) -> None:
    body = {"template": {"a": 1}, "template_url": "http://127.0.0.1:1/"}
    assert request_as("POST", "/validate", json=body).status_code == 200
    assert engine.last["template"] == {"a": 1}


def fetched(url: str, networks: Sequence[str] = (), seconds: float = 5.0) -> str:
    return fetching.fetch_text(url, "p1", fetching.FetchLimits(10**6, seconds, networks)).result(30)


@contextmanager
def talking(parts: Iterable[bytes]) -> Iterator[str]:
    """The URL of a host that says `parts`, whatever it is asked, to each that connects, and then hangs up."""

    def serve() -> None:
        while not ended.is_set():
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(peer, next(copies)), daemon=True).start()

    def talk(peer: socket.socket, chunks: Iterable[bytes]) -> None:
        with peer, suppress(OSError):
            peer.recv(4096)
            for part in chunks:
                peer.sendall(part)
                if ended.wait(0.01):
                    return

    ended = threading.Event()
    copies = itertools.repeat(parts) if isinstance(parts, list) else iter(itertools.tee(parts, 8))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    ended.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


# -- where templates may not be fetched from -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]",
        "[2002:7f00:1::]", "[64:ff9b::a00:1]", "2130706433", "0x7f000001",
    ],
)  # fmt: skip
def test_internal_addresses_are_refused(host: str) -> None:
    with pytest.raises(
        BadValue, match=r"no public address, and is not in template_fetch_networks|a URL that is not valid"
    ):
        fetched(f"http://{host}:1/latest/meta-data")


def test_every_redirect_is_checked(pages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "/inside", (302, {"Location": "http://169.254.169.254/latest/meta-data"}, b""))
    with pytest.raises(BadValue, match=r"169\.254\.169\.254 has no public address"):
        fetched(f"{pages}/inside", ["127.0.0.0/8"])


def test_resolved_address_is_checked_at_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name has a public address, and a private one; then only the private one."""
    answers = [["93.184.216.34", "10.0.0.1"], ["10.0.0.1"]]
    connected: list[str] = []

    def look_up(host: str, port: int, *_: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, port)) for address in answers.pop(0)]

    def new_socket(address: Any) -> Any:
        connected.append(address[4][0])
        raise OSError("refused")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(fetching, "_new_socket", new_socket)
    for problem in ("cannot be reached", "no public address"):
        with pytest.raises(BadValue, match=problem):
            fetched("http://templates.example/x")
    assert connected == ["93.184.216.34"]


@pytest.mark.parametrize(
    "stream",
    [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\nheat"],
    ids=["interim answers", "head", "body"],
)
def test_template_fetch_has_a_total_timeout(stream: bytes) -> None:
    with talking(itertools.chain([stream], itertools.repeat(stream[:25]))) as url:
        began = time.monotonic()
        with pytest.raises(BadValue, match="template_fetch_timeout"):
            fetched(url, ["127.0.0.0/8"], seconds=0.3)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "banner", [b"SSH-2.0-OpenSSH_9.2p1\r\n", b"220 mail.inside ESMTP\r\n", b"HTTP/1.1 999 banner-of-it\r\n\r\n", b""]
)
def test_fetch_errors_do_not_contain_the_response(request_as: Request, banner: bytes) -> None:
    with talking([banner]) as url:
        answer = request_as("POST", "/validate", json={"template_url": url})
    assert answer.status_code == 400
    message = answer.json["error"]["message"]
    assert "does not speak HTTP" in message or "returned status 999" in message
    assert not {"SSH", "ESMTP", "inside", "banner"} & set(re.split(r"\W+", message.removeprefix(url)))


def test_concurrent_fetches_per_project_are_limited(request_as: Request, config: cfg.ConfigOpts) -> None:
    limits = fetching.FetchLimits(100, 20.0, ["127.0.0.0/8"], per_project=2)
    with talking(itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n")) as url:
        own = [fetching.fetch_text(url, PROJECT, limits) for _ in range(2)]
        limited(config, template_fetches_per_project=2)
        answer = request_as("POST", "/validate", json={"template_url": url})
        assert answer.status_code == 503
        assert "Too many templates are being fetched: 2 for the project" in answer.json["error"]["message"]
        fetching.fetch_text(url, "another", limits).cancel()
        for future in own:
            future.cancel()
    wait_until(lambda: not fetching._fetches._in_progress, "the fetches have ended")


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://", "http:///x", "http://a:b/", "http://a:99999/", "https://[/", "ftp://a/", "//[::1"]
)
def test_an_invalid_url_is_refused(request_as: Request, url: str) -> None:
    assert request_as("POST", "/validate", json={"template_url": url}).status_code == 400


def test_an_invalid_network_is_reported_at_start(tmp_path: Path) -> None:
    settings = tmp_path / "heat.conf"
    settings.write_text("[DEFAULT]\ntemplate_fetch_networks = 10.0.0.0/8,inside\n")
    with pytest.raises(cfg.Error, match="template_fetch_networks"):
        load_config([], [str(settings)])
