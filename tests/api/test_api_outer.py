"""The layers around the API that all OpenStack services share, over real HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from oslo_config import cfg

from stoker.api.app import make_app
from stoker.api.server import Server
from tests.api.api_support import PROJECT, FakeEngine, check_tokens

ORIGIN = "https://dashboard.example.com"
PREFLIGHT = {"Origin": ORIGIN, "Access-Control-Request-Method": "PATCH"}


@pytest.fixture
def serve(config: cfg.ConfigOpts, engine: FakeEngine) -> Iterator[Callable[[], str]]:
    """Serves the API with the configuration as it is then, and gives its URL."""
    servers: list[Server] = []

    def start() -> str:
        servers.append(Server(make_app(config, engine, check_tokens), "127.0.0.1", 0))
        servers[-1].start()
        return servers[-1].url

    yield start
    for server in servers:
        server.stop()


def test_health_check_reports_shutdown(serve: Callable[[], str], config: cfg.ConfigOpts, tmp_path: Path) -> None:
    config.set_override("backends", ["disable_by_file"], "healthcheck")
    config.set_override("disable_by_file_path", str(tmp_path / "down"), "healthcheck")
    url = f"{serve()}/healthcheck"
    well = requests.get(url, timeout=10)
    assert (well.status_code, well.text) == (200, "OK")
    (tmp_path / "down").touch()
    assert requests.get(url, timeout=10).status_code == 503


def test_cross_origin_requests_are_refused_by_default(serve: Callable[[], str]) -> None:
    answer = requests.options(f"{serve()}/v1/{PROJECT}/stacks", headers=PREFLIGHT, timeout=10)
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_configured_origins_are_allowed(serve: Callable[[], str], config: cfg.ConfigOpts) -> None:
    config.set_override("allowed_origin", [ORIGIN], "cors")
    url = f"{serve()}/v1/{PROJECT}/stacks"

    asked = requests.options(url, headers=PREFLIGHT | {"Access-Control-Request-Headers": "X-Auth-Token"}, timeout=10)
    assert asked.status_code == 200
    assert asked.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert asked.headers["Access-Control-Allow-Methods"] == "PATCH"

    token = {"X-Auth-Token": "member-token"}
    answer = requests.get(url, headers=token | {"Origin": ORIGIN}, timeout=10)
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "X-OpenStack-Request-ID" in answer.headers["Access-Control-Expose-Headers"]

    stranger = requests.get(url, headers=token | {"Origin": "https://evil.example"}, timeout=10)
    assert "Access-Control-Allow-Origin" not in stranger.headers
