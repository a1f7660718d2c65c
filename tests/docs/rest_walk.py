"""A walk over every route of the REST API on the emulated cloud, which records requests and answers for the manual."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.api.server import Server
from stoker.api.v1.routes import ROUTES
from stoker.base.diagnostics import Diagnostic
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, api_config
from tests.docs.recorded import BASE, Anonymizer

Examples = dict[str, dict[str, Any]]

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "parameters": {"name": {"type": "string", "default": "front"}},
    "resources": {
        "net": {"type": "OS::Neutron::Net", "properties": {"name": {"get_param": "name"}}, "metadata": {"team": "web"}},
        "handle": {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": "CFN_SIGNAL"}},
    },
    "outputs": {"network": {"description": "The network's ID.", "value": {"get_resource": "net"}}},
}


class Walk:
    """Sends requests to a Stoker on an emulated cloud, and keeps an example for each route."""

    def __init__(self, world: ThreadedWorld, server: Server) -> None:
        self._world = world
        self._server = server
        self.examples: Examples = {}
        self._disguise = Anonymizer({server.url: BASE, world.served.url: "https://cloud.example.com"})

    def login(self, user: str, project: str) -> None:
        """Use the token of a user."""
        served = self._world.served
        self._token = served.token(user, project)
        shown = served.call("GET", "/identity/v3/auth/tokens", None, self._token, {"X-Subject-Token": self._token})
        self._project = shown.json["token"]["project"]["id"]
        self._disguise.project(self._project)

    def send(self, method: str, route: str, body: Any = None, **values: str) -> Any:
        """Send a request of a route, record it as the route's example, and return the answer."""
        path, _, query = route.partition("?")
        url = f"/v1/{self._project}{path.format_map({key: quote(value, safe='') for key, value in values.items()})}"
        url += f"?{query}" if query else ""
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Auth-Token": self._token, "Content-Type": "application/json"}
        request = Request(self._server.url + url, data, headers, method=method)
        try:
            with urlopen(request, timeout=60) as answer:
                status, content = answer.status, answer.read()
        except HTTPError as error:
            raise AssertionError(f"{method} {url}: {error.read().decode()}") from error
        decoded = json.loads(content) if content else None
        self.examples[f"{method} {path}"] = {
            "request": f"{method} {self._disguise.plain(url)}",
            "body": self._disguise.plain(body),
            "status": status,
            "answer": self._disguise.plain(decoded),
        }
        return decoded

    def refusal(self, template: str) -> list[Diagnostic]:
        """Return the diagnostics about a template that cannot be used, which a preview finds."""
        body = json.dumps({"stack_name": "refused", "template": template}).encode()
        headers = {"X-Auth-Token": self._token, "Content-Type": "application/json"}
        url = f"{self._server.url}/v1/{self._project}/stacks/preview"
        with pytest.raises(HTTPError) as raised:
            urlopen(Request(url, body, headers), timeout=60)
        return [Diagnostic.from_dict(each) for each in json.loads(raised.value.read())["error"]["diagnostics"]]

    def refused(self, method: str, path: str, body: Any) -> None:
        """Send a request that is refused because of its stack's state; it is no example."""
        headers = {"X-Auth-Token": self._token, "Content-Type": "application/json"}
        url = f"{self._server.url}/v1/{self._project}{path}"
        with pytest.raises(HTTPError) as raised:
            urlopen(Request(url, json.dumps(body).encode(), headers, method=method), timeout=60)
        assert raised.value.code == 409
        raised.value.close()

    def settle(self, stack_id: str) -> None:
        self._world.settle(stack_id)


@contextmanager
def walking(folder: Path) -> Iterator[Walk]:
    """Serve a Stoker on an emulated cloud for a walk."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        world = ThreadedWorld(
            folder,
            served,
            EngineSettings(
                enable_stack_abandon=True,
                type_options={"heat_waitcondition_server_url": f"{BASE}/v1/waitcondition"},
            ),
        )
        server = Server(make_app(api_config(folder, served), world.client()), "127.0.0.1", 0, 2)
        server.start()
        try:
            yield Walk(world, server)
        finally:
            server.stop()
            world.stop()


def walk(folder: Path) -> Examples:
    """Walk over all routes, and return the examples in the order of the routes."""
    with walking(folder) as walk:
        walk.login("admin", "admin")
        walk.send("GET", "/services")
        walk.login("demo", "demo")
        _catalog(walk)
        _stack(walk)
        _software(walk)
        _change_control(walk)
        found = walk.examples
    keys = [f"{method} {path}" for path, methods in ROUTES.items() for method in methods]
    return {key: found[key] for key in keys if key in found}


def _catalog(walk: Walk) -> None:
    walk.send("GET", "/build_info")
    walk.send("GET", "/permissions")
    walk.send("POST", "/validate", {"template": TEMPLATE})
    walk.send("GET", "/template_versions")
    version = "heat_template_version.2021-04-16"
    walk.send("GET", "/template_versions/{template_version}/functions", template_version=version)
    walk.send("GET", "/resource_types")
    walk.send("GET", "/resource_types/{type_name}", type_name="OS::Heat::Delay")
    walk.send("GET", "/resource_types/{type_name}/template", type_name="OS::Heat::Delay")


def _stack(walk: Walk) -> None:
    stack = "/stacks/{stack_name}/{stack_id}"
    request = {"stack_name": "web", "template": TEMPLATE, "parameters": {"name": "front"}, "timeout_mins": 10}
    other = walk.send("POST", "/stacks", {**request, "stack_name": "other"})["stack"]["id"]
    walk.settle(other)
    walk.send("DELETE", f"{stack}/abandon", stack_name="other", stack_id=other)
    walk.send("POST", "/stacks/preview", request)
    made = walk.send("POST", "/stacks", request)["stack"]["id"]
    ref = {"stack_name": "web", "stack_id": made}
    walk.settle(made)
    walk.send("GET", "/stacks")
    walk.send("GET", "/stacks/detail")
    for tail in (
        "",
        "/template",
        "/environment",
        "/files",
        "/outputs",
        "/outputs/{output_key}",
        "/resources",
        "/export",
    ):
        walk.send("GET", stack + tail, **ref, output_key="network")
    walk.send("GET", "/resources?name=network")
    walk.send("GET", "/orphans")
    walk.send("GET", "/exports")
    walk.send("GET", "/generated_template?type=OS::Neutron::Router&type=OS::Neutron::SecurityGroup")
    walk.send("GET", "/generated_template/resource_types")
    _resource(walk, f"{stack}/resources/{{resource_name}}", ref)
    walk.send("GET", f"{stack}/events", **ref)
    operation = walk.send("GET", f"{stack}/operations", **ref)["operations"][0]["id"]
    walk.send("GET", f"{stack}/operations/{{operation_id}}", **ref, operation_id=operation)
    whole = {"template": TEMPLATE, "parameters": {"name": "back"}}
    walk.send("PUT", f"{stack}/preview", whole, **ref)
    walk.send("PATCH", f"{stack}/preview", {"parameters": {"name": "back"}}, **ref)
    walk.send("DELETE", f"{stack}/preview", **ref)
    walk.send("GET", f"{stack}/drift", **ref)
    settings = f"{stack}/settings"
    walk.send("PUT", f"{settings}/lock", {"reason": "the release of Friday"}, **ref)
    walk.send("GET", settings, **ref)
    walk.send("DELETE", f"{settings}/lock", **ref)
    walk.send("PUT", f"{settings}/protection", **ref)
    walk.send("DELETE", f"{settings}/protection", **ref)
    statement = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
    walk.send("PUT", f"{settings}/policy", {"policy": {"Statement": [statement]}}, **ref)
    walk.send("DELETE", f"{settings}/policy", **ref)
    walk.send("GET", f"{stack}/drift/watch", **ref)
    walk.send("PATCH", f"{stack}/drift/watch", {"mode": "detect"}, **ref)
    detection = walk.send("POST", f"{stack}/drift/detections", **ref)["drift_detection"]
    while detection["status"] == "IN_PROGRESS":
        time.sleep(0.05)
        detection = walk.send("GET", f"{stack}/drift/detections/{{detection_id}}", **ref, detection_id=detection["id"])[
            "drift_detection"
        ]
    walk.send("PUT", stack, whole, **ref)
    walk.settle(made)
    walk.send("PATCH", stack, {"parameters": {"name": "front"}}, **ref)
    walk.settle(made)
    walk.send("POST", f"{stack}/actions", {"check": None}, **ref)
    walk.settle(made)
    _snapshots(walk, f"{stack}/snapshots", ref)
    walk.send("DELETE", stack, **ref)
    walk.settle(made)
    failing = {
        "net": {"type": "OS::Neutron::Net"},
        "bad": {"type": "OS::Heat::TestResource", "properties": {"fail": True}},
    }
    template = {"heat_template_version": "2021-04-16", "resources": failing}
    failed = walk.send("POST", "/stacks", {"stack_name": "failed", "template": template})["stack"]["id"]
    walk.settle(failed)
    walk.send("POST", f"{stack}/actions/preview", {"rollback": None}, stack_name="failed", stack_id=failed)
    _refactors(walk)


def _refactors(walk: Walk) -> None:
    net, volume = {"type": "OS::Neutron::Net"}, {"type": "OS::Cinder::Volume", "properties": {"size": 1}}

    def template(**resources: Any) -> dict[str, Any]:
        return {"heat_template_version": "2021-04-16", "resources": resources}

    body = {"stack_name": "estate", "template": template(net=net, data=volume)}
    walk.settle(walk.send("POST", "/stacks", body)["stack"]["id"])
    stacks = {"estate": {"template": template(data=volume)}, "network": {"template": template(front=net)}}
    moved = [{"from": {"stack": "estate", "resource": "net"}, "to": {"stack": "network", "resource": "front"}}]
    asked = {"stacks": stacks, "moved": moved, "create_stacks": True, "description": "the network apart"}
    made = walk.send("POST", "/refactors", asked)["refactor"]["id"]
    walk.send("GET", "/refactors")
    for tail in ("", "/actions"):
        walk.send("GET", f"/refactors/{{refactor_id}}{tail}", refactor_id=made)
    walk.send("POST", "/refactors/{refactor_id}/execute", refactor_id=made)


def _resource(walk: Walk, path: str, ref: dict[str, str]) -> None:
    walk.send(
        "POST", f"{path}/signal", {"id": "1", "status": "SUCCESS", "data": "ready"}, **ref, resource_name="handle"
    )
    ref = {**ref, "resource_name": "net"}
    walk.send("GET", path, **ref)
    walk.send("GET", f"{path}/metadata", **ref)
    event = walk.send("GET", f"{path}/events", **ref)["events"][0]["id"]
    walk.send("GET", f"{path}/events/{{event_id}}", **ref, event_id=event)
    walk.send("PATCH", path, {"mark_unhealthy": True, "resource_status_reason": "it does not answer"}, **ref)


def _snapshots(walk: Walk, path: str, ref: dict[str, str]) -> None:
    snapshot = walk.send("POST", path, {"name": "before the change"}, **ref)["id"]
    walk.settle(ref["stack_id"])
    ref = {**ref, "snapshot_id": snapshot}
    walk.send("GET", path, **ref)
    walk.send("GET", f"{path}/{{snapshot_id}}", **ref)
    walk.send("POST", f"{path}/{{snapshot_id}}/restore/preview", **ref)
    walk.send("POST", f"{path}/{{snapshot_id}}/restore", **ref)
    walk.settle(ref["stack_id"])
    walk.send("DELETE", f"{path}/{{snapshot_id}}", **ref)


def _software(walk: Walk) -> None:
    server = "9a1b7c52-0d7e-4a44-9f3a-6a5f8c1e2b30"
    config = {"name": "greeting", "group": "script", "config": "echo $word", "inputs": [{"name": "word"}]}
    made = walk.send("POST", "/software_configs", config)["software_config"]["id"]
    walk.send("GET", "/software_configs")
    walk.send("GET", "/software_configs/{config_id}", config_id=made)
    deployment = {"config_id": made, "server_id": server, "action": "CREATE", "status": "IN_PROGRESS"}
    found = walk.send("POST", "/software_deployments", deployment)["software_deployment"]["id"]
    walk.send("GET", "/software_deployments")
    walk.send("GET", "/software_deployments/metadata/{server_id}", server_id=server)
    path, ref = "/software_deployments/{deployment_id}", {"deployment_id": found}
    walk.send("GET", path, **ref)
    walk.send("PUT", path, {"status": "COMPLETE", "output_values": {"said": "hello"}}, **ref)
    walk.send("DELETE", path, **ref)
    walk.send("DELETE", "/software_configs/{config_id}", config_id=made)


def _change_control(walk: Walk) -> None:
    net: dict[str, Any] = {"type": "OS::Neutron::Net"}
    template = {"heat_template_version": "2021-04-16", "resources": {"net": net}}
    made = walk.send("POST", "/stacks", {"stack_name": "shop", "template": template})["stack"]["id"]
    walk.settle(made)
    ref = {"stack_name": "shop", "stack_id": made}
    control = "/stacks/{stack_name}/{stack_id}/settings/change_control"
    walk.login("admin", "demo")
    nights = {"name": "nights", "start": "2026-01-01T00:00", "end": "2026-01-02T00:00", "repeat": "FREQ=DAILY"}
    needs = {"approvals": [{"number": 1}], "windows": [nights], "valid_hours": 24}
    walk.send("PUT", control, {"change_control": needs}, **ref)
    walk.send("GET", control, **ref)
    walk.send("PUT", "/change_control", {"change_control": {"approvals": [{"role": "admin"}]}})
    walk.send("GET", "/change_control")
    policies = "/stacks/{stack_name}/{stack_id}/settings/plan_policies"
    walk.send("PUT", "/plan_policies", {"plan_policies": "policies:\n- use: no-open-ssh\n"})
    walk.send("GET", "/plan_policies")
    own = "policies:\n- name: admin-up\n  types: [OS::Neutron::Net]\n  expression: step.properties.admin_state_up\n"
    walk.send("PUT", policies, {"plan_policies": own + "  verdict: warn\n"}, **ref)
    walk.send("GET", policies, **ref)
    walk.login("demo", "demo")
    net["properties"] = {"admin_state_up": False}
    walk.refused("PUT", f"/stacks/shop/{made}", {"template": template})
    [request] = walk.send("GET", "/change_requests?status=WAITING")["change_requests"]
    walk.login("admin", "demo")
    walk.send("GET", "/change_requests/{request_id}", request_id=request["id"])
    review = {"verdict": "APPROVED", "comment": "as discussed"}
    walk.send("PUT", "/change_requests/{request_id}/approval", review, request_id=request["id"])
    reason = {"reason": "the shop is down"}
    walk.send("POST", "/change_requests/{request_id}/break_glass", reason, request_id=request["id"])
    walk.send("DELETE", policies, **ref)
    walk.send("DELETE", "/plan_policies")
    walk.send("DELETE", control, **ref)
    walk.send("DELETE", "/change_control")
