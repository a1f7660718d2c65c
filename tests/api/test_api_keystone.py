"""The real keystonemiddleware in front of the API, on an emulated identity service."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_support import FakeEngine
from falcon import testing

from running_engine import KEYSTONE_SETTINGS
from stoker.api.app import make_app
from stoker.api.auth import keystone
from stoker.base.clock import SystemClock
from stoker.base.config import load_config
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud

pytestmark = pytest.mark.slow


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock())) as running:
        yield running


def api(directory: Path, engine: FakeEngine, url: str, password: str) -> testing.TestClient:
    settings = directory / "heat.conf"
    settings.write_text(KEYSTONE_SETTINGS.format(url=url, password=password))
    application = make_app(load_config([], [str(settings)]), engine)
    return testing.TestClient(lambda environ, start_response: application(environ, start_response))


def test_a_real_token_makes_the_context(served, engine, tmp_path) -> None:
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    token = served.token("demo", "demo")
    described = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token}).json[
        "token"
    ]
    project = described["project"]["id"]
    forged = {"X-Auth-Token": token, "X-Roles": "admin", "X-User-Id": "root", "X-Region-Name": "RegionOne"}
    answer = client.simulate_get(f"/v1/{project}/stacks", headers=forged)
    assert answer.status_code == 200, answer.text
    context = engine.contexts[-1]
    assert (context.user_name, context.project_name, context.project_id) == ("demo", "demo", project)
    assert context.user_id == described["user"]["id"]
    assert set(context.roles) == {role["name"] for role in described["roles"]}
    assert (context.is_admin, context.token, context.region) == (False, token, "RegionOne")
    elsewhere = client.simulate_get("/v1/another/stacks", headers=forged)
    assert elsewhere.status_code == 403


def test_what_a_client_says_of_itself_does_not_get_through(served, tmp_path) -> None:
    settings = tmp_path / "heat.conf"
    settings.write_text(KEYSTONE_SETTINGS.format(url=served.url, password=served.cloud.password_of("heat")))
    passed: list[dict[str, Any]] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        passed.append(environ)
        start_response("204 No Content", [])
        return []

    checked = keystone(load_config([], [str(settings)]))(application)
    names = ("User-Id", "Roles", "Project-Name", "Domain-Id", "Service-User-Id", "Service-Roles", "Tenant-Name", "Role")
    forged = {f"X-{name}": "forged" for name in names} | {"X-Service-Identity-Status": "Confirmed"}
    for token in (served.token("demo", "demo"), "gAAAAABnonsense"):
        testing.TestClient(checked).simulate_get("/", headers={"X-Auth-Token": token, **forged})
    assert [environ["HTTP_X_IDENTITY_STATUS"] for environ in passed] == ["Confirmed", "Invalid"]
    assert not any("forged" in environ.values() for environ in passed)
    assert not any("HTTP_X_SERVICE_IDENTITY_STATUS" in environ for environ in passed)


def test_a_missing_or_wrong_token_is_refused(served, engine, tmp_path) -> None:
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    forged = {"X-Identity-Status": "Confirmed", "X-User-Id": "u", "X-Project-Id": "p", "X-Roles": "admin"}
    for headers in (forged, {**forged, "X-Auth-Token": "gAAAAABnonsense"}):
        answer = client.simulate_get("/v1/p/stacks", headers=headers)
        assert answer.status_code == 401
        assert answer.json["error"]["type"] == "HTTPUnauthorized"
        assert answer.headers["WWW-Authenticate"] == f'Keystone uri="{served.url}/identity/v3"'
    assert engine.calls == []
    assert client.simulate_get("/").status_code == 300

    told: list[tuple[str, str]] = []
    client.app(testing.create_environ("/v1/p/stacks"), lambda _status, headers, *_error: told.extend(headers))
    assert [name.lower() for name, _ in told].count("www-authenticate") == 1


def test_an_administrator_is_known(served, engine, tmp_path) -> None:
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    client.simulate_get("/v1/any/stacks", headers={"X-Auth-Token": served.token("admin", "admin")})
    assert engine.calls == []  # the new default rules keep even administrators in their project
    token = served.token("admin", "admin")
    answer = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
    project = answer.json["token"]["project"]["id"]
    assert client.simulate_get(f"/v1/{project}/services", headers={"X-Auth-Token": token}).status_code == 200
    assert engine.contexts[-1].is_admin


def test_an_identity_service_that_is_away_is_told_as_such(engine, tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed_again:
        port = closed_again.getsockname()[1]
    client = api(tmp_path, engine, f"http://127.0.0.1:{port}", "x")
    answer = client.simulate_get("/v1/p/stacks", headers={"X-Auth-Token": "gAAAAABnonsense"})
    assert answer.status_code == 503
    assert "identity service" in answer.json["error"]["message"]
    assert client.simulate_get("/healthcheck").status_code == 200
