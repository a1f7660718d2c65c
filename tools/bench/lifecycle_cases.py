"""Whole lives of stacks that Heat's benchmark does not reach: a tree of 22,000 resources, thousands of small stacks,
and ten thousand servers that are being waited for.

Each case has a Stoker of its own, whose limits are lifted by the configuration in `LIMITS`.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

LIMITS = """[DEFAULT]
max_resources_per_stack = -1
max_stacks_per_tenant = -1
stack_action_timeout = 36000
"""
MEMBERS = 1000
STACKS = 2000
CLIENTS = 20
SERVERS = 10_000
WATCHED_SECONDS = 60.0
SETTLING_SECONDS = 60.0
PORTS = 2
CHANGED = "500"
"""The index of the nested stack of a tree that is replaced."""
PLAIN = 1000

MEMBER = {
    "heat_template_version": "2021-04-16",
    "parameters": {"index": {"type": "string"}, "network": {"type": "string"}},
    "resources": {
        **{f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(10)},
        **{
            f"text{number}": {
                "type": "OS::Heat::Value",
                "properties": {
                    "value": {"list_join": ["-", [{"get_param": "index"}, {"get_resource": f"word{number}"}]]}
                },
            }
            for number in range(10)
        },
        **{
            f"port{number}": {
                "type": "OS::Neutron::Port",
                "properties": {"network": {"get_param": "network"}, "fixed_ips": []},
            }
            for number in range(PORTS)
        },
    },
    "outputs": {"text": {"value": {"get_attr": ["text0", "value"]}}},
}
BUILDING = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "servers": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": SERVERS,
                "resource_def": {
                    "type": "OS::Nova::Server",
                    "properties": {
                        "image": "cirros",
                        "flavor": "m1.nano",
                        "networks": [{"allocate_network": "none"}],
                    },
                },
            },
        }
    },
}
EMPTY = {"heat_template_version": "2021-04-16", "resources": {}}


class Client:
    """Calls of one user, who is an administrator."""

    def __init__(self, session: aiohttp.ClientSession, place: dict[str, Any]) -> None:
        self._session = session
        self._place = place
        self.urls: dict[str, str] = {}
        self.project = ""

    async def log_in(self) -> None:
        """Get a token and the catalog."""
        user = {"name": "admin", "password": "secret", "domain": {"id": "default"}}
        scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
        url = f"{self._place['identity'].rstrip('/')}/auth/tokens"
        async with self._session.post(url, json=body) as answer:
            answer.raise_for_status()
            token = (await answer.json())["token"]
            self._session.headers["X-Auth-Token"] = answer.headers["X-Subject-Token"]
        self.project = token["project"]["id"]
        self.urls = {service["type"]: service["endpoints"][0]["url"].rstrip("/") for service in token["catalog"]}
        self.urls["orchestration"] = f"{self._place['rest']}/{self.project}"

    async def call(self, method: str, service: str, path: str, body: Any = None) -> Any:
        """The answer's body. Raises for any status of a failure."""
        async with self._session.request(method, self.urls[service] + path, json=body) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.status} {await answer.text()}")
            return await answer.json() if answer.content_length != 0 and answer.status != 204 else None

    async def path_of(self, name: str) -> str:
        """The path of the stack with a name."""
        found = (await self.call("GET", "orchestration", f"/stacks/{name}?resolve_outputs=false"))["stack"]
        return f"/stacks/{name}/{found['id']}"

    async def act(self, method: str, path: str, body: Any, name: str) -> float:
        """Seconds from the request to the end of what it began."""
        began = time.perf_counter()
        answer = await self.call(method, "orchestration", path, body)
        stack = (answer or {}).get("stack")
        where = f"/stacks/{name}/{stack['id']}" if stack else path
        while True:
            stack = (await self.call("GET", "orchestration", f"{where}?resolve_outputs=false"))["stack"]
            if stack["stack_status"].endswith("COMPLETE"):
                return time.perf_counter() - began
            if stack["stack_status"].endswith("FAILED"):
                raise RuntimeError(stack["stack_status_reason"])
            await asyncio.sleep(0.05)


async def waiting(place: dict[str, Any]) -> list[dict[str, Any]]:
    """What it costs to wait for 10,000 servers that are being built, on a cloud where that never ends."""
    record: dict[str, Any] = {"case": "servers in BUILD", "phase": "a minute", "n": SERVERS}
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        quota = {"quota_set": {"instances": -1, "cores": -1, "ram": -1}}
        await client.call("PUT", "compute", f"/os-quota-sets/{client.project}", quota)
        body = {"stack_name": "servers", "template": BUILDING, "timeout_mins": 600}
        await client.call("POST", "orchestration", "/stacks", body)
        begun = 0
        while begun < SERVERS:
            await asyncio.sleep(1)
            begun = (await client.call("GET", "compute", "/limits"))["limits"]["absolute"]["totalInstancesUsed"]
        await asyncio.sleep(SETTLING_SECONDS)
        with measured(place, record):
            began = time.perf_counter()
            await asyncio.sleep(WATCHED_SECONDS)
            record["wall_s"] = round(time.perf_counter() - began, 2)
    record["note"] = f"{record['cpu_total_s'] / record['wall_s']:.1%} of a core"
    return [record]


def lifted(directory: str, limits: str = LIMITS) -> list[str]:
    """Arguments of `stoker up` that lift the limits; the configuration is written into `directory`."""
    path = Path(directory) / "limits.conf"
    path.write_text(limits)
    return ["--config-file", str(path)]


@contextmanager
def slow_cloud(directory: str) -> Iterator[list[str]]:
    """A cloud in which nothing gets ready, for the time of the context: arguments of `stoker up` that lead to it."""
    port = Path(directory) / "port"
    command = [
        sys.executable,
        "-m",
        "openstack_emulator",
        "up",
        "--port",
        "0",
        "--port-file",
        str(port),
        "--pace",
        "1000000",
    ]
    with subprocess.Popen(command) as process:
        try:
            while not port.exists():
                time.sleep(0.05)
            auth = {"username": "admin", "password": "secret", "project_name": "admin"}
            auth |= {"user_domain_id": "default", "project_domain_id": "default"}
            auth["auth_url"] = f"http://127.0.0.1:{port.read_text()}/identity/v3"
            clouds = Path(directory) / "slow-clouds.yaml"
            clouds.write_text(json.dumps({"clouds": {"slow": {"auth": auth, "region_name": "RegionOne"}}}))
            os.environ["OS_CLIENT_CONFIG_FILE"] = str(clouds)
            yield ["--cloud", "slow"]
        finally:
            os.environ.pop("OS_CLIENT_CONFIG_FILE", None)
            process.terminate()


@contextmanager
def measured(place: dict[str, Any], record: dict[str, Any]) -> Iterator[None]:
    """Add the engine's computing time, and the most memory it ever had, to the record."""
    process = place["pids"]["engine"]
    before = cpu_seconds(process)
    yield
    record["cpu_total_s"] = round(cpu_seconds(process) - before, 2)
    record["rss_max_mb"] = {"engine": peak_memory(process)}


def _tree(*, replaced: bool = False) -> dict[str, Any]:
    """Return a group of `MEMBERS` nested stacks, in which another one has replaced the one with the index `CHANGED`."""
    definition = {"type": "member.yaml", "properties": {"index": "%index%", "network": {"get_resource": "net"}}}
    policies = [{"resource_list": [CHANGED]}] if replaced else []
    properties = {"count": MEMBERS, "resource_def": definition, "removal_policies": policies}
    group = {"type": "OS::Heat::ResourceGroup", "properties": properties}
    resources = {"net": {"type": "OS::Neutron::Net"}, "members": group}
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def tree(place: dict[str, Any]) -> list[dict[str, Any]]:
    """1000 nested stacks of 22 resources: created, updated without a change, one of them replaced, deleted."""
    records: list[dict[str, Any]] = []
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        quota = {"quota": {"port": -1, "network": -1}}
        await client.call("PUT", "network", f"/v2.0/quotas/{client.project}", quota)
        more = {"files": {"member.yaml": json.dumps(MEMBER)}, "timeout_mins": 600}
        same, other = {"template": _tree(), **more}, {"template": _tree(replaced=True), **more}
        await client.act("POST", "/stacks", {"stack_name": "first", "template": EMPTY}, "first")
        idle = _memory(place["pids"]["engine"], "VmRSS")
        for phase, method, body in (
            ("create", "POST", {"stack_name": "tree", **same}),
            ("no-op", "PUT", same),
            ("one leaf", "PUT", other),
            ("delete", "DELETE", None),
        ):
            path = "/stacks" if method == "POST" else await client.path_of("tree")
            record = {"case": "tree", "phase": phase, "n": MEMBERS * len(MEMBER["resources"])}
            with measured(place, record):
                record["wall_s"] = round(await client.act(method, path, body, "tree"), 2)
            records.append(record)
        await asyncio.sleep(SETTLING_SECONDS)
        left = _memory(place["pids"]["engine"], "VmRSS")
        records[-1]["note"] = f"engine {left} MB a minute later, {idle} MB at first"
    return records


async def small_stacks(place: dict[str, Any]) -> list[dict[str, Any]]:
    """2000 empty stacks, 20 at a time."""
    record: dict[str, Any] = {"case": "empty stacks", "phase": "create", "n": STACKS}
    numbers = iter(range(STACKS))
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()

        async def work() -> None:
            for number in numbers:
                name = f"small{number}"
                await client.act("POST", "/stacks", {"stack_name": name, "template": EMPTY}, name)

        began = time.perf_counter()
        with measured(place, record):
            await asyncio.gather(*(work() for _ in range(CLIENTS)))
        record["wall_s"] = round(time.perf_counter() - began, 2)
    record["note"] = f"{STACKS / record['wall_s']:.0f} stacks a second"
    return [record]


async def memory(place: dict[str, Any]) -> list[dict[str, Any]]:
    """Resident memory of the engine and the cloud: idle, after 1000 resources are created, and after a no-op update."""
    records: list[dict[str, Any]] = []
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(PLAIN)},
    }
    body = {"stack_name": "plain", "template": template}
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        for phase, method, path, content in (
            ("idle", None, "", None),
            ("create", "POST", "/stacks", body),
            ("no-op", "PUT", "/stacks/plain", {"template": template}),
        ):
            record: dict[str, Any] = {"case": "memory", "phase": phase, "n": PLAIN}
            with measured(place, record):
                record["wall_s"] = round(await client.act(method, path, content, "plain"), 2) if method else 0
            record["note"] = _memory_note(place)
            records.append(record)
    return records


def _memory_note(place: dict[str, Any]) -> str:
    processes = {name: place["pids"][name] for name in ("engine", "cloud") if name in place["pids"]}
    return "; ".join(
        f"{name} {_memory(process, 'VmRSS')} MB, peak {_memory(process, 'VmHWM')} MB"
        for name, process in processes.items()
    )


def cpu_seconds(process: int) -> float:
    """Computing time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def peak_memory(process: int) -> int:
    """The most resident memory that a process ever had, in MB."""
    return _memory(process, "VmHWM")


def _memory(process: int, field: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(field))
