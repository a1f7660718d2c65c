"""The real keystonemiddleware in front of the API, on an emulated identity service."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from falcon import testing

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.auth import keystone
from stoker.base.config import load_config
from stoker.processes.tokens import remembering_check
from stoker_foundation.clock import ManualClock, SystemClock
from stoker_foundation.processor_time import processor_time
from testing.harness import KEYSTONE_SETTINGS
from tests.api.api_support import FakeEngine

pytestmark = pytest.mark.slow


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    here = {"orchestration": "http://127.0.0.1/v1/%(project_id)s"}
    with ServedCloud(new_cloud(clock=SystemClock(), extra_endpoints=here)) as running:
        yield running


def api(directory: Path, engine: FakeEngine, url: str, password: str, *more: Path) -> testing.TestClient:
    settings = directory / "heat.conf"
    settings.write_text(KEYSTONE_SETTINGS.format(url=url, password=password))
    application = make_app(load_config([], [str(settings), *map(str, more)]), engine)
    return testing.TestClient(lambda environ, start_response: application(environ, start_response))


def test_valid_token_creates_the_request_context(served: ServedCloud, engine: FakeEngine, tmp_path: Path) -> None:
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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_tokens_are_validated_without_memcached(served: ServedCloud, engine: FakeEngine, tmp_path: Path) -> None:
    settings = tmp_path / "memcached.conf"
    settings.write_text("[keystone_authtoken]\nmemcached_servers = 127.0.0.1:1\n")
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"), settings)
    assert client.simulate_get("/v1/p/stacks", headers={"X-Auth-Token": "wrong"}).status_code == 401
    token = served.token("demo", "demo")
    assert client.simulate_get("/v1/another/stacks", headers={"X-Auth-Token": token}).status_code == 403
    del client
    gc.collect()  # python-memcached does not close the sockets of refused connections: their warnings belong here


def test_identity_headers_of_clients_are_ignored(served: ServedCloud, tmp_path: Path) -> None:
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
    accepted = served.token("demo", "demo")
    for token in (accepted, accepted, "gAAAAABnonsense"):
        testing.TestClient(checked).simulate_get("/", headers={"X-Auth-Token": token, **forged})
    assert [environ["HTTP_X_IDENTITY_STATUS"] for environ in passed] == ["Confirmed", "Confirmed", "Invalid"]
    first, second = ({key: it[key] for key in it if key.startswith(("HTTP_X_", "keystone."))} for it in passed[:2])
    assert first == second
    assert not any("forged" in environ.values() for environ in passed)
    assert not any("HTTP_X_SERVICE_IDENTITY_STATUS" in environ for environ in passed)


@pytest.mark.parametrize(
    "token",
    ["t" * 9000, "t" * 60000, "t\xe4g", "a b\x7f", "\x80" * 300, "a\tb", "\x01"],
    ids=["long", "longer", "latin-1", "DEL", "C1", "tab", "C0"],
)
@pytest.mark.parametrize("header", ["X-Auth-Token", "X-Storage-Token", "X-Service-Token"])
def test_a_malformed_token_is_refused_without_a_request(
    served: ServedCloud, engine: FakeEngine, tmp_path: Path, header: str, token: str
) -> None:
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    headers = {"X-Auth-Token": served.token("demo", "demo"), header: token}
    answer = client.simulate_get("/v1/p/stacks", headers=headers)
    assert (answer.status_code, answer.json["error"]["type"]) == (401, "HTTPUnauthorized")
    assert engine.calls == []


def with_access_rules(served: ServedCloud, rules: list[dict[str, str]]) -> tuple[str, str]:
    """The token of an application credential with these access rules, and its project."""
    token = served.token("demo", "demo")
    details = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token}).json[
        "token"
    ]
    path = f"/identity/v3/users/{details['user']['id']}/application_credentials"
    body = {"application_credential": {"name": "limited", "access_rules": rules}}
    made = served.call("POST", path, body, token).json["application_credential"]
    method = {"id": made["id"], "secret": made["secret"]}
    request_body = {"auth": {"identity": {"methods": ["application_credential"], "application_credential": method}}}
    return served.call("POST", "/identity/v3/auth/tokens", request_body).headers["x-subject-token"], details["project"][
        "id"
    ]


def test_application_credential_access_rules_are_enforced(
    served: ServedCloud, engine: FakeEngine, tmp_path: Path
) -> None:
    rule = {"service": "orchestration", "method": "GET", "path": "/v1/{project_id}/stacks"}
    elsewhere = {"service": "compute", "method": "GET", "path": "/v1/{project_id}/build_info"}
    token, project = with_access_rules(served, [rule, elsewhere])
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    stacks, other = f"/v1/{project}/stacks", f"/v1/{project}/build_info"
    assert client.simulate_get(stacks, headers={"X-Auth-Token": token}).status_code == 200
    assert client.simulate_post(stacks, headers={"X-Auth-Token": token}).status_code == 401
    assert client.simulate_get(other, headers={"X-Auth-Token": token}).status_code == 401
    as_service = {"X-Auth-Token": token, "X-Service-Token": served.token("demo", "demo")}
    assert client.simulate_get(other, headers=as_service).status_code == 401


@pytest.mark.parametrize(
    ("cache_time", "checks", "accepted_until"),
    [(300, [1, 1, 1], 300.5), (-1, [1, 2, 3], 0.0)],
    ids=["cached", "not cached"],
)
def test_a_revoked_token_is_accepted_for_a_second_longer_than_it_is_cached(
    served: ServedCloud, engine: FakeEngine, tmp_path: Path, cache_time: int, checks: list[int], accepted_until: float
) -> None:
    settings, clock = tmp_path / "heat.conf", ManualClock(SystemClock().now())
    written = KEYSTONE_SETTINGS.format(url=served.url, password=served.cloud.password_of("heat"))
    settings.write_text(f"{written}\ntoken_cache_time = {cache_time}\n")
    config = load_config([], [str(settings)])
    client = testing.TestClient(make_app(config, engine, remembering_check(config, clock)))
    token = served.token("demo", "demo")
    about = {"X-Subject-Token": token}
    project = served.call("GET", "/identity/v3/auth/tokens", token=token, headers=about).json["token"]["project"]["id"]
    counting = {"on": "GET /identity/v3/auth/tokens", "do": "delay", "seconds": 0}
    assert served.call("POST", "/control/faults", counting).status == 201

    def status() -> int:
        return client.simulate_get(f"/v1/{project}/stacks", headers={"X-Auth-Token": token}).status_code

    for expected in checks:
        assert status() == 200
        assert int(served.call("GET", "/control/faults").json["faults"][0]["hits"]) == expected
    revoked_at = clock.now()
    assert served.call("DELETE", "/identity/v3/auth/tokens", token=token, headers=about).status == 204
    for age in (0.0, 1.5, 299.5, 300.4, 300.6, 302.0):
        clock.advance(revoked_at + age - clock.now())
        assert status() == (200 if age < accepted_until else 401), age


def test_refused_token_is_cached_for_some_seconds(served: ServedCloud, engine: FakeEngine, tmp_path: Path) -> None:
    settings, clock = tmp_path / "heat.conf", ManualClock()
    settings.write_text(KEYSTONE_SETTINGS.format(url=served.url, password=served.cloud.password_of("heat")))
    config = load_config([], [str(settings)])
    client = testing.TestClient(make_app(config, engine, keystone(config, clock)))

    counting = {"on": "GET /identity/v3/auth/tokens", "do": "delay", "seconds": 0}
    assert served.call("POST", "/control/faults", counting).status == 201

    def checks(*tokens: str) -> int:
        """How many tokens the identity service has been asked for, after these have been refused."""
        for token in tokens:
            assert client.simulate_get("/v1/p/stacks", headers={"X-Auth-Token": token}).status_code == 401
        return int(served.call("GET", "/control/faults").json["faults"][0]["hits"])

    assert checks("wrong") == 1
    assert checks(*["wrong"] * 5) == 1
    assert checks("another") == 2
    clock.advance(11)
    assert checks("wrong", "wrong") == 3


@pytest.mark.parametrize("wild", ["**", "*", "{name}"])
def test_access_rules_are_matched_in_linear_time(
    served: ServedCloud, engine: FakeEngine, tmp_path: Path, wild: str
) -> None:
    rule = {"service": "orchestration", "method": "GET", "path": "/v1/**" + f"a{wild}" * 30 + "c"}
    token, project = with_access_rules(served, [rule])
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    began = processor_time()
    answer = client.simulate_get(f"/v1/{project}/stacks/" + "a" * 4_000, headers={"X-Auth-Token": token})
    assert (answer.status_code, engine.calls) == (401, [])
    assert processor_time() - began < 2.0


def test_a_missing_or_wrong_token_is_refused(served: ServedCloud, engine: FakeEngine, tmp_path: Path) -> None:
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    forged = {"X-Identity-Status": "Confirmed", "X-User-Id": "u", "X-Project-Id": "p", "X-Roles": "admin"}
    for headers in (forged, *({**forged, "X-Auth-Token": token} for token in ("gAAAAABnonsense", "", " "))):
        answer = client.simulate_get("/v1/p/stacks", headers=headers)
        assert answer.status_code == 401
        assert answer.json["error"]["type"] == "HTTPUnauthorized"
        assert answer.headers["WWW-Authenticate"] == f'Keystone uri="{served.url}/identity/v3"'
    assert engine.calls == []
    assert client.simulate_get("/").status_code == 300

    answers: list[tuple[str, str]] = []

    def start_response(_status: str, headers: list[tuple[str, str]], *_error: object) -> Callable[[bytes], object]:
        answers.extend(headers)
        return lambda body: None

    client.app(testing.create_environ("/v1/p/stacks"), start_response)
    assert [name.lower() for name, _ in answers].count("www-authenticate") == 1


def test_administrator_role_is_recognized(served: ServedCloud, engine: FakeEngine, tmp_path: Path) -> None:
    client = api(tmp_path, engine, served.url, served.cloud.password_of("heat"))
    client.simulate_get("/v1/any/stacks", headers={"X-Auth-Token": served.token("admin", "admin")})
    assert engine.calls == []  # the new default rules keep even administrators in their project
    token = served.token("admin", "admin")
    answer = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
    project = answer.json["token"]["project"]["id"]
    assert client.simulate_get(f"/v1/{project}/services", headers={"X-Auth-Token": token}).status_code == 200
    assert engine.contexts[-1].is_admin


def test_unavailable_identity_service_is_reported(engine: FakeEngine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed_again:
        port = closed_again.getsockname()[1]
    client = api(tmp_path, engine, f"http://127.0.0.1:{port}", "x")
    answer = client.simulate_get("/v1/p/stacks", headers={"X-Auth-Token": "gAAAAABnonsense"})
    assert answer.status_code == 503
    assert "identity service" in answer.json["error"]["message"]
    assert client.simulate_get("/healthcheck").status_code == 200
