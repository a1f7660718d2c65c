"""The API checked against its description: requests that it allows, and some that it does not, break nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.schemas import BaseSchema
from urllib3 import HTTPConnectionPool, connection_from_url

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.v1 import openapi
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest
from tests.api.api_support import PROJECT

pytestmark = pytest.mark.slow

EXAMPLES = 5
"""Random requests for each operation, the same ones in every run; some thirty with values at limits come on top."""


@pytest.fixture(scope="module")
def alone(url: str) -> Iterator[HTTPConnectionPool]:
    """A connection to the API over an engine that answers everything."""
    with connection_from_url(url) as connection:
        yield connection


@pytest.fixture(scope="module")
def described() -> BaseSchema:
    """The description of the API."""
    return schemathesis.openapi.from_dict(openapi.document("http://stoker.test"))


DESCRIPTION = schemathesis.pytest.from_fixture("described")
"""Makes requests when a test runs. Making those of all operations takes seconds, and all workers collect all tests."""


bounded = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def send(case: Any, connection: HTTPConnectionPool, token: str) -> int:
    """Send a request, and return the status of the answer, which does not show an error of the server.

    Sessions, which combine their own settings with each request, would take longer than the API.
    """
    url = f"http://{connection.host}:{connection.port}"
    request: Any = requests.Request(**case.as_transport_kwargs(url, {"X-Auth-Token": token})).prepare()
    response = connection.urlopen(
        request.method, request.path_url, request.body, request.headers, redirect=False, retries=False
    )
    assert response.status < 500, response.data
    assert b"Traceback" not in response.data
    return response.status


@dataclass(frozen=True)
class Whole:
    """A whole Stoker: a connection to its API, a member's token, that member's project, and a stack of it."""

    connection: HTTPConnectionPool
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
        with connection_from_url(server.url) as connection:
            yield Whole(connection, token, project_id, made["id"])
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


@DESCRIPTION.parametrize()
@bounded
def test_random_openapi_requests_cause_no_internal_error(case: Any, alone: HTTPConnectionPool, whole: Whole) -> None:
    """Each request goes to the API alone, and if that does not refuse it, to a whole Stoker.

    Requests that the API refuses, which are two of three, do not reach an engine. A whole Stoker is not asked to delete
    anything, and gets the names of what it has.
    """
    case.path_parameters["project_id"] = PROJECT
    refused = send(case, alone, "admin-token") >= 400
    if not refused and case.method != "DELETE":
        known = {
            "project_id": whole.project_id,
            "stack_name": "web",
            "stack_id": whole.stack_id,
            "resource_name": "word",
        }
        case.path_parameters.update({name: value for name, value in known.items() if name in case.path_parameters})
        send(case, whole.connection, whole.token)
