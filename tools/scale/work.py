"""What users do: they create stacks of three shapes, change every resource of them, and delete them.

Requests come at a fixed rate, whether or not the cluster keeps up. Who has requested something asks from time to time
whether it has ended, as `stoker` and others do.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.http import Request
from stoker.base.context import RequestContext
from stoker.base.errors import StokerError
from stoker.base.ids import new_request_id
from tools.scale.cluster import NoAnswer, ScaledCluster

POLL_SECONDS = 5.0
"""Between two questions whether an operation has ended."""
TIMEOUT = 900.0
"""Seconds after which a user does not wait any longer."""
PAGE = 20


def application(version: int) -> dict[str, Any]:
    """A network with servers and volumes: twenty resources of OpenStack services."""
    tag = {"version": str(version)}
    port = {"network": {"get_resource": "net"}, "fixed_ips": [{"subnet": {"get_resource": "subnet"}}]}
    ports = {f"port{number}": _of("Neutron::Port", name=f"port{number}-{version}", **port) for number in range(6)}
    servers = {
        f"server{number}": _of(
            "Nova::Server",
            image="cirros",
            flavor="m1.tiny",
            networks=[{"port": {"get_resource": f"port{number}"}}],
            metadata=tag,
        )
        for number in range(6)
    }
    volumes = {f"volume{number}": _of("Cinder::Volume", size=1, metadata=tag) for number in range(6)}
    subnet = {"network": {"get_resource": "net"}, "cidr": "192.0.2.0/24", "name": f"subnet-{version}"}
    first = {"net": _of("Neutron::Net", name=f"net-{version}"), "subnet": _of("Neutron::Subnet", **subnet)}
    return _template({**first, **ports, **servers, **volumes})


def group(version: int) -> dict[str, Any]:
    """A group of three nested stacks of six resources: five stacks, 22 resources."""
    member = {"type": "member.yaml", "properties": {"version": version}}
    return _template({"group": _of("Heat::ResourceGroup", count=3, resource_def=member)})


def member() -> dict[str, Any]:
    """The template of the nested stacks."""
    found = _template({f"net{number}": _of("Neutron::Net", name={"get_param": "version"}) for number in range(3)})
    words = {f"word{number}": _of("Heat::Value", value={"get_param": "version"}) for number in range(3)}
    found["resources"] |= words
    return {**found, "parameters": {"version": {"type": "string"}}}


def values(version: int) -> dict[str, Any]:
    """Twenty resources that only Stoker has: ten random strings, and ten values that depend on them."""
    words = {f"word{number}": _of("Heat::RandomString", length=20 + version % 2) for number in range(10)}
    texts = {
        f"text{number}": _of("Heat::Value", value={"get_attr": [f"word{number}", "value"]}) for number in range(10)
    }
    return _template({**words, **texts})


def _of(kind: str, **properties: Any) -> dict[str, Any]:
    return {"type": f"OS::{kind}", "properties": properties}


def _template(resources: dict[str, Any]) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def waiting() -> dict[str, Any]:
    """One resource that takes as long as a rehearsal, as those that wait for something in the cloud do."""
    return _template({"wait": _of("Heat::TestResource", wait_secs=36_000)})


SHAPES = {"application": application, "group": group, "values": values}
FILES = {"member.yaml": json.dumps(member())}
RESOURCES = {"application": 20, "group": 22, "values": 20}


def body(shape: str, version: int) -> dict[str, Any]:
    """The arguments of a request for a stack of a shape."""
    files = FILES if shape == "group" else {}
    return {"template": SHAPES[shape](version), "files": files, "disable_rollback": True}


# -- projects ----------------------------------------------------------------------------------------------------


def _ask(cloud: Cloud, method: str, path: str, token: str, content: Any) -> Any:
    headers = {"Content-Type": "application/json", "X-Auth-Token": token}
    answer = dispatch(cloud, Request(method, path, headers=headers, body=orjson.dumps(content)))
    assert answer is not None and answer.status < 300, (method, path, answer)
    return answer


def _log_in(cloud: Cloud, user: str, password: str, project: str) -> tuple[str, Mapping[str, Any]]:
    default = {"id": "default"}
    identity = {
        "methods": ["password"],
        "password": {"user": {"name": user, "domain": default, "password": password}},
    }
    scope = {"project": {"name": project, "domain": default}}
    answer = _ask(cloud, "POST", "/identity/v3/auth/tokens", "", {"auth": {"identity": identity, "scope": scope}})
    return answer.headers["X-Subject-Token"], answer.body["token"]


def projects(cloud: Cloud, count: int) -> list[RequestContext]:
    """Make projects without quotas, and a user in each; return what these send with their requests."""
    admin, body = _log_in(cloud, "admin", "secret", "admin")
    roles = _ask(cloud, "GET", "/identity/v3/roles", admin, None).body["roles"]
    role_ids = [role["id"] for role in roles if role["name"] in ("member", "heat_stack_owner")]
    found = []
    for number in range(count):
        name = f"project{number}"
        project = _ask(cloud, "POST", "/identity/v3/projects", admin, {"project": {"name": name}}).body["project"]["id"]
        user = {"user": {"name": f"user{number}", "password": "secret"}}
        user_id = _ask(cloud, "POST", "/identity/v3/users", admin, user).body["user"]["id"]
        for role in role_ids:
            _ask(cloud, "PUT", f"/identity/v3/projects/{project}/users/{user_id}/roles/{role}", admin, None)
        _lift_quotas(cloud, admin, body["project"]["id"], project)
        token, body_of_user = _log_in(cloud, f"user{number}", "secret", name)
        found.append(
            RequestContext(
                request_id=new_request_id(),
                user_id=user_id,
                user_name=f"user{number}",
                project_id=project,
                roles=tuple(role["name"] for role in body_of_user["roles"]),
                token=token,
            )
        )
    return found


def _lift_quotas(cloud: Cloud, admin: str, admin_project: str, project: str) -> None:
    network = {"network": -1, "subnet": -1, "port": -1, "security_group": -1}
    _ask(cloud, "PUT", f"/network/v2.0/quotas/{project}", admin, {"quota": network})
    servers = {"instances": -1, "cores": -1, "ram": -1}
    _ask(cloud, "PUT", f"/compute/v2.1/os-quota-sets/{project}", admin, {"quota_set": servers})
    volumes = {"volumes": -1, "gigabytes": -1}
    _ask(cloud, "PUT", f"/volume/v3/{admin_project}/os-quota-sets/{project}", admin, {"quota_set": volumes})


# -- users -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Observations:
    """What users have seen. `answers` are seconds until requests were answered, by kind; `operations` those until an
    operation had ended, by shape and action, as recorded.
    """

    counts: Counter[str] = field(default_factory=Counter)
    answers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    operations: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unexpected: Counter[str] = field(default_factory=Counter)


class Users:
    """Sends requests. `operations` is the number of operations on stacks that are requested in a second."""

    def __init__(self, cluster: ScaledCluster, contexts: list[RequestContext], operations: float, reads: float) -> None:
        self._cluster = cluster
        self._contexts = contexts
        self._every = 3.0 / operations if operations else 0.0
        self._reads_every = 1.0 / reads if reads else 0.0
        self._number = 0
        self._shown: dict[str, RequestContext] = {}
        """The stacks that are there, and on which no operation runs."""
        self.tasks: set[asyncio.Task[Any]] = set()
        self.seen = Observations()
        self.stopped = False

    async def work(self, seconds: float) -> None:
        """Begin the lives of stacks, one after the other, for some seconds: each is three operations."""
        end = self._cluster.loop.time() + seconds
        reading = asyncio.ensure_future(self._read(end))
        while self._cluster.loop.time() < end:
            shape = list(SHAPES)[self._number % len(SHAPES)]
            context = self._contexts[self._number % len(self._contexts)]
            task = asyncio.ensure_future(self._life(context, shape, f"{shape}-{self._number}"))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            self._number += 1
            await asyncio.sleep(self._every)
        await reading

    async def begin_waiting(self, count: int) -> None:
        """Begin operations that only wait: they are unfinished from now on, whatever else happens."""
        template = waiting()
        for number in range(count):
            context = self._contexts[number % len(self._contexts)]
            task = asyncio.ensure_future(
                self._requested(context, "stack_create", {"name": f"waiting-{number}", "template": template})
            )
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            await asyncio.sleep(0.01)
        await asyncio.gather(*self.tasks)
        self.seen = Observations()

    async def _life(self, context: RequestContext, shape: str, name: str) -> None:
        chance = self._cluster.injector.chance
        for method, arguments in (
            ("stack_create", {"name": name, **body(shape, 1)}),
            ("stack_update", {"ref": _ref(name), **body(shape, 2)}),
            ("stack_delete", {"ref": _ref(name)}),
        ):
            if self.stopped:
                return
            self._shown.pop(name, None)
            began = self._cluster.loop.time()
            if not await self._requested(context, method, arguments):
                return
            while not await self._ended(context, name, method, shape, began):
                if self.stopped or self._cluster.loop.time() > began + TIMEOUT:
                    self.seen.counts["operations not waited for"] += 1
                    return
                await asyncio.sleep(POLL_SECONDS * chance.uniform(0.8, 1.2))
            if method != "stack_delete":
                self._shown[name] = context

    async def _requested(self, context: RequestContext, method: str, arguments: Mapping[str, Any]) -> bool:
        """Request an operation, again if there was no answer; return whether it is recorded."""
        self.seen.counts["operations requested"] += 1
        for _ in range(3):
            try:
                await self._ask(context, method, **arguments)
            except NoAnswer:
                continue
            except StokerError as error:
                if self.seen.counts["requests without an answer"] and error.kind in ("StackExists", "EntityNotFound"):
                    return True  # the first one was recorded
                self.seen.counts["requests refused"] += 1
                self.seen.unexpected[f"{method}: {error.kind}"] += 1
                return False
            return True
        return False

    async def _ended(self, context: RequestContext, name: str, method: str, shape: str, began: float) -> bool:
        """Whether the operation on a stack has ended."""
        try:
            shown = await self._ask(context, "stack_show", ref=_ref(name), resolve_outputs=False)
        except NoAnswer:
            return False
        except StokerError as error:
            if method == "stack_delete" and error.kind == "EntityNotFound":
                self._note(f"{shape} {method}", began)
                return True
            self.seen.unexpected[f"stack_show: {error.kind}"] += 1
            return False
        if shown["status"] == "IN_PROGRESS":
            return False
        if shown["status"] == "FAILED":
            self.seen.counts["operations failed"] += 1
            self.seen.unexpected[f"{shape} {shown['action']} FAILED"] += 1
            return True
        self._note(f"{shape} {method}", began)
        return True

    def _note(self, kind: str, began: float) -> None:
        self.seen.counts["operations seen to end"] += 1
        self.seen.operations[kind].append(self._cluster.loop.time() - began)

    async def _read(self, end: float) -> None:
        """Show stacks, and list pages of them, at a fixed rate."""
        number = 0
        while self._reads_every and self._cluster.loop.time() < end:
            number += 1
            task = asyncio.ensure_future(self._read_one(number))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            await asyncio.sleep(self._reads_every)

    async def _read_one(self, number: int) -> None:
        context = self._contexts[number % len(self._contexts)]
        try:
            if number % 3 == 0 or not self._shown:
                await self._ask(context, "stack_list", limit=PAGE)
            else:
                name, context = list(self._shown.items())[number % len(self._shown)]
                method = "resource_list" if number % 3 == 1 else "event_list"
                await self._ask(context, method, ref=_ref(name))
        except (StokerError, NoAnswer):
            self.seen.counts["reads without a result"] += 1

    async def _ask(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        began = self._cluster.loop.time()
        self.seen.counts["requests"] += 1
        try:
            return await self._cluster.call(context, method, **arguments)
        except NoAnswer:
            self.seen.counts["requests without an answer"] += 1
            raise
        finally:
            self.seen.answers[method].append(self._cluster.loop.time() - began)


def _ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}
