"""A token that was revoked after the API has validated and cached it: 401, wherever that is noticed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.processes.tokens import remembering_check
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, api_config

EMPTY = {"heat_template_version": "2021-04-16"}
NETWORK = {**EMPTY, "resources": {"net": {"type": "OS::Neutron::Net"}}}
SERVER = {
    **EMPTY,
    "resources": {"s": {"type": "OS::Nova::Server", "properties": {"image": "cirros", "flavor": "m1.tiny"}}},
}
HANDLE = {**EMPTY, "resources": {"h": {"type": "OS::Heat::WaitConditionHandle"}}}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ThreadedWorld]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        world = ThreadedWorld(tmp_path, served)
        yield world
        world.stop()


@pytest.fixture
def url(world: ThreadedWorld, tmp_path: Path) -> Iterator[str]:
    """The API, with the cache of tokens that processes have."""
    config = api_config(tmp_path, world.served)
    server = Server(make_app(config, world.client(), remembering_check(config, SystemClock())), "127.0.0.1", 0)
    server.start()
    yield f"{server.url}/v1/{world.world.context.project_id}"
    server.stop()


def post(url: str, token: str, path: str, template: Any) -> requests.Response:
    body = {"stack_name": "web", "template": template}
    return requests.post(f"{url}{path}", json=body, headers={"X-Auth-Token": token}, timeout=60)


def revoked_token(world: ThreadedWorld, url: str) -> str:
    """A token that the API has validated, and that Keystone does not accept any more."""
    token = world.served.token("demo", "demo")
    assert requests.get(f"{url}/stacks", headers={"X-Auth-Token": token}, timeout=60).status_code == 200
    revoked = world.served.call(
        "DELETE",
        "/identity/v3/auth/tokens",
        token=world.served.token("admin", "admin"),
        headers={"X-Subject-Token": token},
    )
    assert revoked.status == 204
    world.served.forget_tokens()
    return token


@pytest.mark.parametrize("path", ["/stacks", "/stacks/preview"])
@pytest.mark.parametrize("template", [EMPTY, NETWORK, SERVER, HANDLE])
def test_a_request_with_a_revoked_token_is_unauthorized(
    world: ThreadedWorld, url: str, path: str, template: Any
) -> None:
    token = revoked_token(world, url)
    answer = post(url, token, path, template)
    if template in (EMPTY, HANDLE) and path == "/stacks/preview":
        assert answer.status_code == 200  # no service was asked, so that nobody knows yet
        return
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "HTTPUnauthorized"), answer.text
    renewed = {"X-Auth-Token": world.served.token("demo", "demo")}
    assert requests.get(f"{url}/stacks", headers=renewed, timeout=60).json() == {"stacks": []}


ZONES = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {"v": {"Type": "AWS::EC2::Volume", "Properties": {"Size": "1", "AvailabilityZone": {"Fn::Select": [
        0, {"Fn::GetAZs": ""}
    ]}}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/validate", {"template": {**EMPTY, "resources": {"p": {"type": "OS::Neutron::QoSPolicy"}}}}),
        ("POST", "/validate", {"template": EMPTY, "files_container": "templates"}),
        ("POST", "/stacks/preview", {"stack_name": "other", "template": ZONES}),
        ("PUT", "{stack}/preview", {"template": SERVER}),
        ("PUT", "{stack}", {"template": SERVER}),
        ("PATCH", "{stack}", {"template": SERVER}),
    ],
)
def test_requests_about_a_stack_are_unauthorized_as_well(
    world: ThreadedWorld, url: str, method: str, path: str, body: Any
) -> None:
    made = post(url, world.served.token("demo", "demo"), "/stacks", EMPTY).json()["stack"]
    token = revoked_token(world, url)
    place = url + path.format(stack=f"/stacks/web/{made['id']}")
    answer = requests.request(method, place, json=body, headers={"X-Auth-Token": token}, timeout=60)
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "HTTPUnauthorized"), answer.text


def test_a_service_that_rejects_valid_tokens_does_not_make_clients_get_new_ones(world: ThreadedWorld, url: str) -> None:
    fault = Fault(on="* /compute/*", do="fail", status=401)
    world.served.do(lambda: world.served.cloud.faults.add(fault))
    answer = post(url, world.served.token("demo", "demo"), "/stacks", SERVER)
    assert answer.status_code in (400, 403), answer.text
    assert "although Keystone accepts it" in answer.text
