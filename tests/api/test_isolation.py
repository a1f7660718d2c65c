"""No caller reads, lists, guesses or signals what is another's: all routes over a whole Stoker with real tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest
from testing.servers import free_port
from tests.api.api_support import STACK_ID
from tests.api.test_api_routes import CASES, IDS

pytestmark = pytest.mark.slow

MARK = "nobody-else-may-see-this"
HANDLE = {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": "HEAT_SIGNAL"}}
TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "description": MARK,
    "resources": {
        "server": HANDLE,
        "second": HANDLE,
        "value": {"type": "OS::Heat::Value", "properties": {"value": MARK}},
    },
    "outputs": {"address": {"value": MARK}, "key": {"value": {"get_attr": ["server", "signal"]}}},
}
OF_ONE_STACK = [case for case in CASES if case[1].startswith("/stacks/web")]
OF_ONE_STACK_IDS = [name for case, name in zip(CASES, IDS, strict=True) if case in OF_ONE_STACK]


@dataclass(frozen=True)
class Caller:
    """A token, and the project that it is for."""

    token: str
    project_id: str


@dataclass(frozen=True)
class Scene:
    """The API, the owner's stack, and those who are not its owner. `user` is the stack user of its resource server."""

    url: str
    stack_id: str
    owner: Caller
    stranger: Caller
    user: Caller
    administrator: Caller

    def ask(self, caller: Caller, method: str, path: str, project_id: str, body: Any = None) -> requests.Response:
        url = f"{self.url}/v1/{project_id}{path.replace(STACK_ID, self.stack_id)}"
        headers = {"X-Auth-Token": caller.token}
        return requests.request(method, url, json=body, headers=headers, timeout=60, allow_redirects=False)


def log_in(url: str, user: dict[str, Any], project: dict[str, Any]) -> Caller:
    identity = {"methods": ["password"], "password": {"user": user}}
    body: dict[str, Any] = {"auth": {"identity": identity, "scope": {"project": project}}}
    answer = requests.post(f"{url}/identity/v3/auth/tokens", json=body, timeout=60)
    answer.raise_for_status()
    return Caller(answer.headers["X-Subject-Token"], answer.json()["token"]["project"]["id"])


def make_stranger(served: ServedCloud) -> Caller:
    """A member of another project."""
    headers = {"X-Auth-Token": served.token("admin", "admin")}

    def call(method: str, path: str, body: Any = None) -> Any:
        answer = requests.request(method, f"{served.url}/identity/v3{path}", json=body, headers=headers, timeout=60)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    project = call("POST", "/projects", {"project": {"name": "elsewhere", "domain_id": "default"}})["project"]["id"]
    request_body = {"name": "mallory", "password": "secret", "domain_id": "default"}
    user = call("POST", "/users", {"user": request_body})["user"]["id"]
    (role,) = [item["id"] for item in call("GET", "/roles")["roles"] if item["name"] == "member"]
    call("PUT", f"/projects/{project}/users/{user}/roles/{role}")
    return log_in(served.url, {"id": user, "password": "secret"}, {"id": project})


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    directory, port = tmp_path_factory.mktemp("scene"), free_port()
    endpoints = {"orchestration": f"http://127.0.0.1:{port}/v1/%(project_id)s"}
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=endpoints)) as served:
        running = ThreadedWorld(directory, served, EngineSettings(enable_stack_abandon=True))
        server = serve_rest(running, directory, port)
        demo = {"name": "demo", "domain": {"id": "default"}}
        owner = log_in(served.url, {**demo, "password": served.cloud.password_of("demo")}, demo)
        headers = {"X-Auth-Token": owner.token}
        stacks = f"{server.url}/v1/{owner.project_id}/stacks"
        body: dict[str, Any] = {"stack_name": "web", "template": TEMPLATE}
        made = requests.post(stacks, json=body, headers=headers, timeout=60).json()["stack"]["id"]
        running.settle(made)
        shown = requests.get(f"{stacks}/web/{made}", headers=headers, timeout=60).json()["stack"]
        assert shown["stack_status"] == "CREATE_COMPLETE", shown["stack_status_reason"]
        key = json.loads({item["output_key"]: item["output_value"] for item in shown["outputs"]}["key"])
        user = log_in(served.url, {"id": key["user_id"], "password": key["password"]}, {"id": key["project_id"]})
        admin = {"name": "admin", "domain": {"id": "default"}}
        administrator = log_in(served.url, {**admin, "password": served.cloud.password_of("admin")}, admin)
        yield Scene(server.url, made, owner, make_stranger(served), user, administrator)
        server.stop()
        running.stop()


def reveals(scene: Scene, answer: requests.Response) -> bool:
    """Whether an answer tells more than the request did."""
    reported = answer.text + json.dumps(dict(answer.headers))
    return MARK in reported or scene.owner.project_id in answer.headers.get("Location", "")


@pytest.mark.parametrize("by_id", [False, True], ids=["by name", "by id"])
@pytest.mark.parametrize(("method", "path", "body", "status", "call"), OF_ONE_STACK, ids=OF_ONE_STACK_IDS)
def test_stacks_are_hidden_from_other_projects(
    scene: Scene, by_id: bool, method: str, path: str, body: Any, status: int, call: Any
) -> None:
    path = path.replace("/stacks/web", f"/stacks/{scene.stack_id}", 1) if by_id and STACK_ID not in path else path
    in_theirs = scene.ask(scene.stranger, method, path, scene.owner.project_id, body)
    in_own = scene.ask(scene.stranger, method, path, scene.stranger.project_id, body)
    for_managers = (
        path.endswith(("/settings/change_control", "/settings/plan_policies")) and method != "GET"
    )  # refused before any look
    assert in_theirs.status_code == 403, in_theirs.text
    assert in_own.status_code == (403 if for_managers else 404), in_own.text
    assert not reveals(scene, in_own)
    assert MARK not in in_theirs.text


@pytest.mark.parametrize("path", ["/stacks", "/stacks/detail", "/stacks?show_nested=true&show_hidden=true"])
def test_lists_show_the_callers_own_project_only(scene: Scene, path: str) -> None:
    assert scene.ask(scene.stranger, "GET", path, scene.stranger.project_id).json() == {"stacks": []}
    assert len(scene.ask(scene.owner, "GET", path, scene.owner.project_id).json()["stacks"]) == 1


@pytest.mark.parametrize("query", ["text=server", "name=value", "type=OS::Heat::Value"])
def test_the_search_finds_resources_of_the_callers_own_project_only(scene: Scene, query: str) -> None:
    path = f"/resources?{query}"
    found = scene.ask(scene.owner, "GET", path, scene.owner.project_id).json()["resources"]
    assert [each["stack_id"] for each in found] == [scene.stack_id]
    for caller in (scene.stranger, scene.administrator):
        answer = scene.ask(caller, "GET", path, caller.project_id).json()
        assert (answer["resources"], answer["unsearchable"]) == ([], 0)
    assert scene.ask(scene.stranger, "GET", path, scene.owner.project_id).status_code == 403
    uuid = scene.ask(scene.owner, "GET", path, scene.owner.project_id).json()["resources"][0]["id"]
    marked = f"{path}&marker={uuid}"
    assert scene.ask(scene.stranger, "GET", marked, scene.stranger.project_id).json()["resources"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/stacks?global_tenant=true",
        "/software_configs?global_tenant=true",
        "/resources?text=server&global_tenant=true",
    ],
)
def test_only_administrators_list_all_projects(scene: Scene, path: str) -> None:
    assert scene.ask(scene.stranger, "GET", path, scene.stranger.project_id).status_code == 403


def test_administrators_reach_stacks_of_all_projects_by_their_ids(scene: Scene) -> None:
    """As security.md says: with the URLs of their own project; names and lists are those of the token's project."""
    admin, theirs = scene.administrator, scene.owner.project_id
    found = scene.ask(admin, "GET", f"/stacks/web/{STACK_ID}", admin.project_id)
    assert found.json()["stack"]["id"] == scene.stack_id
    assert scene.ask(admin, "GET", "/stacks/web", admin.project_id).status_code == 404
    assert scene.ask(admin, "GET", "/stacks", admin.project_id).json()["stacks"] == []
    for path in (f"/stacks/web/{STACK_ID}", "/stacks/web", "/stacks"):
        refused = scene.ask(admin, "GET", path, theirs)
        assert refused.status_code == 403 and MARK not in refused.text, "the policy asks for a role in that project"
    stranger = scene.stranger
    assert scene.ask(stranger, "GET", f"/stacks/web/{STACK_ID}", stranger.project_id).status_code == 404
    assert scene.ask(stranger, "GET", f"/stacks/web/{STACK_ID}", theirs).status_code == 403


def test_configs_and_deployments_of_other_projects_are_hidden(scene: Scene) -> None:
    def ask(caller: Caller, method: str, path: str, body: Any = None) -> requests.Response:
        return scene.ask(caller, method, path, caller.project_id, body)

    config = ask(scene.owner, "POST", "/software_configs", {"config": MARK}).json()["software_config"]["id"]
    body = {"config_id": config, "server_id": "srv"}
    made = ask(scene.owner, "POST", "/software_deployments", body).json()["software_deployment"]["id"]

    stranger = scene.stranger
    assert ask(stranger, "GET", f"/software_configs/{config}").status_code == 404
    assert ask(stranger, "DELETE", f"/software_configs/{config}").status_code == 404
    assert ask(stranger, "POST", "/software_deployments", body).status_code == 404
    for method, change in (("GET", None), ("PUT", {"status": "FAILED"}), ("DELETE", None)):
        assert ask(stranger, method, f"/software_deployments/{made}", change).status_code == 404
    for caller in (stranger, scene.user):
        assert ask(caller, "GET", "/software_deployments/metadata/srv").json() == {"metadata": []}
    assert ask(stranger, "GET", "/software_deployments").json() == {"software_deployments": []}
    assert ask(scene.owner, "GET", "/software_deployments/metadata/srv").json()["metadata"][0]["config"] == MARK


@pytest.mark.parametrize(("method", "path", "body", "status", "call"), CASES, ids=IDS)
def test_a_stack_user_reaches_its_own_resource_only(
    scene: Scene, method: str, path: str, body: Any, status: int, call: Any
) -> None:
    user = scene.user
    own = path.endswith(("/resources/server/metadata", "/resources/server/signal"))
    lookup = call is not None and call[0] == "stack_identify"
    nothing_there = path.startswith("/software_deployments/metadata/")
    answer = scene.ask(user, method, path, user.project_id, body)
    if own or nothing_there:
        assert answer.status_code == 200, answer.text
    elif lookup:
        assert answer.status_code in (302, 404)
    else:
        assert answer.status_code == 403, answer.text
    assert MARK not in answer.text


@pytest.mark.parametrize(("method", "tail"), [("GET", "metadata"), ("POST", "signal")])
@pytest.mark.parametrize("resource", ["second", "value", "nothing"])
def test_stack_user_cannot_signal_other_resources(scene: Scene, method: str, tail: str, resource: str) -> None:
    path = f"/stacks/web/{STACK_ID}/resources/{resource}/{tail}"
    answer = scene.ask(
        scene.user, method, path, scene.user.project_id, {"status": "SUCCESS"} if method == "POST" else None
    )
    assert answer.status_code in (403, 404), answer.text
    assert MARK not in answer.text
