"""The number of statements of a request does not grow with its answer: there is no statement for each row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests
from sqlalchemy import event

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.v1.routes import ROUTES
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("query-counts")]

SIZES = (1, 20)
TRIES = 4
"""An engine that looks for work now and then asks something itself: the least of some tries is the request's."""

MEMBER = {
    "heat_template_version": "2021-04-16",
    "parameters": {"password": {"type": "string", "hidden": True, "default": "not-to-be-told"}},
    "resources": {"inner": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "password"}}}},
    "outputs": {"value": {"value": {"get_attr": ["inner", "value"]}}},
}
QUERIES = {
    "/stacks": ("", "?limit=1000&with_count=true", "?tags=tag0&not_tags=none&show_nested=true&show_deleted=true"),
    "/resources": ("?name=inner", "?type=OS::Heat::Value"),
    "/stacks/{stack_name}/{stack_id}": ("", "?resolve_outputs=false"),
    "/stacks/{stack_name}/{stack_id}/resources": ("", "?nested_depth=2", "?with_detail=true"),
    "/stacks/{stack_name}/{stack_id}/events": ("", "?nested_depth=2", "?limit=10&sort_keys=event_time"),
}
REQUESTS = [path + query for path, methods in ROUTES.items() if "GET" in methods for query in QUERIES.get(path, ("",))]

INSIDE = {
    "/stacks/{stack_name}/{stack_id}/export": 5,
    "/stacks/{stack_name}/{stack_id}/resources?with_detail=true": 5,
}
"""Requests that look into nested stacks, and how many statements each nested stack adds: for its row, its inputs
(twice), its resources and their properties. A resource that is no stack adds none.
"""


def template(size: int) -> dict[str, Any]:
    """So many values, nested stacks and outputs."""
    values = {f"value{number}": {"type": "OS::Heat::Value", "properties": {"value": number}} for number in range(size)}
    nested = {f"nested{number}": {"type": "member.yaml"} for number in range(size)}
    outputs = {f"out{number}": {"value": {"get_attr": [f"value{number}", "value"]}} for number in range(size)}
    return {"heat_template_version": "2021-04-16", "resources": {**values, **nested}, "outputs": outputs}


@dataclass
class Scene:
    """The API, what the database has been asked, and by size and request what it was asked for that."""

    url: str
    headers: dict[str, str]
    running: ThreadedWorld
    statements: list[str] = field(default_factory=list)
    counted: dict[int, dict[str, list[str]]] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = requests.request(
            method, self.url + path, json=body, headers=self.headers, timeout=60, allow_redirects=False
        )
        assert answer.status_code < 400, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    def make(self, name: str, template: dict[str, Any], **more: Any) -> str:
        """The id of a new stack, once it is there."""
        stack_id: str = self.call("POST", "/stacks", {"stack_name": name, "template": template, **more})["stack"]["id"]
        self.running.settle(stack_id)
        return stack_id

    def asked(self, path: str) -> list[str]:
        """The statements that a request takes."""
        tries = []
        for _ in range(TRIES):
            self.statements.clear()
            self.call("GET", path)
            tries.append(list(self.statements))
        return min(tries, key=len)

    def fill(self, size: int) -> dict[str, str]:
        """Have so much of everything."""
        name = f"stack{size}"
        tags = ",".join(f"tag{number}" for number in range(size))
        stack_id = self.make(name, template(size), files={"member.yaml": json.dumps(MEMBER)}, tags=tags)
        here = f"/stacks/{name}/{stack_id}"
        for number in range(size):
            config = self.call("POST", "/software_configs", {"config": "true"})["software_config"]["id"]
            deployment = self.call("POST", "/software_deployments", {"config_id": config, "server_id": "server"})
            snapshot = self.call("POST", f"{here}/snapshots", {"name": f"snapshot{number}"})["id"]
            self.running.settle(stack_id)
            if number + 1 < size:
                self.make(f"more{number}", {"heat_template_version": "2021-04-16"})
        for number in range(size):
            empty = {"template": template(0)}
            definitions = {"stacks": {name: empty, f"new{size}-{number}": empty}, "create_stacks": True}
            refactor = self.call("POST", "/refactors", definitions)["refactor"]["id"]
        self.call("PUT", "/change_control", {"change_control": {"approvals": [{}]}})
        for number in range(size):
            body: dict[str, Any] = {"stack_name": f"waits{size}-{number}", "template": template(0)}
            asked = requests.post(f"{self.url}/stacks", json=body, headers=self.headers, timeout=60)
            assert asked.json()["error"]["type"] == "ApprovalRequired"
        self.call("DELETE", "/change_control")
        detection = self.call("POST", f"{here}/drift/detections")["drift_detection"]
        while detection["status"] == "IN_PROGRESS":
            detection = self.call("GET", f"{here}/drift/detections/{detection['id']}")["drift_detection"]
        return {
            "request_id": self.call("GET", "/change_requests")["change_requests"][0]["id"],
            "refactor_id": refactor,
            "stack_name": name,
            "stack_id": stack_id,
            "resource_name": "value0",
            "event_id": self.call("GET", f"{here}/resources/value0/events")["events"][0]["id"],
            "output_key": "out0",
            "snapshot_id": snapshot,
            "detection_id": detection["id"],
            "operation_id": self.call("GET", f"{here}/operations")["operations"][0]["id"],
            "config_id": config,
            "deployment_id": deployment["software_deployment"]["id"],
            "server_id": "server",
            "type_name": "OS::Heat::Value",
            "template_version": "heat_template_version.2021-04-16",
        }


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A Stoker in which all requests have been counted, with few and with many rows."""
    directory = tmp_path_factory.mktemp("scene")
    with ExitStack() as stack:
        served = stack.enter_context(ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)))
        running = ThreadedWorld(directory, served, EngineSettings(enable_stack_abandon=True))
        stack.callback(running.stop)
        server = serve_rest(running, directory)
        stack.callback(server.stop)
        token = served.token("admin", "admin")
        headers = {"X-Auth-Token": token, "X-Subject-Token": token}
        shown = requests.get(f"{served.url}/identity/v3/auth/tokens", headers=headers, timeout=60).json()["token"]
        scene = Scene(f"{server.url}/v1/{shown['project']['id']}", {"X-Auth-Token": token}, running)

        @event.listens_for(running.engine.services.database.engine, "before_cursor_execute")
        def asked(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            scene.statements.append(statement)

        scene.make("preview", template(0))  # that a route has for a stack of this name
        for size in SIZES:
            variables = scene.fill(size)
            scene.counted[size] = {request: scene.asked(request.format(**variables)) for request in REQUESTS}
        yield scene


@pytest.mark.parametrize("request_line", [line for line in REQUESTS if line not in INSIDE])
def test_statement_count_is_independent_of_result_size(scene: Scene, request_line: str) -> None:
    little, much = (scene.counted[size][request_line] for size in SIZES)
    assert len(much) <= len(little), (Counter(much) - Counter(little)).most_common()


@pytest.mark.parametrize("request_line", INSIDE)
def test_statement_count_grows_only_with_nested_stacks(scene: Scene, request_line: str) -> None:
    little, much = (scene.counted[size][request_line] for size in SIZES)
    assert len(much) - len(little) <= INSIDE[request_line] * (SIZES[1] - SIZES[0]), (
        Counter(much) - Counter(little)
    ).most_common()
