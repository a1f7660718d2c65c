"""Callers who send a name and a password, on an emulated identity service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from falcon import testing

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.base.config import load_config
from stoker.processes.tokens import caller_check
from stoker_foundation.clock import SystemClock
from testing.harness import KEYSTONE_SETTINGS
from tests.api.api_support import FakeEngine

pytestmark = pytest.mark.slow

Make = Callable[[str], testing.TestClient]


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), passwords={"demo": "s3same"})) as running:
        yield running


@pytest.fixture
def project(served: ServedCloud) -> str:
    token = served.token("demo", "demo")
    reported = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token}).json
    return str(reported["token"]["project"]["id"])


@pytest.fixture
def make(served: ServedCloud, engine: FakeEngine, tmp_path: Path) -> Make:
    def make(more: str) -> testing.TestClient:
        settings = tmp_path / "heat.conf"
        settings.write_text(KEYSTONE_SETTINGS.format(url=served.url, password=served.cloud.password_of("heat")) + more)
        config = load_config([], [str(settings)])
        return testing.TestClient(make_app(config, engine, caller_check(config, SystemClock())))

    return make


STANDALONE = "\n[paste_deploy]\nflavor = standalone\n"
DEMO = {"X-Auth-User": "demo", "X-Auth-Key": "s3same"}


def test_a_token_is_issued_for_a_name_and_a_password(make: Make, engine: FakeEngine, project: str) -> None:
    client = make(STANDALONE)
    answer = client.simulate_get(f"/v1/{project}/stacks", headers=DEMO)
    assert answer.status_code == 200, answer.text
    context = engine.contexts[-1]
    assert (context.user_name, context.project_id, context.is_admin) == ("demo", project, False)
    assert context.token, "the engine acts with the token that the password was exchanged for"
    accept = {"Accept": "application/vnd.openstack.orchestration-v1"}
    assert client.simulate_get(f"/{project}/stacks", headers={**DEMO, **accept}).status_code == 200


def test_tokens_are_accepted_as_well(make: Make, served: ServedCloud, project: str) -> None:
    headers = {"X-Auth-Token": served.token("demo", "demo")}
    assert make(STANDALONE).simulate_get(f"/v1/{project}/stacks", headers=headers).status_code == 200


@pytest.mark.parametrize("wrong", [{"X-Auth-Key": "open"}, {"X-Auth-User": "nobody"}, {"X-Auth-User": ""}])
def test_unknown_credentials_are_refused(make: Make, engine: FakeEngine, project: str, wrong: dict[str, str]) -> None:
    answer = make(STANDALONE).simulate_get(f"/v1/{project}/stacks", headers={**DEMO, **wrong})
    assert answer.status_code == 401
    assert "s3same" not in answer.text
    assert engine.calls == []


def test_another_project_is_refused(make: Make, engine: FakeEngine) -> None:
    assert make(STANDALONE).simulate_get("/v1/another/stacks", headers=DEMO).status_code == 401
    assert engine.calls == []


def test_unavailable_identity_service_is_not_reported_as_wrong_password(
    make: Make, served: ServedCloud, project: str
) -> None:
    client = make(STANDALONE)
    fault = {"on": "POST /identity/v3/auth/tokens", "do": "fail", "status": 503}
    assert served.call("POST", "/control/faults", fault).status == 201
    answer = client.simulate_get(f"/v1/{project}/stacks", headers=DEMO)
    assert answer.status_code == 503
    assert answer.json["error"]["type"] == "HTTPServiceUnavailable"


def test_password_authentication_is_disabled_by_default(make: Make, project: str) -> None:
    assert make("").simulate_get(f"/v1/{project}/stacks", headers=DEMO).status_code == 401


def test_password_is_exchanged_once_for_project_requests(make: Make, served: ServedCloud, project: str) -> None:
    server = Server(make(STANDALONE).app, "127.0.0.1", 0)
    server.start()
    counting = {"on": "POST /identity/v3/auth/tokens", "match": {"name": "demo"}, "do": "delay", "seconds": 0}
    assert served.call("POST", "/control/faults", counting).status == 201
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("GET", f"/v1/{project}/stacks", headers=DEMO)
        assert connection.getresponse().status == 200
    finally:
        connection.close()
        server.stop()
    assert served.call("GET", "/control/faults").json["faults"][0]["hits"] == 1
