"""The OpenAPI description of the API, and the API checked against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from falcon import testing
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.api.v1 import openapi
from stoker.api.v1.routes import ROUTES
from stoker.base.config import load_config
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest
from tests.api.api_support import PROJECT, check_tokens, scripted_engine

EXAMPLES = 10
"""Requests for each operation; the same ones in every run."""

DOCUMENT = openapi.document("http://stoker.test")


def test_document_is_served_without_a_token(client: testing.TestClient) -> None:
    answer = client.simulate_get("/openapi.json")
    assert answer.status_code == 200
    assert answer.json == openapi.document("http://falconframework.org")


def test_document_describes_every_route() -> None:
    described = {
        (path.removeprefix("/v1/{project_id}"), method.upper())
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
        if method != "parameters"
    }
    assert described == {(path, method) for path, methods in ROUTES.items() for method in methods}


def test_every_operation_has_a_name_of_its_own_and_all_its_variables() -> None:
    names: list[str] = []
    for path, methods in DOCUMENT["paths"].items():
        assert [item["name"] for item in methods["parameters"]] == re.findall(r"\{(\w+)\}", path)
        names += [operation["operationId"] for method, operation in methods.items() if method != "parameters"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_every_field_says_what_it_accepts(path: str) -> None:
    for method, operation in DOCUMENT["paths"][path].items():
        if method == "parameters":
            continue
        assert operation["summary"].endswith(".")
        for parameter in operation.get("parameters", []):
            assert parameter["schema"], f"{method} {path}: {parameter['name']}"
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, schema in content.get("schema", {}).get("properties", {}).items():
            assert schema and {} not in schema.get("anyOf", []), f"{method} {path}: {name}"


# -- the API checked against its description---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The API over an engine that answers everything."""
    server = Server(make_app(load_config([], []), scripted_engine(), check_tokens), "127.0.0.1", 0)
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="module")
def client_session() -> Iterator[requests.Session]:
    """A client that keeps its connections, and does not read the environment again for each request."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


bounded = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
@SCHEMA.parametrize()
@bounded
def test_no_request_breaks_the_api(case: Any, url: str, client_session: requests.Session) -> None:
    case.path_parameters["project_id"] = PROJECT
    send(case, url, "admin-token", client_session)


def send(case: Any, url: str, token: str, session: requests.Session) -> None:
    response = case.call(base_url=url, session=session, headers={"X-Auth-Token": token}, allow_redirects=False)
    case.validate_response(response, checks=[not_a_server_error])
    assert response.status_code < 500, response.text
    assert "Traceback" not in response.text


@dataclass(frozen=True)
class Whole:
    """A whole Stoker: its API, a member's token, that member's project, and a stack of it."""

    url: str
    token: str
    project_id: str
    stack_id: str


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    directory = tmp_path_factory.mktemp("whole")
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        running = ThreadedWorld(directory, served)
        server = serve_rest(running, directory)
        token, project_id = served.token("demo", "demo"), project_of(served)
        stacks = f"{server.url}/v1/{project_id}/stacks"
        body: dict[str, Any] = {"stack_name": "web", "template": TEMPLATE}
        made = requests.post(stacks, json=body, headers={"X-Auth-Token": token}, timeout=60).json()["stack"]
        running.settle(made["id"])
        yield Whole(server.url, token, project_id, made["id"])
        server.stop()
        running.stop()


def project_of(served: ServedCloud) -> str:
    headers = {"X-Auth-Token": served.token("demo", "demo"), "X-Subject-Token": served.token("demo", "demo")}
    shown = requests.get(f"{served.url}/identity/v3/auth/tokens", headers=headers, timeout=60).json()
    return str(shown["token"]["project"]["id"])


TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {"word": {"type": "OS::Heat::RandomString"}},
    "outputs": {"word": {"value": {"get_attr": ["word", "value"]}}},
}


@pytest.mark.slow
@SCHEMA.exclude(method="DELETE").parametrize()
@bounded
def test_no_request_breaks_a_whole_stoker(case: Any, whole: Whole, client_session: requests.Session) -> None:
    known = {"project_id": whole.project_id, "stack_name": "web", "stack_id": whole.stack_id, "resource_name": "word"}
    case.path_parameters.update({name: value for name, value in known.items() if name in case.path_parameters})
    send(case, whole.url, whole.token, client_session)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "\x7f"},
        {"Content-Type": "multipart/form-data"},
        {"Accept": "\xff"},
        {"Accept": "application/vnd.openstack.orchestration-v99999999999.0"},
        {"Content-Encoding": "gzip"},
        {"X-Forwarded-Host": "a b\tc"},
        {"Origin": "null"},
        {"X-Openstack-Request-Id": "x" * 5000},
    ],
)
def test_odd_headers_break_nothing(url: str, headers: dict[str, str]) -> None:
    target = f"{url}/v1/{PROJECT}/stacks"
    given = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = requests.post(target, data=b"{}", headers={"X-Auth-Token": "admin-token", **given}, timeout=10)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text
