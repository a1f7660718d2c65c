from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from falcon import testing
from oslo_config import cfg

with warnings.catch_warnings():  # webob, which keystonemiddleware is built on, imports the deprecated module cgi
    warnings.simplefilter("ignore", DeprecationWarning)
    from stoker.api.app import make_app
from openstack_emulator.testing import ServedCloud
from stoker.base.config import load_config
from tests.api.api_support import PROJECT, FakeEngine, check_tokens, scripted_engine
from tests.api.moving import Stacks

Request = Callable[..., testing.Result]


@pytest.fixture
def config() -> cfg.ConfigOpts:
    return load_config([], [])


@pytest.fixture
def engine() -> FakeEngine:
    return scripted_engine()


@pytest.fixture
def client(config: cfg.ConfigOpts, engine: FakeEngine) -> testing.TestClient:
    return testing.TestClient(make_app(config, engine, check_tokens))


@pytest.fixture
def request_as(client: testing.TestClient) -> Request:
    """`request_as(method, path below the project, token="member-token", **as falcon's simulate_request)`."""

    def send(method: str, path: str, token: str = "member-token", **options: Any) -> testing.Result:
        headers = {"X-Auth-Token": token, **options.pop("headers", {})}
        return client.simulate_request(method, f"/v1/{PROJECT}{path}", headers=headers, **options)

    return send


@pytest.fixture
def stacks(tmp_path: Path, served: ServedCloud) -> Iterator[Stacks]:
    """Stacks of an engine of the test, in its emulated cloud `served`."""
    stacks = Stacks(tmp_path, served)
    yield stacks
    stacks.stop()
