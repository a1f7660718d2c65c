"""How commands hear of events: by a stream where the service has one, else by asking again and again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from keystoneauth1 import adapter, session, token_endpoint

from stoker.cli.client import stack_client
from stoker.cli.client.refusals import Refused
from stoker.cli.client.stack_client import Stack, StackClient

FACTS = {"stack_name": "web", "id": "1", "stack_status": "UPDATE_IN_PROGRESS"}


class Orchestration:
    """A service that has the events 0, 1, 2 …; `streams` are what it sends to those who want a stream, one by one."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.streams: list[str] | None = None
        self.asked: list[tuple[str, str | None]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                marker = (
                    self.headers.get("Last-Event-ID") or parse_qs(urlsplit(self.path).query).get("marker", [None])[0]
                )
                outer.asked.append((self.headers["Accept"], marker))
                kind, body = outer.answer(self.headers["Accept"], marker)
                self.send_response(200 if body else 403)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, accept: str, marker: str | None) -> tuple[str, bytes]:
        if accept == "text/event-stream" and self.streams is not None:
            return "text/event-stream; charset=utf-8", self.streams.pop(0).encode()
        start = 0 if marker is None else self.events.index(marker) + 1
        found = [{"id": event} for event in self.events[start:]]
        return "application/json", json.dumps({"events": found}).encode()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def orchestration() -> Iterator[Orchestration]:
    orchestration = Orchestration()
    yield orchestration
    orchestration.stop()


@pytest.fixture
def stack(orchestration: Orchestration, monkeypatch: pytest.MonkeyPatch) -> Stack:
    monkeypatch.setattr(stack_client, "POLL_SECONDS", 0.01)
    opened = session.Session(auth=token_endpoint.Token(orchestration.url, "token"))
    return Stack(
        StackClient(adapter.Adapter(opened, endpoint_override=orchestration.url, raise_exc=False), 30.0), FACTS
    )


def test_service_without_event_stream_is_polled(orchestration: Orchestration, stack: Stack) -> None:
    orchestration.events = ["a", "b"]
    watched = stack.watch()
    assert list(islice(watched, 3)) == [{"id": "a"}, {"id": "b"}, None]
    orchestration.events.append("c")
    assert next(watched) == {"id": "c"}
    assert next(watched) is None
    assert [accept for accept, _ in orchestration.asked].count("text/event-stream") == 1
    assert orchestration.asked[-1][1] == "b"


def test_interrupted_event_stream_is_resumed(orchestration: Orchestration, stack: Stack) -> None:
    orchestration.streams = [
        'retry: 10\n\nid: a\ndata: {"id": "a"}\n\n: nothing new\n\n',
        'retry: 10\n\nid: b\ndata: {"id": "b"}\n\n',
    ]
    assert list(islice(stack.watch("z"), 5)) == [None, {"id": "a"}, None, None, {"id": "b"}]
    assert orchestration.asked == [("text/event-stream", "z"), ("text/event-stream", "a")]


def test_refused_request_is_reported(orchestration: Orchestration, stack: Stack) -> None:
    orchestration.streams = [""]
    with pytest.raises(Refused):
        next(stack.watch())
