"""OS::Heat::Stack, against an orchestration service in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, CloudError, NotSupported
from stoker.cloud.auth import CloudPool, TokenCredential
from stoker.cloud.session import Cloud
from stoker.cloud.settings import ClientSettings, CloudSettings
from stoker.plugins.outcome import Done, Replace
from stoker.resources.barbican.secret import Secret
from stoker.resources.heat.nested_stacks.remote_cloud import remote_cloud
from stoker.resources.heat.nested_stacks.stack import Stack
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

TEMPLATE = "heat_template_version: 2018-08-31\n"


def missing(name: str) -> web.HTTPNotFound:
    error = {"message": f"The Stack ({name}) could not be found.", "traceback": None, "type": "EntityNotFound"}
    body = {"code": 404, "title": "Not Found", "explanation": "The resource could not be found.", "error": error}
    return web.HTTPNotFound(text=json.dumps(body), content_type="application/json")


@dataclass
class RemoteService:
    """The part of the Orchestration API that the type uses. An action is complete at the second poll."""

    stacks: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    looks: int = 0

    def application(self) -> web.Application:
        made = web.Application()
        made.router.add_post("/v1/stacks", self.create)
        made.router.add_get("/v1/stacks", self.index)
        made.router.add_get("/v1/stacks/{name}/{id}", self.show)
        made.router.add_put("/v1/stacks/{name}/{id}", self.change)
        made.router.add_post("/v1/stacks/{name}/{id}/actions", self.change)
        made.router.add_delete("/v1/stacks/{name}/{id}", self.change)
        return made

    def begin(self, stack: dict[str, Any], action: str) -> None:
        self.looks = 0
        stack["stack_status"] = f"{action}_IN_PROGRESS"

    async def create(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.requests.append(("POST", request.path, body))
        if any(stack["stack_name"] == body["stack_name"] for stack in self.stacks.values()):
            return web.json_response({"error": {"message": "exists"}}, status=409)
        stack = {"id": f"remote-{len(self.stacks)}", "stack_name": body["stack_name"], "outputs": []}
        self.stacks[stack["id"]] = stack
        self.begin(stack, "CREATE")
        return web.json_response({"stack": {"id": stack["id"]}}, status=201)

    async def index(self, request: web.Request) -> web.Response:
        found = [stack for stack in self.stacks.values() if stack["stack_name"] == request.query["name"]]
        return web.json_response({"stacks": found})

    def stack_of(self, request: web.Request) -> dict[str, Any]:
        stack = self.stacks.get(request.match_info["id"])
        if stack is None or stack["stack_name"] != request.match_info["name"]:
            raise missing(request.match_info["name"])
        return stack

    async def show(self, request: web.Request) -> web.Response:
        stack = self.stack_of(request)
        self.looks += 1
        action, _, status = stack["stack_status"].rpartition("_IN_PROGRESS")
        if self.looks > 1 and action and not status:
            if action == "DELETE":
                del self.stacks[stack["id"]]
                raise missing(stack["stack_name"])
            failed = action in self.failing
            stack["stack_status"] = f"{action}_{'FAILED' if failed else 'COMPLETE'}"
            stack["stack_status_reason"] = "no such flavor" if failed else "done"
        return web.json_response({"stack": stack})

    async def change(self, request: web.Request) -> web.Response:
        stack = self.stack_of(request)
        body: dict[str, Any] | None = await request.json() if request.can_read_body else None
        self.requests.append((request.method, request.path, body))
        action = {"PUT": "UPDATE", "DELETE": "DELETE"}.get(request.method) or next(iter(body or {})).upper()
        self.begin(stack, action)
        return web.Response(status=202)


@pytest.fixture
def remote() -> RemoteService:
    return RemoteService()


@pytest.fixture
async def here(remote: RemoteService, pool: CloudPool, served: ServedCloud, clock: ManualClock) -> AsyncIterator[Cloud]:
    """A cloud whose orchestration is the one in memory."""
    async with TestServer(remote.application()) as server:
        clients = {"heat": ClientSettings(url=str(server.make_url("/v1")))}
        mine = CloudPool(replace(pool.settings, clients=clients), clock)
        yield await mine.cloud(TokenCredential(served.token("demo", "demo")))
        await mine.close()


@pytest.fixture
def stacks(here: Cloud, clock: ManualClock, served: ServedCloud) -> Bench:
    return Bench(Stack, here, clock, served.advance)


async def test_stack_is_created_and_read(stacks: Bench, remote: RemoteService) -> None:
    assert stacks.reference(stacks.resource()) is None
    resource = await stacks.create({"template": TEMPLATE, "parameters": {"a": 1}, "timeout": 5})
    name = stacks.call(resource, "READ", {}).physical_name
    assert remote.requests == [
        (
            "POST",
            "/v1/stacks",
            {
                "stack_name": name,
                "template": TEMPLATE,
                "parameters": {"a": 1},
                "files": {},
                "environment": {"parameters": {"a": 1}},
                "disable_rollback": True,
                "timeout_mins": 5,
            },
        )
    ]
    assert stacks.reference(resource) == resource.physical_id == "remote-0"
    remote.stacks["remote-0"]["outputs"] = [{"output_key": "url", "output_value": ["x"]}]
    assert await stacks.attribute(resource, "outputs", "url", 0) == "x"
    assert await stacks.attribute(resource, "stack_name") == name


async def test_lost_response_leaves_one_stack(stacks: Bench, remote: RemoteService) -> None:
    resource = await stacks.crash_after_create({"template": TEMPLATE})
    assert resource.physical_id == "remote-0"
    await stacks.run("create", resource)
    assert len(remote.stacks) == 1


async def test_remote_failure_shows_the_reason(stacks: Bench, remote: RemoteService) -> None:
    remote.failing.add("CREATE")
    with pytest.raises(ActionFailed, match="no such flavor") as caught:
        await stacks.create({"template": TEMPLATE})
    assert caught.value.failed.in_error


async def test_update_and_other_actions(stacks: Bench, remote: RemoteService) -> None:
    resource = await stacks.create({"template": TEMPLATE})
    assert await stacks.update(resource, {"template": TEMPLATE, "parameters": {"b": 2}}) == Done()
    for verb in ("suspend", "resume", "check"):
        await stacks.run(verb, resource)
    assert [(method, body) for method, _, body in remote.requests[1:]] == [
        (
            "PUT",
            {
                "template": TEMPLATE,
                "parameters": {"b": 2},
                "files": {},
                "environment": {"parameters": {"b": 2}},
                "disable_rollback": True,
            },
        ),
        ("POST", {"suspend": None}),
        ("POST", {"resume": None}),
        ("POST", {"check": ""}),
    ]


async def test_delete(stacks: Bench, remote: RemoteService) -> None:
    resource = await stacks.create({"template": TEMPLATE})
    await stacks.delete(resource)
    assert remote.stacks == {}
    await stacks.delete(resource)
    await stacks.delete(stacks.resource())


async def test_action_before_creation(stacks: Bench) -> None:
    resource = stacks.resource()
    resource.properties = await stacks.finalized({"template": TEMPLATE})
    with pytest.raises(ActionFailed, match="has not been created"):
        await stacks.run("suspend", resource)


async def test_another_region_is_another_stack(stacks: Bench) -> None:
    resource = await stacks.create({"template": TEMPLATE, "context": {"region_name": "RegionOne"}})
    outcome = await stacks.update(resource, {"template": TEMPLATE, "context": {"region_name": "RegionTwo"}})
    assert outcome == Replace("the region changes from RegionOne to RegionTwo")


async def test_region_without_orchestration(cloud: Cloud, clock: ManualClock) -> None:
    bench = Bench(Stack, cloud, clock)
    with pytest.raises(CloudError, match="no endpoint of heat in region Elsewhere"):
        await bench.create({"template": TEMPLATE, "context": {"region_name": "Elsewhere"}})


async def test_credential_without_a_key_manager(clock: ManualClock) -> None:
    with ServedCloud(new_cloud(["image"], clock=ManualClock())) as served:
        pool = CloudPool(CloudSettings(auth_url=f"{served.url}/identity"), clock)
        cloud = await pool.cloud(TokenCredential(served.token("demo", "demo")))
        with pytest.raises(NotSupported, match="needs a key manager"):
            await Bench(Stack, cloud, clock).create({"template": TEMPLATE, "context": {"credential_secret_id": "x"}})
        await pool.close()


@pytest.fixture
async def federated(remote: RemoteService, clock: ManualClock) -> AsyncIterator[tuple[Cloud, ServedCloud]]:
    """A cloud whose catalog lists the orchestration service in memory, and which may be left for another one."""
    async with TestServer(remote.application()) as server:
        elsewhere = {"orchestration": str(server.make_url("/v1"))}
        with ServedCloud(new_cloud(clock=ManualClock(), extra_endpoints=elsewhere)) as served:
            settings = CloudSettings(
                auth_url=f"{served.url}/identity", remote_cloud_networks=("127.0.0.0/8",), client_retry_limit=0
            )
            pool = CloudPool(settings, clock)
            yield await pool.cloud(TokenCredential(served.token("demo", "demo"))), served
            await pool.close()


async def test_a_credential_from_a_secret(
    federated: tuple[Cloud, ServedCloud], remote: RemoteService, clock: ManualClock
) -> None:
    cloud, served = federated
    login = {
        "auth_url": f"{served.url}/identity/v3",
        "username": "admin",
        "password": served.cloud.password_of("admin"),
        "project_name": "admin",
        "user_domain_id": "default",
        "project_domain_id": "default",
    }
    secrets = Bench(Secret, cloud, clock, served.advance)
    good = await secrets.create({"payload": json.dumps({"auth_type": "v3password", "auth": login})})
    context = {"credential_secret_id": secrets.reference(good)}

    stacks = Bench(Stack, cloud, clock, served.advance)
    resource = await stacks.create({"template": TEMPLATE, "context": context})
    assert (await remote_cloud(cloud, context)).project_id != cloud.project_id
    await stacks.run("check", resource)
    # The next credential is in another secret, as nobody can change the payload of one.
    other = await secrets.create({"payload": json.dumps({"auth_type": "password", "auth": login})})
    changed = {"credential_secret_id": secrets.reference(other).rpartition("/")[2]}
    await secrets.run("delete", good)
    assert await stacks.update(resource, {"template": TEMPLATE, "context": changed}) == Done()
    await secrets.run("delete", other)
    with pytest.raises(BadValue, match="with the credential for another cloud does not exist"):
        await stacks.delete(resource)
    assert len(remote.stacks) == 1
    again = await secrets.create({"payload": json.dumps({"auth_type": "v3password", "auth": login})})
    resource.properties["context"] = {**changed, "credential_secret_id": secrets.reference(again)}
    await stacks.delete(resource)
    paths = [request[:2] for request in remote.requests]
    stack = "/v1/stacks/" + str(resource.data["stack_name"]) + "/remote-0"
    assert paths == [
        ("POST", "/v1/stacks"), ("POST", f"{stack}/actions"), ("PUT", stack), ("DELETE", stack),
    ]  # fmt: skip
    assert remote.stacks == {}


async def test_a_secret_that_is_no_credential(federated: tuple[Cloud, ServedCloud], clock: ManualClock) -> None:
    cloud, served = federated
    secrets = Bench(Secret, cloud, clock, served.advance)
    secret = secrets.reference(await secrets.create({"payload": "no JSON"}))
    with pytest.raises(BadValue, match="JSON object with auth_type"):
        await remote_cloud(cloud, {"credential_secret_id": secret})


async def test_certificates_without_another_cloud(stacks: Bench) -> None:
    with pytest.raises(BadProperties, match="insecure requires credential_secret_id"):
        await stacks.create({"template": TEMPLATE, "context": {"insecure": True}})
