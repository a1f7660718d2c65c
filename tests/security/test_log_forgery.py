"""Log lines made by strangers."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from aiohttp import web
from oslo_log import formatters

from stoker.base.context import RequestContext
from stoker.base.logging import READABLE_FORMAT, protect, request_scope
from stoker.cloud.settings import CloudSettings
from stoker.cloud.transport import Request, Transport, without_names
from stoker_foundation.clock import SystemClock
from stoker_foundation.log_lines import redact
from stoker_foundation.processor_time import processor_time

FORGED = "x\n2026-01-01 00:00:00.000 INFO stoker: forged\r\x1b[2J\x1b]0;t\x07\x9b31m\u2028y\x85z\x00"


@pytest.fixture(params=["readable", "plain", "json"])
def lines(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    if request.param == "readable":
        handler.setFormatter(logging.Formatter(READABLE_FORMAT))
    elif request.param == "json":
        handler.setFormatter(formatters.JSONFormatter())
    protect(handler)
    logger = logging.getLogger("stoker.tests.forgery")
    logger.addHandler(handler)
    try:
        yield written
    finally:
        logger.removeHandler(handler)


def test_messages_arguments_names_and_tracebacks(lines: io.StringIO) -> None:
    """A path, name or error text with line ends and terminal codes forges log lines or steers a terminal."""
    logger = logging.getLogger("stoker.tests.forgery")
    stranger = RequestContext(request_id=f"req-{FORGED}", user_id=FORGED, user_name=FORGED, project_id=FORGED)
    with request_scope(stranger):
        logger.warning("GET %s %s", FORGED, {"a": FORGED})
        logger.warning(FORGED)
        try:
            raise ValueError(FORGED)
        except ValueError:
            logger.exception("It failed: %s", FORGED)
    text = lines.getvalue()
    assert not {char for char in text if (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160}
    assert not any(line.startswith("2026-01-01") for line in text.splitlines())
    assert "forged" in text


def test_json_stays_json() -> None:
    """The escapes must not break the lines of use_json."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatters.JSONFormatter())
    protect(handler)
    handler.handle(logging.LogRecord("stoker", logging.INFO, "", 1, "said %s", (FORGED,), None))
    (line,) = written.getvalue().splitlines()
    assert json.loads(line)["message"].startswith("said x\\n2026-01-01")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/compute/v2.1/servers", "/compute/v2.1/servers"),
        ("/compute/v2.1/os-keypairs/sesame-open-up", "/compute/v2.1/os-keypairs/…"),
        ("/v1/AUTH_p/sesame/open", "/v1/AUTH_p/…"),
        ("/identity/v3/users/7/sesame", "/identity/v3/users/…"),
        ("/sesame/open", "/…"),
    ],
)
def test_paths_of_the_cloud(path: str, shown: str) -> None:
    """A debug log shows a hidden value that became part of a path of the cloud's APIs."""
    assert without_names(path) == shown
    assert "sesame" not in without_names(path)


async def test_a_debug_log_of_a_real_exchange(caplog: pytest.LogCaptureFixture) -> None:
    """A debug log shows a hidden value in the path or body of a request to the cloud."""

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"name": "sesame-inside"})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v2.1/os-keypairs/sesame-open"
    transport = Transport(CloudSettings(auth_url=url), SystemClock())
    try:
        with caplog.at_level(logging.DEBUG):
            sent = Request("compute", "PUT", url, {"X-Name": "sesame"}, {"q": "sesame"}, '{"name": "sesame"}')
            assert (await transport.send(sent)).status == 200
    finally:
        await transport.close()
        await runner.cleanup()
    assert "PUT /v2.1/os-keypairs/…: 200" in caplog.text
    assert "sesame" not in caplog.text


@pytest.mark.parametrize(
    "sent",
    [
        "secret" * 10_000,
        "secret:" * 9_000,
        "token-" * 10_000,
        "secret" + " " * 60_000,
        "a-" * 30_000 + "://",
        "a." * 30_000 + "://",
        "x://a:" * 10_000,
    ],
)
def test_lines_are_redacted_in_linear_time(sent: str) -> None:
    """A path of 64 KB is made so that searching the log line for secrets takes minutes."""
    began = processor_time()
    redact(f"req-1 GET /v1/p/{sent} -> 404 in 1 ms")
    assert processor_time() - began < 2.0


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("password=hunter2 x", "password=*** x"),
        ('"admin_pass": "hunter2"', '"admin_pass": "***"'),
        ("my-secret-key: hunter2", "my-secret-key: ***"),
        ("X-Auth-Token: Bearer hunter2", "X-Auth-Token: Bearer ***"),
        ("see amqp+ssl://user:hunter2@host/", "see amqp+ssl://user:***@host/"),
        ("secretary: hunter2", "secretary: ***"),
        ("tokens: 5 passwords", "tokens: 5 passwords"),
        ("http://host:80/x", "http://host:80/x"),
    ],
)
def test_secrets_that_are_found(line: str, shown: str) -> None:
    """A secret in a log line."""
    assert redact(line) == shown
