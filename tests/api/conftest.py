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
    from stoker.api.server import Server
from openstack_emulator.testing import ServedCloud
from stoker.base.config import load_config
from testing.project_objects import Objects
from tests.api.api_support import PROJECT, FakeEngine, check_tokens, scripted_engine
from tests.api.rest_stacks import Stacks

Request = Callable[..., testing.Result]


@pytest.fixture
def objects(served: ServedCloud) -> Objects:
    """Makes objects of the project `demo` that no stack has."""
    return Objects(served)


@pytest.fixture
def config() -> cfg.ConfigOpts:
    return load_config([], [])


@pytest.fixture(scope="module")
def shared() -> tuple[FakeEngine, testing.TestClient]:
    """An engine, and an API over it with the default configuration: making one takes longer than most requests."""
    engine = scripted_engine()
    return engine, testing.TestClient(make_app(load_config([], []), engine, check_tokens))


@pytest.fixture
def engine(shared: tuple[FakeEngine, testing.TestClient]) -> FakeEngine:
    """The engine, as if it had not been asked anything yet."""
    vars(shared[0]).update(vars(scripted_engine()))
    return shared[0]


@pytest.fixture
def client(
    request: pytest.FixtureRequest, shared: tuple[FakeEngine, testing.TestClient], engine: FakeEngine
) -> testing.TestClient:
    """The API; one of its own for a test that uses `config`, which it may change."""
    if "config" in request.fixturenames:
        return testing.TestClient(make_app(request.getfixturevalue("config"), engine, check_tokens))
    return shared[1]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The API over an engine that answers everything."""
    server = Server(make_app(load_config([], []), scripted_engine(), check_tokens), "127.0.0.1", 0)
    server.start()
    yield server.url
    server.stop()


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
