"""Templates named by URL."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from api_support import limited

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
