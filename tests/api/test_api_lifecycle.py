"""Every request in every state of a stack, over HTTP: what is taken, what is refused, and with which status."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest

pytestmark = pytest.mark.slow

TIMEOUT = 60.0
PACE = 0.02
LATE = 20.0
"""Seconds for which a call is held back: longer than it takes to ask what the stack does meanwhile."""

NETWORKS = "/network/v2.0/networks"
SERVERS = "/compute/v2.1/servers"

# Copied from the facts about Heat (lifecycle.json, stack_requests): what is refused where, with which status. `retry`
# and `rollback` are Stoker's own, and so is refusing a verb (409) while something else runs.
STATES = [
    f"{action}_{status}"
    for action in ("CREATE", "UPDATE", "ROLLBACK", "SUSPEND", "RESUME", "CHECK", "DELETE")
    for status in ("IN_PROGRESS", "COMPLETE", "FAILED")
]
DEFINING = ("CREATE", "UPDATE", "ROLLBACK")
NOT_FOUND, CONFLICT, BAD, TAKEN = 404, 409, 400, 200


def expected(request: str, state: str) -> int:
    """The status of the answer; 200 stands for whatever success is."""
    if state == "DELETE_COMPLETE":
        return NOT_FOUND
    action, _, status = state.partition("_")
    match request:
        case "update" | "patch":
            return BAD if action in ("DELETE", "SUSPEND") else TAKEN
        case "suspend" | "resume" | "check":
            busy = status == "IN_PROGRESS" and action != request.upper()
            return CONFLICT if busy else TAKEN
        case "cancel_update":
            return TAKEN if state == "UPDATE_IN_PROGRESS" else BAD
        case "cancel_without_rollback":
            return TAKEN if state in ("UPDATE_IN_PROGRESS", "CREATE_IN_PROGRESS") else BAD
        case "retry":
            return TAKEN if status == "FAILED" else BAD
        case "rollback":
            return TAKEN if status == "FAILED" and action in DEFINING else BAD
    return TAKEN


AFTER = {
    "update": "UPDATE",
    "patch": "UPDATE",
    "suspend": "SUSPEND",
    "resume": "RESUME",
    "check": "CHECK",
    "cancel_update": "ROLLBACK",
    "rollback": "ROLLBACK",
    "delete": "DELETE",
}
"""The action that a stack shows once a request has been taken; others leave it as it is."""


def thing(value: str = "x", **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": {"value": value, **properties}}


NET = {"type": "OS::Neutron::Net"}
NEVER_GOES: dict[str, Any] = {"action_wait_secs": {"delete": -1}}
SERVER = {
    "type": "OS::Nova::Server",
    "properties": {"flavor": "m1.nano", "image": "cirros", "networks": [{"allocate_network": "none"}]},
}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


@dataclass
class Site:
    """A Stoker over HTTP beside an emulated cloud whose answers can be held back."""

    running: ThreadedWorld
    served: ServedCloud
    url: str
    token: str

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Auth-Token": self.token, "Content-Type": "application/json"}
        request = HttpRequest(self.url + path, data, headers, method=method)
        try:
            with urlopen(request, timeout=TIMEOUT) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except OSError as error:
            content = error.read() if hasattr(error, "read") else b""  # an HTTPError is an answer too
            return int(getattr(error, "code", 0)), json.loads(content or b"null")

    def add_fault(self, on: str, **rule: Any) -> None:
        self.served.do(lambda: self.served.cloud.faults.add(Fault(on=on, **rule)))

    def clear_faults(self) -> None:
        self.served.do(self.served.cloud.faults.clear)


class Stack:
    """One stack of the site, driven over HTTP."""

    def __init__(self, site: Site, name: str) -> None:
        self.site = site
        self.name = name
        self.path = ""

    def create(self, made: dict[str, Any], *, wait: bool = True) -> None:
        body = {"stack_name": self.name, "template": made}
        status, answer = self.site.call("POST", "/stacks", body)
        assert status == 201, answer
        self.path = f"/stacks/{self.name}/{answer['stack']['id']}"
        if wait:
            self.until_idle()

    def request(self, name: str, made: dict[str, Any] | None = None) -> int:
        match name:
            case "update":
                return self.site.call("PUT", self.path, {"template": made or template(a=thing("other"))})[0]
            case "patch":
                return self.site.call("PATCH", self.path, {})[0]
            case "delete":
                return self.site.call("DELETE", self.path)[0]
        return self.site.call("POST", f"{self.path}/actions", {name: None})[0]

    def do(self, name: str, made: dict[str, Any] | None = None, *, wait: bool = True) -> None:
        assert self.request(name, made) < 300
        if wait:
            self.until_idle()

    @property
    def state(self) -> str:
        return str(self.site.call("GET", self.path)[1]["stack"]["stack_status"])

    def until_idle(self) -> None:
        self.site.running.settle(self.path.rpartition("/")[2])

    def until(self, *, resource: str, state: str) -> None:
        """Wait until a resource is in a state."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            shown = self.site.call("GET", f"{self.path}/resources/{resource}")[1]
            if shown.get("resource", {}).get("resource_status") == state:
                return
            time.sleep(0.01)
        raise AssertionError(f"{resource} never came to {state}")


# -- how stacks get into each state ------------------------------------------------------------------------------


def create_in_progress(stack: Stack) -> None:
    stack.create(template(a=thing(wait_secs=-1)), wait=False)


def create_complete(stack: Stack) -> None:
    stack.create(template(a=thing()))


def create_failed(stack: Stack) -> None:
    stack.create(template(a=thing(fail=True)))


def update_in_progress(stack: Stack) -> None:
    create_complete(stack)
    stack.do("update", template(a=thing("new", wait_secs=-1)), wait=False)


def update_complete(stack: Stack) -> None:
    create_complete(stack)
    stack.do("update", template(a=thing("new")))


def update_failed(stack: Stack) -> None:
    create_complete(stack)
    stack.do("update", template(a=thing("new", fail=True)))


def rollback_in_progress(stack: Stack) -> None:
    create_complete(stack)
    stack.do("update", template(a=thing(), b=thing(**NEVER_GOES), c=thing(fail=True)))
    stack.do("rollback", wait=False)


def rollback_complete(stack: Stack) -> None:
    update_failed(stack)
    stack.do("rollback")


def rollback_failed(stack: Stack) -> None:
    create_complete(stack)
    stack.do("update", template(a=thing(), net=NET, c=thing(fail=True)))
    stack.site.add_fault(f"DELETE {NETWORKS}/*", do="fail", status=403)
    stack.do("rollback")


def suspend_in_progress(stack: Stack) -> None:
    stack.create(template(a=SERVER))
    stack.site.add_fault(f"POST {SERVERS}/*", do="delay", seconds=LATE)
    stack.do("suspend", wait=False)


def suspend_complete(stack: Stack) -> None:
    create_complete(stack)
    stack.do("suspend")


def suspend_failed(stack: Stack) -> None:
    create_failed(stack)
    stack.do("suspend")


def resume_in_progress(stack: Stack) -> None:
    stack.create(template(a=SERVER))
    stack.do("suspend")
    stack.site.add_fault(f"POST {SERVERS}/*", do="delay", seconds=LATE)
    stack.do("resume", wait=False)


def resume_complete(stack: Stack) -> None:
    suspend_complete(stack)
    stack.do("resume")


def resume_failed(stack: Stack) -> None:
    create_complete(stack)
    stack.do("resume")


def check_in_progress(stack: Stack) -> None:
    stack.create(template(a=SERVER))
    stack.site.add_fault(f"GET {SERVERS}/*", do="delay", seconds=LATE)
    stack.do("check", wait=False)


def check_complete(stack: Stack) -> None:
    create_complete(stack)
    stack.do("check")


def check_failed(stack: Stack) -> None:
    create_failed(stack)
    stack.do("check")


def delete_in_progress(stack: Stack) -> None:
    stack.create(template(a=thing(**NEVER_GOES)))
    stack.do("delete", wait=False)
    stack.until(resource="a", state="DELETE_IN_PROGRESS")


def delete_complete(stack: Stack) -> None:
    create_complete(stack)
    stack.do("delete")


def delete_failed(stack: Stack) -> None:
    stack.create(template(a=NET))
    stack.site.add_fault(f"DELETE {NETWORKS}/*", do="fail", status=403)
    stack.do("delete")


REACH: dict[str, Callable[[Stack], None]] = {state: globals()[state.lower()] for state in STATES}
REQUESTS = [
    "update", "patch", "delete", "suspend", "resume", "check", "cancel_update", "cancel_without_rollback", "retry",
    "rollback",
]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=PACE)) as served:
        running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served)
        server = serve_rest(running, tmp_path_factory.mktemp("api"))
        token = served.token("demo", "demo")
        project = served.call("GET", "/identity/v3/auth/tokens", None, token, {"X-Subject-Token": token})
        project_id = project.json["token"]["project"]["id"]
        quota = {"quota_set": dict.fromkeys(("instances", "cores", "ram"), -1)}
        assert served.call("PUT", f"/compute/v2.1/os-quota-sets/{project_id}", quota, served.token()).status == 200
        yield Site(running, served, f"{server.url}/v1/{project_id}", token)
        server.stop()
    running.stop()  # after the cloud has hung up: calls that are held back are answered no more


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("state", STATES)
def test_request_in_each_stack_state(site: Site, state: str, request_name: str) -> None:
    stack = Stack(site, f"{state}-{request_name}")
    try:
        REACH[state](stack)
        assert stack.state == state
        outcome = expected(request_name, state)
        given = stack.request(request_name)
        assert (given if given >= 400 else TAKEN) == outcome
        if outcome == TAKEN:
            action = AFTER.get(request_name, state.partition("_")[0])
            assert stack.state.partition("_")[0] == action
        else:
            assert stack.state == state
    finally:
        site.clear_faults()
