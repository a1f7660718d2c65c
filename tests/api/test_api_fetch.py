"""Templates named by URL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from api_support import limited
from oslo_config import cfg

from stoker.base import fetching
from stoker.base.config import load_config
from stoker.base.errors import BadValue

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
def test_a_template_is_fetched(request_as, engine, pages, path) -> None:
    answer = request_as("POST", "/stacks", json={"stack_name": "web", "template_url": pages + path})
    assert answer.status_code == 201, answer.text
    assert engine.last["template"] == "heat_template_version: 2021-04-16"


@pytest.mark.parametrize(
    ("path", "complaint"),
    [("/gone", "HTTP Error 404"), ("/binary", "is not UTF-8: byte 0"), ("/away", "cannot be fetched")],
)
def test_what_is_no_template_is_refused(request_as, engine, pages, path, complaint) -> None:
    answer = request_as("POST", "/validate", json={"template_url": pages + path})
    assert answer.status_code == 400
    assert complaint in answer.json["error"]["message"]
    assert engine.calls == []


def test_a_template_that_is_too_large_is_refused(request_as, config, pages) -> None:
    limited(config, max_template_size=10)
    answer = request_as("POST", "/validate", json={"template_url": f"{pages}/good"})
    assert answer.json["error"]["type"] == "RequestLimitExceeded"
    limited(config, max_template_size=33)
    assert request_as("POST", "/validate", json={"template_url": f"{pages}/good"}).status_code == 200


def test_a_given_template_is_used_before_a_url(request_as, engine) -> None:
    body = {"template": {"a": 1}, "template_url": "http://127.0.0.1:1/"}
    assert request_as("POST", "/validate", json=body).status_code == 200
    assert engine.last["template"] == {"a": 1}


# -- where templates may not be fetched from -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1", "[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]",
        "[2002:7f00:1::]", "[64:ff9b::a00:1]", "2130706433", "0x7f000001",
    ],
)  # fmt: skip
def test_addresses_that_only_the_service_can_reach(host: str) -> None:
    with pytest.raises(BadValue, match="no public address, nor in template_fetch_networks"):
        fetching.fetch_text(f"http://{host}:1/latest/meta-data", 100, 5.0)


def test_every_redirect_is_checked(pages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "/inside", (302, {"Location": "http://169.254.169.254/latest/meta-data"}, b""))
    with pytest.raises(BadValue, match=r"169\.254\.169\.254 is at no public address"):
        fetching.fetch_text(f"{pages}/inside", 100, 5.0, ["127.0.0.0/8"])


def test_what_a_name_means_when_it_is_connected_to_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name has a public address, and a private one; then only the private one."""
    answers = [["93.184.216.34", "10.0.0.1"], ["10.0.0.1"]]
    connected: list[str] = []

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, port)) for address in answers.pop(0)]

    def connect(address: tuple[str, int], *_: Any) -> Any:
        connected.append(address[0])
        raise OSError("refused")

    monkeypatch.setattr(fetching.socket, "getaddrinfo", look_up)
    monkeypatch.setattr(fetching.socket, "create_connection", connect)
    for complaint in ("refused", "no public address"):
        with pytest.raises(BadValue, match=complaint):
            fetching.fetch_text("http://templates.example/x", 100, 5.0)
    assert connected == ["93.184.216.34"]


def test_all_of_it_must_come_in_time(pages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = iter(float(second) for second in range(0, 100, 40))
    monkeypatch.setattr(fetching.time, "monotonic", lambda: next(passing))
    with pytest.raises(BadValue, match="template_fetch_timeout"):
        fetching.fetch_text(f"{pages}/good", 100, 30.0, ["127.0.0.0/8"])


def test_a_network_that_is_none_is_told_at_start(tmp_path: Path) -> None:
    settings = tmp_path / "heat.conf"
    settings.write_text("[DEFAULT]\ntemplate_fetch_networks = 10.0.0.0/8,inside\n")
    with pytest.raises(cfg.Error, match="template_fetch_networks"):
        load_config([], [str(settings)])
